package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"
)

func TestAStockIsFilledForALapAndKeepsWhatTheLapLeft(t *testing.T) {
	t.Parallel()
	var made atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusCreated)
		_, _ = fmt.Fprintf(w, `{"url_token":"t%d"}`, made.Add(1))
	}))
	t.Cleanup(server.Close)
	of := &subject{spec: spec{name: "s", url: server.URL, api: apis["v2"]}}
	s := &stock{create: of.create(push{payload: "a", views: 1})}
	seen := make(map[string]bool)
	take := func() bool {
		token, ok := s.take()
		if ok && seen[token] {
			t.Errorf("%s was given twice", token)
		}
		seen[token] = true
		return ok
	}
	const taken, many = 10, firstStock // many connections: the stock has more than one push for each
	for _, test := range []struct{ conns, made int64 }{{1, firstStock}, {1, firstStock + taken}, {many, forEach*many + 2*taken}} {
		if err := s.fill(t.Context(), of, int(test.conns), true); err != nil {
			t.Fatal(err)
		}
		if made.Load() != test.made {
			t.Errorf("there were %d creates, not %d", made.Load(), test.made)
		}
		for range taken {
			if !take() {
				t.Error("the stock is empty")
			}
		}
	}
	for range forEach*many - taken {
		if !take() {
			t.Fatal("the stock is empty too early")
		}
	}
	if take() {
		t.Error("the stock gives more than it has")
	}
}

func TestAStockGrowsWithTheFastestLap(t *testing.T) {
	t.Parallel()
	var s stock
	for _, test := range []struct {
		requests int
		want     int
	}{{2000, 6000}, {1000, 6000}, {4000, 12_000}, {10_000_000, maxStock}} {
		s.learn(lap{requests: test.requests, took: time.Second / 2}, time.Second)
		if s.size != test.want {
			t.Errorf("after %d requests it is %d, not %d", test.requests, s.size, test.want)
		}
	}
}

func TestALapEndsWithItsStock(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			w.WriteHeader(http.StatusCreated)
		}
		_, _ = fmt.Fprint(w, `{"url_token":"t"}`)
	}))
	t.Cleanup(server.Close)
	of := &subject{spec: spec{name: "s", url: server.URL, api: apis["v2"]}}
	op := ends(deletePush, plainView, of.create(push{payload: "a", views: 1}), of.remove, func([]byte) error { return nil })
	op.subject = of
	l, err := op.lap(t.Context(), 2, options{raw: true, round: time.Hour})
	if err != nil || l.requests != firstStock-2 {
		t.Errorf("a lap has %d requests, %v", l.requests, err)
	}
}
