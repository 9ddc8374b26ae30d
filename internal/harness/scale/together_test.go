package scale

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"pushbox/internal/proctest"
	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/pgtest"
)

// Servers over one database are one: they deliver a push as often as it may be, count
// wrong passphrases together, and give each other's files.
func TestServersAreOne(t *testing.T) {
	t.Parallel()
	for _, n := range []int{2, 3} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			// Of the variables that are given twice, the last one counts.
			f := newFleet(t, pgtest.URL(t), n, env.Seed(t), "PUSHBOX_LIMITS_PASSPHRASES_PER_PUSH=7")
			f.reach()
			f.wantLimits()
			f.wantGuesses(7)
			f.wantFiles()
			f.stop()
		})
	}
}

// wantLimits has readers at all servers ask for pushes until they have ended.
func (f *fleet) wantLimits() {
	f.Helper()
	for _, limit := range []int{1, 5, 40} {
		token := f.create(proctest.NewPush{Payload: "secret", Name: "limited", Views: limit})
		var delivered atomic.Int64
		var all sync.WaitGroup
		for id := range readers {
			all.Go(func() {
				for range 2 {
					r, err := viewToEnd(f.crowds[id%len(f.crowds)], token)
					if err != nil {
						f.Error(err)
					} else if r.Payload != nil {
						delivered.Add(1)
					}
				}
			})
		}
		all.Wait()
		if delivered.Load() != int64(limit) {
			f.Errorf("P2: delivered %d times, and the limit is %d", delivered.Load(), limit)
		}
	}
}

// create creates a push by the first server, and returns its url_token.
func (f *fleet) create(in proctest.NewPush) string {
	f.Helper()
	var out proctest.Record
	env.OK(f, f.crowds[0].Call(http.MethodPost, proctest.PushesPath, f.bearer, map[string]proctest.NewPush{"push": in}, http.StatusCreated, &out))
	return out.Token
}

// wantGuesses has one server after the other refuse wrong passphrases: that many in all, and
// then all servers refuse the right one too.
func (f *fleet) wantGuesses(most int) {
	f.Helper()
	token := f.create(proctest.NewPush{Payload: "secret", Passphrase: "right", Name: "guessed", Views: 5})
	for n := range most + 2*len(f.crowds) {
		want, passphrase := http.StatusUnauthorized, "wrong"
		if n >= most {
			want, passphrase = http.StatusTooManyRequests, "right"
		}
		c := f.crowds[n%len(f.crowds)]
		req, err := http.NewRequest(http.MethodGet, c.URL+proctest.PushesPath+"/"+token, nil)
		env.OK(f, err)
		req.Header.Set("X-Push-Passphrase", passphrase)
		status, answer, err := c.Send(req)
		if err != nil || status != want {
			f.Errorf("guess %d, at server %d: status %d in place of %d, %v: %s", n+1, n%len(f.crowds), status, want, err, answer)
		}
	}
}

// wantFiles has one server take a file, the next one deliver its push, and the one after
// that give the file; and no server after a delete.
func (f *fleet) wantFiles() {
	f.Helper()
	const size = 3<<20 + 5
	ctx, cancel := context.WithTimeout(f.Context(), proctest.Patience)
	defer cancel()
	at := func(n int) *proctest.FileClient {
		return proctest.NewFileClient(f.T, f.servers[n%len(f.servers)].URL, f.bearer)
	}
	token, err := at(0).Push(ctx, proctest.Multipart, proctest.Content(7, size))
	env.OK(f, err)
	urls, err := at(1).Show(ctx, token)
	if err != nil || len(urls) != 1 {
		f.Fatalf("%d files, %v", len(urls), err)
	}
	_, path, _ := strings.Cut(strings.TrimPrefix(urls[0], "http://"), "/")
	get := func(n int) (int, []byte) {
		res, err := http.Get(f.servers[n%len(f.servers)].URL + "/" + path)
		env.OK(f, err)
		defer res.Body.Close()
		got, err := io.ReadAll(res.Body)
		if err != nil {
			f.Error(err)
		}
		return res.StatusCode, got
	}
	want := proctest.File{Seed: 7, Size: size}.Bytes()
	if status, got := get(2); status != http.StatusOK || !bytes.Equal(got, want) {
		f.Errorf("a grant of another server gives status %d and %d bytes of %d", status, len(got), size)
	}
	var r proctest.Record
	if err := at(0).Call(ctx, http.MethodDelete, proctest.PushesPath+"/"+token, "", nil, http.StatusOK, &r); err != nil {
		f.Error(err)
	}
	for n := range f.servers {
		if status, _ := get(n); status != http.StatusNotFound {
			f.Errorf("server %d gives the file of a deleted push: status %d", n, status)
		}
	}
}
