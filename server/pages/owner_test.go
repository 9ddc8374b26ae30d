package pages

import (
	"net/http"
	"testing"
	"time"

	"pushbox/config"
	"pushbox/internal/lang"
	"pushbox/internal/secret"
	"pushbox/server/action"
	"pushbox/store"
	"pushbox/store/record"
)

func TestTheRevealPageDependsOnItsReader(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		views, owner    int
		by              record.AccountID
		deletable       bool
		files           int
		own, last, ends bool
	}{
		"a stranger":                  {views: 2, owner: 1, by: 2},
		"an anonymous client":         {views: 2, owner: 1},
		"anonymous, anonymous push":   {views: 1},
		"the owner":                   {views: 2, owner: 1, by: 1, own: true, ends: true},
		"who may delete":              {views: 1, deletable: true, ends: true},
		"the last":                    {views: 5, last: true, deletable: true},
		"the last, with files":        {views: 5, last: true, deletable: true, files: 1, ends: true},
		"the last, with others' file": {views: 5, last: true, files: 1},
	} {
		p := store.PushInfo{At: now, Token: store.NewToken(now), Payload: secret.New("x"), Push: record.Push{
			Kind: record.Text, State: record.Live, Owner: record.AccountID(test.owner), ExpiresAt: now.Add(time.Hour),
			Views: test.views, ViewLimit: 5, DeletableByViewer: test.deletable,
		}}
		p.Files = make([]store.FileInfo, test.files)
		s := &Set{Options: Options{Config: config.Default()}}
		r := &action.Request{Request: new(http.Request), Locale: lang.New().Nearest("en", ""), Actor: store.Actor{Account: test.by}}
		got := s.newRevealView(r, store.Viewing{PushInfo: p})
		if got.Own != test.own || got.Last != test.last || got.Deletable != test.ends {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestRenewalsFitIntoTheTimeThatAGrantLasts(t *testing.T) {
	t.Parallel()
	for window, want := range map[time.Duration]int{time.Second: 1, 4 * time.Second: 1, time.Minute: 12, 15 * time.Minute: 180, 24 * time.Hour: 17280} {
		if got := renewal(window); got != want {
			t.Errorf("every %d seconds within %v", got, window)
		}
	}
}
