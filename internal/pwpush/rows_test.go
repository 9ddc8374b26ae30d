package pwpush_test

import (
	"testing"
	"time"

	"pushbox/internal/pwpush"
)

func TestAPushIsLiveWithinItsLimits(t *testing.T) {
	t.Parallel()
	made := time.Date(2026, 8, 1, 10, 0, 0, 0, time.UTC)
	end := made.Add(7 * 24 * time.Hour)
	for _, c := range []struct {
		what    string
		change  func(*pwpush.Push)
		at      time.Time
		counted int
		want    bool
	}{
		{"new", func(*pwpush.Push) {}, made, 0, true},
		{"at its last moment and last view", func(*pwpush.Push) {}, end.Add(-1), 4, true},
		{"past its days", func(*pwpush.Push) {}, end, 0, false},
		{"past its views", func(*pwpush.Push) {}, made, 5, false},
		{"expired", func(p *pwpush.Push) { p.Expired = true }, made, 0, false},
		{"deleted", func(p *pwpush.Push) { p.Deleted = true }, made, 0, false},
		{"without limits", func(p *pwpush.Push) { p.Days, p.Views = 0, 0 }, made, 0, false},
		{"with the longest limit", func(p *pwpush.Push) { p.Days = 1<<31 - 1 }, end, 0, true},
	} {
		p := pwpush.Push{CreatedAt: made, Days: 7, Views: 5}
		c.change(&p)
		if got := p.Live(c.at, c.counted); got != c.want {
			t.Errorf("%s: %v", c.what, got)
		}
	}
}

func TestViewsAndFailedViewsCount(t *testing.T) {
	t.Parallel()
	counted := make(map[pwpush.Ref]int)
	for _, row := range append(wholeFixture(t, "v2.sqlite.sql"), wholeFixture(t, "v1.sqlite.sql")...) {
		if e, ok := row.(pwpush.Entry); ok && e.Counts() {
			counted[e.Push]++
		}
	}
	for push, want := range map[pwpush.Ref]int{
		{Table: "pushes", ID: 1}: 2, {Table: "pushes", ID: 2}: 1, {Table: "pushes", ID: 5}: 2,
		{Table: "passwords", ID: 1}: 2, {Table: "passwords", ID: 2}: 0, {Table: "file_pushes", ID: 1}: 1, {Table: "urls", ID: 1}: 1,
	} {
		if counted[push] != want {
			t.Errorf("%v: %d, not %d", push, counted[push], want)
		}
	}
}
