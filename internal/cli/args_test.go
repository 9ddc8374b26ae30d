package cli

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"runtime/debug"
	"strings"
	"testing"

	"pushbox/internal/endtoend"
	"pushbox/internal/testkit/env"
)

func TestArgumentsAreThoseThatAreNamed(t *testing.T) {
	t.Parallel()
	two := arguments("ONE", "TWO")
	for _, test := range []struct {
		given []string
		want  string
	}{
		{nil, "ONE is missing"},
		{[]string{"a"}, "TWO is missing"},
		{[]string{"a", "b"}, ""},
		{[]string{"a", "ünïcode"}, ""},
		{[]string{"a", "b", "secret-marker"}, "too many arguments"},
		{[]string{"a\n", "b"}, "ONE has characters that cannot be shown"},
		{[]string{"a", "\xff"}, "TWO has characters that cannot be shown"},
	} {
		err := two(nil, test.given)
		usage := (*usageError)(nil)
		switch {
		case test.want == "" && err != nil:
			t.Errorf("%q: %v", test.given, err)
		case test.want != "" && (!errors.As(err, &usage) || err.Error() != test.want):
			t.Errorf("%q: %v, want %q", test.given, err, test.want)
		}
	}
}

func TestEachCommandHasHelpWithAnExample(t *testing.T) {
	t.Parallel()
	root := (&app{}).root()
	commands := append(root.Commands(), root)
	for i := 0; i < len(commands); i++ {
		cmd := commands[i]
		if cmd != root {
			commands = append(commands, cmd.Commands()...)
		}
		if cmd.Short == "" || strings.HasSuffix(cmd.Short, ".") {
			t.Errorf("%s: %q", cmd.CommandPath(), cmd.Short)
		}
		if !cmd.HasSubCommands() && !strings.Contains(cmd.Example, cmd.CommandPath()) {
			t.Errorf("%s has no example", cmd.CommandPath())
		}
		if alone := strings.Contains(cmd.UsageString(), "\n  "+cmd.UseLine()+"\n"); alone == cmd.HasSubCommands() {
			t.Errorf("%s: that it can be run without a command: %v", cmd.CommandPath(), alone)
		}
		if cmd.Args == nil {
			t.Errorf("%s does not look at its arguments", cmd.CommandPath())
		}
	}
}

func TestAFlagThatIsNoNumberIsSaidPlainly(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"push --views abc":                       "--views must be a whole number",
		"push --views 99999999999999999999":      "--views must be a whole number",
		"push --deletable=perhaps":               "--deletable must be true or false",
		"backup --force=perhaps x":               "--force must be true or false",
		"push --nothing":                         "unknown flag: --nothing",
		"token create --expires soon alice@x.yz": "must be a length of time",
	} {
		r := run(t, t.TempDir(), "", strings.Fields(args)...).want(t, exitUsage, want)
		if strings.Contains(r.stderr, "strconv") {
			t.Errorf("%s: %s", args, r.stderr)
		}
	}
}

// asked is a server that has one request, with these answers.
func asked(t *testing.T, answers ...map[string]any) (link string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.Method != http.MethodGet || r.RequestURI != "/api/v2/requests/"+linkToken:
			w.WriteHeader(http.StatusNotFound)
		default:
			_ = json.NewEncoder(w).Encode(map[string]any{"id": linkToken, "answers": append([]map[string]any{}, answers...)})
		}
	}))
	t.Cleanup(s.Close)
	return s.URL + "/requests/" + linkToken
}

func TestAnswersArePrintedAsLinks(t *testing.T) {
	t.Parallel()
	// From testdata/end-to-end/requests.json.
	const (
		fragment = "a78UfqftCuHpaMF3lnfDxktrimZcwQt4lys4G6l1tJX0emjKp"
		other    = "afLPWUSO7AbABCr507D_qahNYlgAaUYsMi52Yq4uauTPvccCc1r8-dFKY3om4O4tfdIaEN_RQWMaTnvzmBoUXOJrcYPM"
		wrapped  = "AgQdy33QdKyPmXiU3jBaL5FXGVsmeY2VEXTdTf_6knKH95t8jGgaQkF0VWtSddlvhin7ZLmHgSmsa7jWp0gHxn_QY5HuDZHVU87GTGKwSsQJpF8eXI2J4OnNzsbm1IeRdOZHPgqetWoaAUU6m8GebgcK"
	)
	const far = "https://push.example.com/p/" + linkToken
	plain := map[string]any{"html_url": far, "expired": false, "wrapped_key": nil}
	over := map[string]any{"html_url": far, "expired": true, "wrapped_key": nil}
	encrypted := map[string]any{"html_url": far, "expired": false, "wrapped_key": wrapped}

	link := asked(t, plain, over)
	for args, stdin := range map[string]string{link: "", "-": link + "\n"} {
		got := act(t, stdin, nil, "answers", args).want(t, exitDone, "answers that have ended: 1")
		env.Equal(t, "printed", got.stdout, far+"\n")
	}
	if got := act(t, "", nil, "answers", asked(t)).want(t, exitDone); got.stdout != "" {
		t.Errorf("without answers: printed %q", got.stdout)
	}

	link = asked(t, plain, encrypted)
	got := act(t, "", nil, "answers", link+"#"+fragment).want(t, exitDone)
	lines := strings.Split(got.stdout, "\n")
	address, key, _ := strings.Cut(lines[1], "#")
	if _, err := endtoend.ParseFragment(key); err != nil || len(lines) != 3 || lines[0] != far || address != far {
		t.Errorf("printed %q: %v", got.stdout, err)
	}
	for args, says := range map[string]string{link: "answers that are encrypted: 1; the link has no key", link + "#" + other: "answers that cannot be decrypted: 1"} {
		if got := act(t, "", nil, "answers", args).want(t, exitFailed, says); got.stdout != far+"\n" || strings.Contains(got.stderr, other) {
			t.Errorf("%s: printed %q", says, got.stdout)
		}
	}
	act(t, "", nil, "answers", link+"#"+fragment[:40]).want(t, exitFailed, "is incomplete or was changed")
	act(t, "", nil, "answers", far).want(t, exitUsage, "must be the link of a request's page")
	act(t, "", nil, "answers", link+"x").want(t, exitFailed, "hint: ")
}

func TestTheManualHasEveryCommandOnce(t *testing.T) {
	t.Parallel()
	seen := make(map[string]Page)
	for _, p := range Pages() {
		if _, again := seen[p.Path]; again || p.Short == "" || !strings.HasPrefix(p.Usage, p.Path) {
			t.Errorf("%q is there twice, or says nothing: %+v", p.Path, p)
		}
		seen[p.Path] = p
	}
	add := seen["pushbox user add"]
	if add.Example == "" || !strings.Contains(add.Usage, "EMAIL") || !strings.Contains(add.Flags, "--password-stdin") {
		t.Errorf("user add: %+v", add)
	}
	if global := "--data-dir"; strings.Contains(add.Flags, global) || !strings.Contains(seen["pushbox"].Flags, global) {
		t.Errorf("%s must be told once, of pushbox: %+v", global, seen["pushbox"])
	}
	for _, missing := range []string{"pushbox serve", "pushbox completion", "pushbox token"} {
		if _, ok := seen[missing]; !ok {
			t.Errorf("%s is not there", missing)
		}
	}
}

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
		env.Equal(t, test.settings, describeCommit(test.settings), test.want)
	}
}
