package store_test

import (
	"testing"
	"time"

	"pushbox/store/storetest"
)

// TestHealthTellsAJumpFromAnAbsence: only in the first creates wait.
func TestHealthTellsAJumpFromAnAbsence(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	wants := func(what string, doubt, away bool) {
		t.Helper()
		st, err := f.Health(ctx)
		if err != nil || st.Doubt != doubt || st.Away != away {
			t.Errorf("%s: %+v, %v", what, st, err)
		}
	}
	wants("at first", false, false)
	f.Clock.Jump(2 * day)
	wants("after a jump", true, false)
	f.Clock.Advance(10 * time.Minute)
	wants("ten minutes later", false, false)
	f.SweepAll() // which writes the time down
	f.Clock.Jump(2 * day)
	f.Reopen()
	wants("after an absence", false, true)
	f.Clock.Advance(10 * time.Minute)
	wants("ten minutes after that", false, false)
}
