package settings_test

import (
	"slices"
	"strings"
	"testing"

	"pushbox/internal/pwpush/settings"
)

func TestEnvFilesAreRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, want string
		refers     bool
	}{
		{"A=1", "1", false},
		{"\ufeffA=1\r\n", "1", false},
		{"# a comment\n\n  export A = 1 # behind it", "1", false},
		{"A=a#b", "a#b", false},
		{"A=#b", "#b", false},
		{"A=", "", false},
		{"A= # b", "", false},
		{"A", "", true},
		{"A=a=b", "a=b", false},
		{"A='a # $B \\n'", "a # $B \\n", false},
		{`A="a \"b\" \\ # c" # d`, `a "b" \ # c`, false},
		{"A=$B", "$B", true},
		{`A="x ${B}"`, "x ${B}", true},
		{"A=$5", "$5", false},
	} {
		vars, notes, err := settings.Read(strings.NewReader(c.text))
		want := []settings.Variable{{Name: "A", Value: c.want, Refers: c.refers, Line: 1}}
		if len(vars) == 1 {
			want[0].Line = vars[0].Line
		}
		if err != nil || notes != nil || !slices.Equal(vars, want) {
			t.Errorf("%q: %+v, %v, %v", c.text, vars, notes, err)
		}
	}
}

func TestComposeFilesAreRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want []settings.Variable
	}{
		{"services:\n  a:\n    environment:\n      - PWP__A=1\n      - PWP__B\n      - PWP__C=x=${Y}", []settings.Variable{
			{Name: "PWP__A", Value: "1", Line: 4}, {Name: "PWP__B", Line: 5, Refers: true}, {Name: "PWP__C", Value: "x=${Y}", Line: 6, Refers: true},
		}},
		{"services:\n  a:\n    environment:\n      PWP__B: 2\n      PWP__A: no\n      PWP__C:\n      PWP__D: a$$b", []settings.Variable{
			{Name: "PWP__B", Value: "2", Line: 4}, {Name: "PWP__A", Value: "no", Line: 5}, {Name: "PWP__C", Line: 6, Refers: true}, {Name: "PWP__D", Value: "a$b", Line: 7},
		}},
		{"services: # all\n  a:\n    environment: {OTHER: 1}\n  b: {}", nil},
		{"x: &x [PWP__A=1]\nservices:\n  a:\n    environment: *x\n  b:\n    environment: *x", []settings.Variable{{Name: "PWP__A", Value: "1", Line: 1}}},
	} {
		vars, notes, err := settings.Read(strings.NewReader(c.text))
		if err != nil || notes != nil || !slices.Equal(vars, c.want) {
			t.Errorf("%q: %+v, %v, %v", c.text, vars, notes, err)
		}
	}
}

func TestWhatCannotBeReadIsRefusedWithoutItsText(t *testing.T) {
	t.Parallel()
	const marker = "hunter2"
	for text, want := range map[string]string{
		"A=1\n" + marker + " x":                            "line 2 is not NAME=VALUE",
		"A=1\n=" + marker:                                  "line 2 is not NAME=VALUE",
		strings.Repeat("A", 101) + "=1":                    "line 1 is not NAME=VALUE",
		"A='" + marker:                                     "line 1: the value of A has no closing quote",
		"A='x'" + marker:                                   "line 1: the value of A continues after its closing quote",
		"A=\xff":                                           "not text in UTF-8",
		"services:\n  a: [" + marker:                       "not a compose file",
		"services:\n- " + marker:                           "not a compose file",
		"services:\n  a: " + marker:                        "the service a is not one",
		"services:\n  a:\n    environment: " + marker:      "the environment of the service a",
		"services:\n  a:\n    environment: [hunter2 x=1]":  "line 3 does not name a variable",
		"services:\n  a:\n    environment: {A: [hunter2]}": "not a compose file",
	} {
		vars, _, err := settings.Read(strings.NewReader(text))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), marker) {
			t.Errorf("%q: %+v, %v", text, vars, err)
		}
	}
}

func TestFilesOfOneMebibyteAreRead(t *testing.T) {
	t.Parallel()
	const most = 1 << 20
	text := "PWP__A=" + strings.Repeat("x", most-len("PWP__A="))
	if vars, _, err := settings.Read(strings.NewReader(text)); err != nil || len(vars) != 1 {
		t.Errorf("1 MiB: %d variables, %v", len(vars), err)
	}
	if _, _, err := settings.Read(strings.NewReader(text + "x")); err == nil {
		t.Error("one byte more was read")
	}
	name := strings.Repeat("A", 100)
	if vars, _, err := settings.Read(strings.NewReader(name + "=1")); err != nil || len(vars) != 1 {
		t.Errorf("a name of 100 bytes: %v", err)
	}
}
