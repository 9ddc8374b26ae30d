package linear_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"pushbox/internal/testkit/env"
	"pushbox/server/servertest"
)

const racers = 64

// A contest is clients that ask for the same pushes at once, each over a connection
// of its own: half of them programs, half of them browsers.
type contest struct {
	t     *testing.T
	conns [racers]linearConn
}

func newContest(a *servertest.Server) *contest {
	r := &contest{t: a.T}
	for i := range r.conns {
		r.conns[i].address = strings.TrimPrefix(a.URL, "http://")
	}
	a.T.Cleanup(func() {
		for i := range r.conns {
			r.conns[i].close()
		}
	})
	return r
}

// run has all racers ask for a push at the same time, each so often, and calls
// took with what each answer is.
func (r *contest) run(token string, each int, took func(racer, status int, body []byte)) {
	var all sync.WaitGroup
	start := make(chan struct{})
	for racer := range racers {
		q := linearRequest{method: http.MethodGet, path: pushes + "/" + token}
		if racer%2 == 1 { // this client opens the page
			q = linearRequest{method: http.MethodPost, path: "/p/" + token, media: servertest.Urlencoded.Get("Content-Type")}
		}
		all.Go(func() {
			<-start
			for range each {
				status, body, err := r.conns[racer].send(q.bytes())
				if err != nil {
					r.t.Error(err)
					return
				}
				took(racer, status, body)
			}
		})
	}
	close(start)
	all.Wait()
}

// raceLimits are the view limits of n pushes that are raced for.
func raceLimits(n uint64) (limits []int) {
	all := []int{1, 2, 3, 5, 100}
	for i := range int(max(n, uint64(len(all)))) {
		limits = append(limits, all[i%len(all)])
	}
	return limits
}

// One push in ten of PUSHBOX_TEST_RACE_PUSHES is raced for over HTTP, by GET of
// the API and POST of the page at once.
func TestNoMoreIsDeliveredThanTheLimitToProgramsAndPeopleAtOnce(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, unlimited)
	r := newContest(a)
	var programs, people atomic.Int32
	for i, limit := range raceLimits(env.Length(t, "PUSHBOX_TEST_RACE_PUSHES") / 10) {
		secret := fmt.Sprintf("the-secret-%d-", i)
		token := a.Create(fmt.Sprintf(`"payload":%q,"expire_after_views":%d`, secret, limit))
		var delivered atomic.Int32
		r.run(token, 2, func(racer, status int, body []byte) {
			switch got := bytes.Contains(body, []byte(secret)); {
			case got && status != http.StatusOK:
				t.Errorf("a secret comes with status %d", status)
			case got && racer%2 == 0:
				delivered.Add(1)
				programs.Add(1)
			case got:
				delivered.Add(1)
				people.Add(1)
			case status != http.StatusOK && status != http.StatusNotFound && status != http.StatusGone:
				t.Errorf("racer %d: status %d", racer, status)
			}
		})
		if int(delivered.Load()) != limit {
			t.Fatalf("limit %d, %d tries: delivered %d", limit, 2*racers, delivered.Load())
		}
	}
	if programs.Load() == 0 || people.Load() == 0 {
		t.Errorf("%d went to programs and %d to people", programs.Load(), people.Load())
	}
}

// Files come with a grant in each delivery, no more than the limit, and each
// grant gives the file.
func TestNoMoreGrantsAreGivenThanTheLimitHoweverManyAsk(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, unlimited)
	ann, r := a.AddTokenUser("ann@example.com"), newContest(a)
	for i, limit := range raceLimits(env.Length(t, "PUSHBOX_TEST_RACE_PUSHES") / 50) {
		want := servertest.BytesOf(100 + i)
		contentType, body := servertest.FilePush{Before: map[string]string{"expire_after_views": fmt.Sprint(limit)}, Files: []servertest.File{{Name: "f", Media: "", Content: want}}}.Multipart()
		token := a.Post(contentType, body, ann).Want(http.StatusCreated).Text("url_token")
		var mu sync.Mutex
		grants := make(map[string]bool)
		pages := 0
		r.run(token, 2, func(racer, _ int, body []byte) {
			mu.Lock()
			defer mu.Unlock()
			if racer%2 == 1 {
				if bytes.Contains(body, []byte("/d/")) {
					pages++
				}
				return
			}
			var got struct{ Files []struct{ URL string } }
			if err := json.Unmarshal(body, &got); err != nil {
				t.Error(err)
			}
			for _, f := range got.Files {
				grants[f.URL] = true
			}
		})
		if len(grants)+pages != limit {
			t.Fatalf("limit %d, %d tries: %d grants", limit, 2*racers, len(grants)+pages)
		}
		for u := range grants {
			if got := a.Get(u[strings.Index(u, "/d/"):]).Want(http.StatusOK); got.Body != string(want) {
				t.Errorf("a grant gives %d bytes", len(got.Body))
			}
		}
	}
}
