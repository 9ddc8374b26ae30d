package cli

import (
	"errors"
	"strings"
	"testing"
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
