package pages

import (
	"testing"

	"pushbox/internal/secret"
)

func TestALoginIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	for _, values := range [][]string{
		{"ann", "hunter2", "https://example.com/", "JBSWY3DPEHPK3PXP", "two\nlines\n"},
		{"ann", " two  spaces ", "", "", ""},
		{"", "Password: x", "", "", "User name: y"},
		{"", "", "a", "b", ""},
	} {
		parts := make([]loginPart, len(values))
		for i, value := range values {
			parts[i] = loginPart{loginLabels[i].name, secret.New(value)}
		}
		text := loginText(parts)
		got := parseLogin(text)
		if len(got) != len(parts) {
			t.Fatalf("%q: %d parts", text, len(got))
		}
		for i := range got {
			if got[i].Name != parts[i].Name || got[i].Value.Reveal() != values[i] {
				t.Errorf("%q: %s is %q", text, got[i].Name, got[i].Value.Reveal())
			}
		}
	}
}

func TestAnotherTextIsNoLogin(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "hunter2", "Password: x", "Note: a\nb", "User name: ann\nPassword: ", "User name: ann\nPassword: x\n", "User name: ann\n\nPassword: x",
		"Password: x\nUser name: ann", "User name: ann\nPassword: x\nmore", " User name: ann\nPassword: x", "user name: ann\npassword: x",
		"User name: ann\nUser name: bob", "User name:ann\nPassword:x", "User name: ann\r\nPassword: x",
	} {
		if parseLogin(text) != nil {
			t.Errorf("%q was taken as a login", text)
		}
	}
}
