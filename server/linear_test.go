package server_test

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"pushbox/internal/testenv"
)

const (
	linearRound = 2500            // calls to one server
	linearCheck = 2 * time.Minute // for the history of one
)

// PUSHBOX_TEST_LINEAR_OPS sets how many calls are recorded, PUSHBOX_TEST_SEED
// what the clients choose.
func TestMixedOperationsAreLinearizable(t *testing.T) {
	t.Parallel()
	left, seed := testenv.Length(t, "PUSHBOX_TEST_LINEAR_OPS", linearRound, linearRound), testenv.Seed(t)
	for round := uint64(0); left > 0; round++ {
		n := min(left, linearRound)
		left -= n
		if !t.Run(strconv.FormatUint(round, 10), func(t *testing.T) {
			history := newLinearRun(t, seed+round).record(int(n))
			checkLinear(t, history)
			if n == linearRound {
				checkVariety(t, history)
			}
		}) {
			return
		}
	}
}

// checkLinear fails the test for each push whose history has no order that the
// model allows. It leaves a picture of it.
func checkLinear(t *testing.T, history []porcupine.Operation) {
	t.Helper()
	model := linearModel()
	if porcupine.CheckOperationsTimeout(model, history, linearCheck) == porcupine.Ok {
		return
	}
	t.Error("the history is not linearizable")
	for _, part := range model.Partition(history) {
		result, info := porcupine.CheckOperationsVerbose(model, part, linearCheck)
		if result == porcupine.Ok {
			continue
		}
		picture := filepath.Join(t.ArtifactDir(), fmt.Sprintf("push%d.html", part[0].Input.(linearCall).push))
		if err := porcupine.VisualizePath(model, info, picture); err != nil {
			t.Error(err)
		}
		var b strings.Builder
		for _, o := range part {
			fmt.Fprintf(&b, "\n%9d %9d  client %2d  %s", o.Call/1000, o.Return/1000, o.ClientId, model.DescribeOperation(o.Input, o.Output))
		}
		t.Errorf("%s; with -artifacts, %s stays. Microseconds of call and return:%s", result, picture, &b)
	}
}

// checkVariety fails the test if something never happened that the history is
// there to have.
func checkVariety(t *testing.T, history []porcupine.Operation) {
	t.Helper()
	seen := make(map[string]int)
	for _, o := range history {
		in, out := o.Input.(linearCall), o.Output.(linearAnswer)
		what := fmt.Sprintf("%s %d", linearOpNames[in.op], out.status)
		switch {
		case out.deleted:
			what += " deleted"
		case out.expired && out.expiredOn == out.expiresAt:
			what += " by time"
		case out.expired:
			what += " by views"
		}
		seen[what]++
	}
	for _, what := range []string{
		"create 201", "view 200", "view 200 deleted", "view 200 by time", "view 200 by views", "view 401", "view 404",
		"delete 200 deleted", "delete 200 by time", "delete 200 by views", "delete 401",
		"preview 200", "audit 200", "audit 401", "audit 403", "sweep: expire 0",
	} {
		if seen[what] == 0 {
			t.Errorf("there was no %s among %v", what, seen)
		}
	}
	t.Log(seen)
}
