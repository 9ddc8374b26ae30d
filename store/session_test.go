package store

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"pushbox/store/clock"
	"pushbox/store/record"
)

func TestASignInIsOfThePasswordThatWasGiven(t *testing.T) {
	t.Parallel()
	known := record.Account{ID: 7, PasswordHash: "$hash"}
	for name, c := range map[string]struct {
		change  func(*record.Account)
		want    error
		pending bool
	}{
		"as it was":             {func(*record.Account) {}, nil, false},
		"with a second factor":  {func(a *record.Account) { a.TOTP = "sealed" }, nil, true},
		"another password":      {func(a *record.Account) { a.PasswordHash = "$other" }, record.ErrCredentials, false},
		"disabled meanwhile":    {func(a *record.Account) { a.Disabled = true }, record.ErrCredentials, false},
		"being removed already": {func(a *record.Account) { a.Removing = true }, record.ErrCredentials, false},
	} {
		a := known
		c.change(&a)
		next, pending, err := signInRule(known, "")(a)
		if !errors.Is(err, c.want) || pending != c.pending || next != a {
			t.Errorf("%s: %v, %v", name, pending, err)
		}
	}
}

func TestHowLongASessionLasts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		idle, age time.Duration
		pending   bool
		lasts     time.Duration // without use; 0: for good
	}{
		{0, 0, false, 0},
		{0, 0, true, pendingLasts},
		{time.Hour, 0, false, time.Hour},
		{0, time.Hour, false, time.Hour},
		{time.Hour, 2 * time.Hour, false, time.Hour},
		{2 * time.Hour, time.Hour, false, time.Hour},
		{time.Hour, time.Hour, true, pendingLasts},
		{5 * time.Minute, time.Hour, true, 5 * time.Minute},
		{time.Hour, 5 * time.Minute, true, 5 * time.Minute},
	} {
		name := fmt.Sprintf("%+v", c)
		l := SessionLimits{Idle: c.idle, MaxAge: c.age}
		s := l.start(record.Session{Pending: c.pending}, newYear)
		if c.lasts == 0 {
			if l.over(s, newYear.Add(1000*record.Day)) {
				t.Errorf("%s: it ends", name)
			}
			continue
		}
		if l.over(s, newYear.Add(c.lasts-time.Millisecond)) || !l.over(s, newYear.Add(c.lasts)) {
			t.Errorf("%s: it ends at another time", name)
		}
		if l.over(s, newYear.Add(-clock.BelievedJump)) || !l.over(s, newYear.Add(-clock.BelievedJump-time.Millisecond)) {
			t.Errorf("%s: before it began", name)
		}
	}
}
