package store

import (
	"fmt"
	"net/mail"
	"slices"
	"strings"
	"time"

	"pushbox/internal/secret"
)

// MailOptions say whether links are sent by mail, and how many.
type MailOptions struct {
	Languages     []string      // that mail can be written in; none: no mail is sent
	MaxRecipients int           // of one request
	PerAccount    int           // mails in a day
	PerInstance   int           // mails in a day, of all accounts together
	GiveUp        time.Duration // after which a mail that could not be delivered is dropped
}

// A Mailing asks for the link of a push to be sent to people.
type Mailing struct {
	To       secret.Text // their addresses, separated by commas; names are not taken
	Language string      // of MailOptions; empty: that of the instance
	Link     func(PushInfo) secret.Text
}

// Names of the fields of a Mailing in an *InvalidError.
const (
	FieldMailTo       = "notify_emails_to"
	FieldMailLanguage = "notify_emails_to_locale"
)

// A Post is mail that is sent with a step: its letters go into the outbox and count
// against its quotas, or the step fails.
type Post struct {
	Letters []Message
	Quotas  []Quota
}

// A Quota counts something done on a day against a limit.
type Quota struct {
	Of   AccountID // 0: all of them together
	Day  uint64    // since 1970, in UTC
	Add  uint64
	Most uint64 // on that day
}

// recipients are those that a mailing names, each once. *InvalidError where it cannot
// be done, for whatever reason lies in what was asked for.
func (s *Store) recipients(by Actor, m *Mailing) (to []string, err error) {
	var bad InvalidError
	if m == nil {
		return nil, nil
	}
	asked := map[string]bool{FieldMailTo: !blank(m.To.Reveal()), FieldMailLanguage: m.Language != ""}
	for field, given := range asked {
		switch {
		case !given:
		case len(s.options().Mail.Languages) == 0:
			bad.Add(field, "cannot be used: this server sends no mail")
		case by.Account == 0:
			bad.Add(field, "can only be set by somebody who has an account: send an API token")
		case field == FieldMailLanguage && !slices.Contains(s.options().Mail.Languages, m.Language):
			bad.Add(field, "must be one of "+strings.Join(s.options().Mail.Languages, ", "))
		case field == FieldMailTo:
			to = s.addresses(m.To, &bad)
		}
	}
	return to, bad.Err()
}

// addresses reads addresses that are separated by commas, each once.
func (s *Store) addresses(text secret.Text, bad *InvalidError) (to []string) {
	most := s.options().Mail.MaxRecipients
	seen := make(map[string]bool)
	n := 0
	for item := range strings.SplitSeq(text.Reveal(), ",") {
		if n++; n > maxListed {
			break // it is too many, whatever they are
		}
		address := strings.TrimSpace(item)
		switch key := strings.ToLower(address); {
		case address == "": // a comma too many
		case !IsMailAddress(address):
			bad.Add(FieldMailTo, fmt.Sprintf("are not all e-mail addresses: number %d is none such as ann@example.com, without a name", n))
		case !seen[key]:
			seen[key], to = true, append(to, address)
		}
	}
	if len(to) > most || n > maxListed {
		bad.Add(FieldMailTo, fmt.Sprintf("are too many: at most %d", most))
	}
	if len(to) == 0 && bad.Err() == nil {
		bad.Add(FieldMailTo, "has no e-mail address")
	}
	return to
}

// maxListed is how many addresses are looked at, those that are there twice and commas
// too many included.
const maxListed = 1000

// IsMailAddress reports whether mail can be sent to an address: one as RFC 5321 has
// it, in ASCII, with nothing in quotes, no name, and nothing that a header could be
// broken with.
func IsMailAddress(text string) bool {
	odd := func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`"(),:;<>[\]`, r) }
	if len(text) > MaxEmail || strings.ContainsFunc(text, odd) {
		return false
	}
	a, err := mail.ParseAddress(text)
	return err == nil && a.Name == "" && a.Address == text
}

func blank(text string) bool { return strings.TrimSpace(text) == "" }

// bothInvalid is what is wrong by one error or by the other, where both tell of fields.
func bothInvalid(err, other error) error {
	a, isA := err.(*InvalidError)
	b, isB := other.(*InvalidError)
	switch {
	case err == nil:
		return other
	case isA && isB:
		for field, messages := range b.Fields {
			for _, m := range messages {
				a.Add(field, m)
			}
		}
	}
	return err
}
