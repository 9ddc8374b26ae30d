package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"pushbox/internal/testkit/env"
)

// both runs a test with each client, connected to a server with that handler.
func both(t *testing.T, token string, limit time.Duration, h http.HandlerFunc, test func(*testing.T, client)) {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	for _, name := range []string{"net", "raw"} {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		c := env.Must((&subject{urls: []string{s.URL}, token: token}).dial(ctx, &bench{client: name}, 0))(t)
		test(t, c)
		c.close()
		cancel()
	}
}

func TestClientsKeepOneConnectionAndSendTheTokenWhereItBelongs(t *testing.T) {
	t.Parallel()
	h := func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, _ = io.WriteString(w, r.RemoteAddr+" "+r.Method+" "+r.URL.Path+" "+r.Header.Get("Content-Type")+" "+string(body)+r.Header.Get("Authorization"))
	}
	both(t, "s3cret", time.Minute, h, func(t *testing.T, c client) {
		requests := []request{
			{method: "POST", path: "/a", body: []byte(`{"b":1}`), status: 200},
			{method: "GET", path: "/c", status: 200, authorized: true},
		}
		want := []string{`POST /a application/json {"b":1}`, "GET /c  Bearer s3cret"}
		var from [2]string
		for i, r := range requests {
			answer, err := ask(c, r)
			var rest string
			if from[i], rest, _ = strings.Cut(string(answer), " "); err != nil || rest != want[i] {
				t.Errorf("%T: got %q, %v", c, rest, err)
			}
		}
		if from[0] != from[1] {
			t.Errorf("%T: a second connection", c)
		}
	})
}

func TestAnotherStatusIsAnErrorAndTheConnectionIsUsedAgain(t *testing.T) {
	t.Parallel()
	h := func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, "short and stout"+strings.Repeat(".", 10_000)) // in chunks
	}
	both(t, "", time.Minute, h, func(t *testing.T, c client) {
		_, err := ask(c, request{method: "GET", path: "/", status: 200})
		if err == nil || !strings.HasPrefix(err.Error(), `GET was answered 418: "short and stout`) || len(err.Error()) > 300 {
			t.Errorf("%T: got %v", c, err)
		}
		if _, err := ask(c, request{method: "GET", path: "/", status: http.StatusTeapot}); err != nil {
			t.Errorf("%T: then %v", c, err)
		}
	})
}

func TestClientsStopAtTheirDeadline(t *testing.T) {
	t.Parallel()
	both(t, "", 20*time.Millisecond, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, func(t *testing.T, c client) {
		if _, err := ask(c, request{method: "GET", path: "/", status: 200}); err == nil {
			t.Errorf("%T: no error", c)
		}
	})
}

func TestAPITokensGoToTheirServerOnly(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	seen := make(map[string]string)
	server := func(name string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			seen[name+" "+r.Method] = r.Header.Get("Authorization")
			if r.Method == http.MethodPost {
				w.WriteHeader(http.StatusCreated)
			}
			_, _ = io.WriteString(w, `{"url_token":"t","payload":"`+payload(200)+`"}`)
		}))
		t.Cleanup(s.Close)
		return name + "=" + s.URL
	}
	file := t.TempDir() + "/token"
	env.OK(t, os.WriteFile(file, []byte("s3cret\n"), 0o600))
	env.Must(small(t, "--url", server("a"), "--token-file", "a="+file, "--url", server("b"), "--connections", "1"))(t)
	const token = "Bearer s3cret"
	if want := map[string]string{"a POST": token, "a GET": "", "a DELETE": token, "b POST": "", "b GET": "", "b DELETE": ""}; !maps.Equal(seen, want) {
		t.Errorf("the servers saw %v", seen)
	}
}

// creating is a server that only creates pushes, and deletes those that it has not deleted.
func creating(t *testing.T, made *atomic.Int64) *subject {
	t.Helper()
	var deleted sync.Map
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := int64(0)
		if r.Method == http.MethodPost {
			n = made.Add(1)
			w.WriteHeader(http.StatusCreated)
		} else if _, again := deleted.LoadOrStore(r.URL.Path, true); again {
			t.Errorf("%s is deleted twice", r.URL.Path)
		}
		_, _ = fmt.Fprintf(w, `{"url_token":"t%d"}`, n)
	}))
	t.Cleanup(server.Close)
	return &subject{name: "s", urls: []string{server.URL}, api: apis["v2"]}
}

func TestAStockIsFilledForALapThatEndsWithIt(t *testing.T) {
	t.Parallel()
	var made atomic.Int64
	op := creating(t, &made).operations([]string{deletePush})[0]
	b := &bench{client: "raw", round: time.Hour}
	l, err := op.lap(t.Context(), b, 2)
	if err != nil || l.requests != 1000-2 || made.Load() != 1000 {
		t.Errorf("a lap has %d requests of %d, %v", l.requests, made.Load(), err)
	}
	if want := int(1.5 * l.rate() * 3600); op.stock.size < want-1 || op.stock.size > want+1 {
		t.Errorf("then the stock is to have %d, not %d", op.stock.size, want)
	}
}

func TestAStockKeepsWhatALapLeft(t *testing.T) {
	t.Parallel()
	var made atomic.Int64
	s := creating(t, &made)
	op := operation{stock: &stock{create: s.create(1, ""), each: 3}, call: s.api.call("DELETE", 200, "", false)}
	asked := make(map[string]int)
	for _, want := range []int64{1000, 1004} {
		if err := op.stock.fill(t.Context(), &bench{client: "raw"}, s, 1); err != nil || made.Load() != want {
			t.Errorf("there were %d creates, not %d; %v", made.Load(), want, err)
		}
		for range 10 { // four pushes, the last for one request
			r, _ := op.next()
			asked[r.path]++
		}
	}
	if got := slices.Sorted(maps.Values(asked)); !slices.Equal(got, []int{1, 1, 3, 3, 3, 3, 3, 3}) {
		t.Errorf("the pushes got so many requests: %v", got)
	}
}

func TestTheSystemTellsWhatAProcessUses(t *testing.T) {
	t.Parallel()
	self := usageOf([]int{os.Getpid()}, usage{})
	twice := usageOf([]int{os.Getpid(), os.Getpid()}, self)
	if math.IsNaN(self[cpu]) || self[resident] < 1<<20 || twice[cpu] < self[cpu] || twice[resident] < 1.5*self[resident] {
		t.Errorf("it is %v, twice that without once %v", self, twice)
	}
	for _, pids := range [][]int{nil, {os.Getpid(), 1 << 30}} {
		if u := usageOf(pids, usage{}); !math.IsNaN(u[cpu]) || !math.IsNaN(u[resident]) {
			t.Errorf("of %v: %v", pids, u)
		}
	}
}

func TestRatiosAreMediansOfRoundsAndCPUTimesSumsOverThem(t *testing.T) {
	t.Parallel()
	made := func(n int, p50, server float64) lap {
		return lap{requests: n, took: time.Second, times: [4]float64{p50}, server: usage{server, 100}, generator: usage{1}}
	}
	bare := &subject{name: bareWord}
	ops := []operation{{name: bareWord, subject: bare}, {name: lastView, beside: plainView, subject: &subject{name: "a", path: "a"}}}
	laps := [][]lap{{made(100, 1, 0), made(50, 1, 1), made(200, 1, 0)}, {made(25, 3, 1), made(15, 2, 1), made(10, 7, 0)}}
	r := &report{bench: &bench{client: "raw"}, to: []string{bareWord, besideWord}}
	r.add(64, ops, laps)
	want := strings.Split("64,a,last view,15,0.25 < 0.27,0.11,,,3.000,0.000,0.000,0.000,40000.0,60000.0,6,0,0.0", ",")
	if len(r.Rows) != 2 || !slices.Equal(r.Rows[1], want) {
		t.Errorf("got %q, want %q", r.Rows, want)
	}
	if ten := []float64{1, 9, 2, 3, 4, 5, 6, 7, 8, 10}; percentile(ten, 99) != 10 || percentile(ten, 50) != 5 || percentile(ten, 99.9) != 10 || percentile(ten, 100) != 10 || percentile(ten[:9], 50) != 5 {
		t.Error("percentiles are other values")
	}
	if cell(math.NaN(), 1) != "?" || cell(1234567, 0) != "1,234,567" || cell(999, 0) != "999" || cell(1.25, 1) != "1.2" {
		t.Error("cells have another form")
	}
}

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
	env.Equal(t, "a long OpenPGP message is", armored(payload(130)), want)
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
	db := env.Must(bbolt.Open(path, 0o600, &bbolt.Options{Timeout: env.Patience, ReadOnly: true}))(t)
	defer db.Close()
	all := make(map[string]heap)
	err := db.View(func(tx *bbolt.Tx) error {
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
	b := env.Must(parse([]string{"bolt", "--pushbox", os.Args[0], "--stored", "3", "--payload", "100"}, &bytes.Buffer{}))(t)
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
	env.OK(t, bare.local.(*bareFile).db.Close())
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
