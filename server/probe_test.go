package server

import (
	"errors"
	"testing"
	"time"

	"pushbox/internal/testkit/env"
	"pushbox/store/record"
)

func TestAProbeIsValidOnceAndForAMinute(t *testing.T) {
	t.Parallel()
	var now time.Duration
	p := newProbes(func() time.Duration { return now })
	add := func() string {
		t.Helper()
		code, err := p.add()
		env.OK(t, err)
		return code
	}
	first, second, third := add(), add(), add()
	if !p.take(first) || p.take(first) || p.take("") {
		t.Error("it is good more than once, or never was")
	}
	now = probeTime - 1
	if !p.take(second) {
		t.Error("it ended too soon")
	}
	now = probeTime
	if p.take(third) {
		t.Error("it did not end")
	}
	for range mostProbes {
		add()
	}
	if _, err := p.add(); !errors.Is(err, record.ErrBusy) {
		t.Errorf("one too many: %v", err)
	}
	now += probeTime
	add()
	if len(p.ends) != 1 {
		t.Errorf("%d are kept", len(p.ends))
	}
}
