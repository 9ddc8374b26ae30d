package pages

import (
	"regexp"
	"strings"
	"testing"

	"pushbox/internal/lang"
	"pushbox/store/record"
)

// Every form is found in what it composes, and its message has the same values.
func TestFormsOfDetailsAreFoundAgain(t *testing.T) {
	t.Parallel()
	c := lang.New()
	for _, f := range detailForms {
		values := map[string]string{}
		text := regexp.MustCompile(`\{\w+\}`).ReplaceAllStringFunc(f.text, func(name string) string {
			values[name] = "value-of-" + strings.Trim(name, "{}")
			return values[name]
		})
		for _, text := range []string{strings.NewReplacer("(", "", ")", "").Replace(text), regexp.MustCompile(`\(\w+\)`).ReplaceAllString(text, "")} {
			for _, l := range lang.Languages() {
				got := readDetails(record.AdminSignInRefused, text)
				if len(got) != 1 || got[0].key != "log_detail_"+f.name {
					t.Fatalf("%q is read as %+v", text, got)
				}
				said := got[0].In(c.Choose(l.Tag, "", ""))
				if said == got[0].key || strings.ContainsAny(said, "{}") {
					t.Errorf("%s, %s: %q", f.name, l.Tag, said)
				}
				for name, value := range values {
					if !strings.Contains(said, value) {
						t.Errorf("%s, %s: %q lacks %s", f.name, l.Tag, said, name)
					}
				}
			}
		}
	}
}

func TestDetailsAreReadInParts(t *testing.T) {
	t.Parallel()
	c := lang.New()
	german := c.Choose("de", "", "")
	for _, test := range []struct {
		kind       record.AdminKind
		text, want string
	}{
		{record.AdminSignInRefused, "", ""},
		{record.AdminSignInRefused, "too many tries", "zu viele Versuche"},
		{record.AdminSignInRefused, `by Acme, subject "a: b": the account is disabled`, `durch Acme, subject „a: b“: das Konto ist gesperrt`},
		{record.AdminSignInRefused, "by the directory: the person is in no group of allowed_groups", "durch LDAP: die Person ist in keiner Gruppe aus allowed_groups"},
		{record.AdminAccountDisable, "by Acme: another reason: with more", "durch Acme: another reason: with more"},
		{record.AdminSignIn, "by Acme", "durch Acme"},
		{record.AdminPushesExpire, "1 push", "Geheimnisse: 1"},
		{record.AdminCompact, "1.5 MiB before, 12 KiB after", "vorher 1.5 MiB, nachher 12 KiB"},
		{record.AdminReload, "listen, log.level", "listen, log.level"},
		{record.AdminPasskeyAdd, "by mail", "by mail"},
		{record.AdminTokenCreate, "by a link", "by a link"},
	} {
		var said []string
		for _, d := range readDetails(test.kind, test.text) {
			said = append(said, d.In(german))
		}
		if got := strings.Join(said, ": "); got != test.want {
			t.Errorf("%s, %q: %q", test.kind, test.text, got)
		}
	}
}
