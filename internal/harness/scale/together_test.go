package scale

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

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
		req := env.Must(http.NewRequest(http.MethodGet, c.URL+proctest.PushesPath+"/"+token, nil))(f)
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
	token := env.Must(at(0).Push(ctx, proctest.Multipart, proctest.Content(7, size)))(f)
	urls, err := at(1).Show(ctx, token)
	if err != nil || len(urls) != 1 {
		f.Fatalf("%d files, %v", len(urls), err)
	}
	_, path, _ := strings.Cut(strings.TrimPrefix(urls[0], "http://"), "/")
	get := func(n int) (int, []byte) {
		res, text := env.Ask(f, http.MethodGet, f.servers[n%len(f.servers)].URL+"/"+path, "")
		return res.StatusCode, []byte(text)
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

const readers = 64

// An old primary is thawed just when a standby has taken its place, before the servers have
// noticed: then they talk to both. Readers of pushes that may be viewed once get each of them
// once.
func TestNothingIsDeliveredTwiceBesideAnOldPrimary(t *testing.T) {
	t.Parallel()
	seed := env.Seed(t)
	for n := range env.Length(t, "PUSHBOX_TEST_FAILOVERS") {
		if !t.Run(strconv.FormatUint(seed+n, 10), func(t *testing.T) { thawAtOnce(t, seed+n) }) {
			return
		}
	}
}

func thawAtOnce(t *testing.T, seed uint64) {
	r := pgtest.NewReplicas(t, nodes)
	f := newFleet(t, r.URL(), 2, seed, briefRequests)
	f.reach()
	pushes := f.once(100)
	f.away(true)
	delivered := f.readAll(pushes, func() {
		old := r.Primary()
		r.Freeze(old)
		r.Promote()
		r.Thaw(old)
	})
	f.judgeAway()
	twice, never := 0, 0
	for i := range delivered {
		switch delivered[i].Load() {
		case 0:
			never++
		case 1:
		default:
			twice++
		}
	}
	t.Logf("of %d pushes %d were never delivered", len(pushes), never)
	if twice > 0 {
		t.Errorf("P2: %d pushes were delivered more than once", twice)
	}
	if never > readers { // a view counts whose answer was 503
		t.Errorf("%d pushes were never delivered", never)
	}
	f.stop()
}

// once makes pushes that may be viewed once, and returns their url_tokens.
func (f *fleet) once(n int) (tokens []string) {
	f.Helper()
	for i := range n {
		in := map[string]proctest.NewPush{"push": {Payload: payloadOf(i), Name: "once", Views: 1}}
		var out proctest.Record
		env.OK(f, f.crowds[i%len(f.crowds)].Call(http.MethodPost, proctest.PushesPath, f.bearer, in, http.StatusCreated, &out))
		tokens = append(tokens, out.Token)
	}
	return tokens
}

func payloadOf(n int) string { return fmt.Sprintf("secret %d", n) }

// readAll has readers at all servers ask for each push until it has ended, and returns how
// often each was delivered. After some views, something happens.
func (f *fleet) readAll(tokens []string, happens func()) []atomic.Int32 {
	f.Helper()
	delivered := make([]atomic.Int32, len(tokens))
	var total atomic.Int64
	some := make(chan struct{})
	var all sync.WaitGroup
	for id := range readers {
		all.Go(func() {
			c := f.crowds[id%len(f.crowds)]
			for k := range tokens {
				i := (k + id/len(f.crowds)*7) % len(tokens)
				r, err := viewToEnd(c, tokens[i])
				if err != nil {
					f.Errorf("push %d: %v", i, err)
					return
				}
				if r.Payload == nil {
					continue
				}
				if *r.Payload != payloadOf(i) {
					f.Errorf("P7: push %d is %q", i, *r.Payload)
				}
				delivered[i].Add(1)
				if total.Add(1) == int64(len(tokens)/4) {
					close(some)
				}
			}
		})
	}
	select {
	case <-some:
	case <-time.After(proctest.Patience):
		f.Error("too little is delivered")
	}
	happens()
	all.Wait()
	return delivered
}

// viewToEnd asks for a push until there is an answer.
func viewToEnd(c *proctest.Crowd, token string) (r proctest.Record, err error) {
	for begun := time.Now(); ; {
		req, err := http.NewRequest(http.MethodGet, c.URL+proctest.PushesPath+"/"+token, nil)
		if err != nil {
			return r, err
		}
		status, answer, err := c.Send(req)
		switch {
		case proctest.IsCut(err) && time.Since(begun) < 2*longest:
			continue
		case err != nil:
			return r, err
		case status != http.StatusOK:
			return r, fmt.Errorf("status %d: %s", status, strings.TrimSpace(string(answer)))
		}
		return r, json.Unmarshal(answer, &r)
	}
}

// reach has the clients of each crowd ask its server.
func (f *fleet) reach() {
	for i, c := range f.crowds {
		c.Reach(f.servers[i].URL)
		c.HTTP.Timeout = 2 * longest
	}
}
