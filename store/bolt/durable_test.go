package bolt_test

import (
	"errors"
	"runtime"
	"testing"

	"pushbox/store/bolt"
	"pushbox/store/cold"
	"pushbox/store/record"
)

// A reader must not return what it saw of a commit before the commit is on the disk.
func TestAReadWaitsUntilWhatItSawIsOnTheDisk(t *testing.T) {
	t.Parallel()
	for _, outcome := range []error{nil, errors.New("the sync failed")} {
		db := open(t, bolt.Options{Path: filled(t)})
		end := db.MidCommit()
		answered := make(chan error, 1)
		go func() {
			_, err := cold.Accounts(t.Context(), db, 0, 1)
			answered <- err
		}()
		for range 1000 { // as much time as the reader wants
			runtime.Gosched()
		}
		select {
		case err := <-answered:
			t.Fatalf("it was answered during the commit: %v", err)
		default:
		}
		end(outcome)
		if err := <-answered; outcome == nil && err != nil || outcome != nil && !errors.Is(err, record.ErrFailed) {
			t.Errorf("after the commit ended with %v: %v", outcome, err)
		}
	}
}
