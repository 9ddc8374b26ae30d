package main

import (
	"slices"
	"testing"
)

func TestAMarkIsReachedByItsRatioAndNotBelow(t *testing.T) {
	t.Parallel()
	exact, below := 0.9, 0.899
	results := []result{
		{Connections: 64, Subject: "new", Operation: lastView, Ratio: 0.269, Beside: &exact},
		{Connections: 256, Subject: "new", Operation: lastView, Ratio: 0.33, Beside: &below},
		{Connections: 1, Subject: "new", Operation: lastView, Beside: &below},  // no mark is set for it
		{Connections: 64, Subject: "old", Operation: lastView, Beside: &below}, // another server
		{Connections: 16, Subject: "new", Operation: plainView},                // there is no older server
	}
	want := []verdict{
		{64, "new", lastView, toBeside.to, 0.9, exact, true},
		{256, "new", lastView, toBeside.to, 0.9, below, false},
		{64, "new", lastView, toBare.to, 0.27, 0.269, false},
		{256, "new", lastView, toBare.to, 0.33, 0.33, true},
	}
	if got := judge(results, "new"); !slices.Equal(got, want) {
		t.Errorf("got %+v", got)
	}
}
