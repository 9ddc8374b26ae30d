package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"go.etcd.io/bbolt"

	"pushbox/internal/testkit/env"
)

func TestEachServerHasItsRequests(t *testing.T) {
	t.Parallel()
	const armor = `-----BEGIN PGP MESSAGE-----\n\nhunterAA\n-----END PGP MESSAGE-----`
	for _, test := range []struct {
		api          string
		views        int
		more         string
		create, view string
		token, shown string // answers for the token abc
	}{
		{
			"v2", 7, withPhrase, `/api/v2/pushes {"push":{"payload":"hunter","expire_after_days":7,"expire_after_views":7,"passphrase":"right"}}`,
			"/api/v2/pushes/abc", `{"url_token":"abc","html_url":"x"}`, `{"payload":"hunter","files":[]}`,
		},
		{
			"v1", 1, "", `/p.json {"password":{"payload":"hunter","expire_after_days":7,"expire_after_views":1}}`,
			"/p/abc.json", `{"kind": "text", "url_token" : "abc"}`, `{"payload": "hunter"}`,
		},
		{
			"ots", 1, "", `/api/create {"secret":"hunter"}`,
			"/api/get/abc", `{"success":true,"expires_at":"2026-11-22T10:00:00Z","secret_id":"abc"}`, `{"success":true,"secret":"hunter"}`,
		},
		{
			"yopass", 1, "", `/create/secret {"message":"` + armor + `","expiration":86400,"one_time":true}`,
			"/secret/abc", `{"message":"abc"}`, `{"message":"` + armor + `","one_time":true}`,
		},
		{
			"yopass", 2, "", `/create/secret {"message":"` + armor + `","expiration":86400,"one_time":false}`,
			"/secret/abc", `{"message":"abc"}`, `{"message":"` + armor + `","one_time":false}`,
		},
	} {
		s := &subject{api: apis[test.api], payload: "hunter"}
		if r := s.create(test.views, test.more); r.path+" "+string(r.body) != test.create || r.method != "POST" || !r.authorized {
			t.Errorf("%s creates by %s %s %s", test.api, r.method, r.path, r.body)
		}
		if r := s.api.call("GET", 401, "?x", false)("abc"); r.path != test.view+"?x" || r.method != "GET" || r.status != 401 || r.body != nil {
			t.Errorf("%s views by %+v", test.api, r)
		}
		if token, err := s.api.tokenIn([]byte(test.token)); token != "abc" || err != nil {
			t.Errorf("%s: the token is %q, %v", test.api, token, err)
		}
		if err := s.api.checkView([]byte(test.shown), "hunter"); err != nil {
			t.Errorf("%s: %v", test.api, err)
		}
		if err := s.api.checkView([]byte(test.shown), "longer than hunter"); err == nil {
			t.Errorf("%s: another payload is no error", test.api)
		}
	}
	want := `-----BEGIN PGP MESSAGE-----\n\n` + payload(130)[:64] + `\n` + payload(130)[64:128] + `\n` + payload(130)[128:] + `AA\n-----END PGP MESSAGE-----`
	if got := armored(payload(130)); got != want {
		t.Errorf("a long OpenPGP message is %s", got)
	}
}

func TestAnAnswerMustHaveTheTokenOrTheWholePayload(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{`{"url_token":""}`, `{"url_token":null,"a":"b"}`, `{"url_token":"abc`, `{"url_token"`, `{"error":"no"}`, ``} {
		if token, err := apis["v2"].tokenIn([]byte(answer)); err == nil {
			t.Errorf("%s has the token %q", answer, token)
		}
	}
	for _, answer := range []string{`{"payload":"1234"}`, `{"payload":"123456"}`, `{"payload":null,"note":"12345"}`, `{"expired":true}`} {
		if err := apis["v2"].checkView([]byte(answer), "abcde"); err == nil {
			t.Errorf("%s is taken for a payload", answer)
		}
	}
}

// A heap is the size of a bucket.
type heap struct{ rows, keys, values int }

// heaps measures the buckets of a database that is not open.
func heaps(t *testing.T, path string) map[string]heap {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{Timeout: env.Patience, ReadOnly: true})
	env.OK(t, err)
	defer db.Close()
	all := make(map[string]heap)
	err = db.View(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(name []byte, b *bbolt.Bucket) error {
			return b.ForEach(func(k, v []byte) error {
				h := all[string(name)]
				all[string(name)] = heap{h.rows + 1, h.keys + len(k), h.values + len(v)}
				return nil
			})
		})
	})
	env.OK(t, err)
	return all
}

// Bare rows are as many and as long as those of pushbox, which stores as many pushes with the API.
func TestABareCreateWritesTheRowsOfACreate(t *testing.T) {
	t.Parallel()
	b, err := parse([]string{"bolt", "--pushbox", os.Args[0], "--stored", "3", "--payload", "100"}, &bytes.Buffer{})
	env.OK(t, err)
	b.dir = t.TempDir()
	box, bare := b.subjects[0], b.subjects[1]
	b.stored, box.stored = 3, 5
	env.OK(t, errors.Join(b.ready(t.Context(), box), box.stop(), b.ready(t.Context(), bare)))
	if len(bare.tokens) != 3 {
		t.Errorf("there are %d pushes to view", len(bare.tokens))
	}
	for range 2 {
		if _, err := bare.store(t.Context(), b, 1, bare.create(1, "")); err != nil {
			t.Error(err)
		}
	}
	if err := bare.local.(*bareFile).db.Close(); err != nil {
		t.Error(err)
	}
	bareFile := filepath.Join(b.dir, boltWord, "pushbox.db")
	before, want := heaps(t, bareFile), heaps(t, filepath.Join(b.dir, box.name, "pushbox.db"))
	for name := range want {
		if name != "meta" && before[name] != want[name] { // pushbox keeps the time there, now and then
			t.Errorf("%s: bare it is %v, with pushbox %v", name, before[name], want[name])
		}
	}
	f, ids, err := openBareFile(bareFile)
	if err != nil || len(ids) != 5 {
		t.Fatalf("there are %d pushes, %v", len(ids), err)
	}
	_, _, err = f.do(local.call("GET", 200, "", false)(ids[0]))
	env.OK(t, errors.Join(err, f.db.Close()))
	old, got := before[viewBucket], heaps(t, bareFile)[viewBucket]
	if entry := len(f.values[3]); got.rows != old.rows+1 || got.keys != old.keys+8 || got.values != old.values+idLen+12+entry {
		t.Errorf("a view makes the journal %v of %v", got, old)
	}
	for _, end := range b.ends {
		_ = end() // they have ended, but for the directory
	}
}
