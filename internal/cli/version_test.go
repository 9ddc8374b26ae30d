package cli

import (
	"runtime/debug"
	"testing"
)

func TestTheCommitIsNamedWhereTheBuildKnowsIt(t *testing.T) {
	t.Parallel()
	revision := debug.BuildSetting{Key: "vcs.revision", Value: "0123456789abcdef"}
	changed := debug.BuildSetting{Key: "vcs.modified", Value: "true"}
	for _, test := range []struct {
		settings []debug.BuildSetting
		want     string
	}{
		{nil, ""},
		{[]debug.BuildSetting{changed}, ""},
		{[]debug.BuildSetting{revision}, ", commit 0123456789ab"},
		{[]debug.BuildSetting{revision, changed}, ", commit 0123456789ab and changes"},
		{[]debug.BuildSetting{{Key: "vcs.revision", Value: "01"}, {Key: "vcs.modified", Value: "false"}}, ", commit 01"},
	} {
		if got := describeCommit(test.settings); got != test.want {
			t.Errorf("%v: %q, want %q", test.settings, got, test.want)
		}
	}
}
