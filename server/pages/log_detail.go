package pages

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"

	"pushbox/internal/lang"
	"pushbox/store/record"
)

// A detailForm is a text of which the instance log composes details, in English. {name} is the place of a
// value, and what is in parentheses may be missing. The message log_detail_NAME says the same.
type detailForm struct{ name, text string }

// detailForms are all forms. A text is compared in this order. The last ones say on whose word
// something was done, and a reason may follow them.
var detailForms = []detailForm{
	{"passkey", "with a passkey alone"},
	{"passkey_second", "with a passkey as second factor"},
	{"code", "with a second factor"},
	{"recovery", "with a recovery code"},
	{"mail", "by mail"},
	{"link", "by a link"},
	{"afresh", "by a link: a new account in place of account {account}, whose address was not confirmed"},
	{"own", "by its user"},
	{"was", "it was {email}"},
	{"tokens", "and its API tokens and webhooks ended"},
	{"policy_none", "none"},
	{"policy_none_by", "none, by {provider}"},
	{"policy_by", "{policy}, by {provider}"},
	{"backup", "{size}, key {key}"},
	{"compact", "{before} before, {after} after"},
	{"restore", "{pushes} pushes, {live} live in the backup"},
	{"purge", "{pushes} pushes, {bytes} bytes"},
	{"import", "{accounts} account(s), {pushes} push(es)"},
	{"pushes", "{pushes} push(es)"},
	{"dropped", "{keys} dropped"},
	{"rotate", "{old} by {new}"},
	{"upgraded", "sealed anew after an upgrade"},
	{"tries", "too many tries"},
	{"copied", "the address or the password is wrong: the passkey counts fewer uses than before, so there may be a copy"},
	{"no_subject", "the subject is empty or too long"},
	{"disabled", "the account is disabled"},
	{"no_email", "the provider gives no e-mail address"},
	{"unclear", "the e-mail address has characters that look like others, or that are invisible"},
	{"no_account", "the address has no account, and create_accounts is off"},
	{"no_link", "the address has an account already, and link_by_email is off"},
	{"unverified", "the address has an account already, and the provider has not verified the address"},
	{"many_identities", "the account is disabled, or has too many identities"},
	{"unconfirmed", "the address of the account is not confirmed"},
	{"other_person", "the account belongs to another person at the provider"},
	{"no_trust", "the account has a second factor, and trust_mfa is off"},
	{"no_groups", "the provider gives no groups in the claim {claim}"},
	{"not_allowed", "the person is in no group of allowed_groups"},
	{"no_domain", "the account at the provider is in no domain of allowed_domains"},
	{"unverified_domain", "the provider has not verified the address, which allowed_domains needs"},
	{"gone", "the directory has no such person"},
	{"no_id", "the entry has no {attribute}"},
	{"several", "several entries have what was typed"},
	{"many_groups", "the person is in more than {most} groups, or in more than the directory returns at once"},
	{"wrong_password", "the password is wrong"},
	{"wrong_time", "the person may not sign in at this time"},
	{"wrong_computer", "the person may not sign in at this computer"},
	{"old_password", "the password has expired"},
	{"disabled_there", "the account in the directory is disabled"},
	{"expired_there", "the account in the directory has expired"},
	{"change_password", "the person must change the password first"},
	{"locked_there", "the account in the directory is locked"},
	{"subject", `by {provider}, subject "{subject}"`},
	{"provider", "by {provider}"},
}

// causes is how many of the forms say on whose word something was done.
const causes = 2

// freeDetails are the kinds of events whose details are names that users chose.
var freeDetails = []record.AdminKind{record.AdminPasskeyAdd, record.AdminPasskeyRemove, record.AdminTokenCreate}

// placeholder finds the placeholders of a form, quoted for a pattern.
var placeholder = regexp.MustCompile(`\\\{(\w+)\\\}`)

// optional finds what may be missing.
var optional = regexp.MustCompile(`\\\((\w+)\\\)`)

// values are the patterns of the placeholders whose values may have spaces.
var values = map[string]string{"provider": `[^":]+?`, "subject": ".+?", "policy": ".+?", "size": ".+?", "before": ".+?", "after": ".+?"}

// providers are the names of what is no provider, as all languages know them.
var providers = map[string]string{"the directory": "LDAP", "the proxy": "proxy"}

// pattern matches what the form composes.
func (f detailForm) pattern() *regexp.Regexp {
	text := placeholder.ReplaceAllStringFunc(regexp.QuoteMeta(f.text), func(quoted string) string {
		name := placeholder.FindStringSubmatch(quoted)[1]
		return "(?P<" + name + ">" + cmp.Or(values[name], `\S+`) + ")"
	})
	return regexp.MustCompile("^" + optional.ReplaceAllString(text, "(?:$1)?") + "$")
}

// detailPatterns are the patterns of the forms.
var detailPatterns = sync.OnceValue(func() (all []*regexp.Regexp) {
	for _, f := range detailForms {
		all = append(all, f.pattern())
	}
	return all
})

// A detail is a part of what an event of the instance log says beside its kind.
type detail struct {
	text  string // as the log has it
	key   string // of the message that says the same; empty: there is none
	pairs []any  // of its placeholders
}

// In returns the detail in a language.
func (d detail) In(l *lang.Locale) string {
	if d.key == "" {
		return d.text
	}
	return l.Text(d.key, d.pairs...)
}

// readDetails returns the parts of a detail that the log composed; a colon stands between two.
func readDetails(k record.AdminKind, text string) []detail {
	switch {
	case text == "":
		return nil
	case slices.Contains(freeDetails, k):
		return []detail{{text: text}}
	}
	last := len(detailForms) - causes
	if d, is := readDetail(text, 0, last); is {
		return []detail{d}
	}
	for i, c := range text {
		if c != ':' || !strings.HasPrefix(text[i:], ": ") {
			continue
		}
		if d, is := readDetail(text[:i], last, len(detailForms)); is {
			return append([]detail{d}, readDetails(k, text[i+2:])...)
		}
	}
	d, is := readDetail(text, last, len(detailForms))
	if !is {
		d = detail{text: text}
	}
	return []detail{d}
}

// readDetail compares a text with the forms of these numbers.
func readDetail(text string, from, to int) (d detail, is bool) {
	for i := from; i < to; i++ {
		p := detailPatterns()[i]
		if found := p.FindStringSubmatch(text); found != nil {
			d = detail{text: text, key: "log_detail_" + detailForms[i].name}
			for n, name := range p.SubexpNames()[1:] {
				d.pairs = append(d.pairs, name, cmp.Or(providers[found[n+1]], found[n+1]))
			}
			return d, true
		}
	}
	return detail{}, false
}
