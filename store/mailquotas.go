package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"pushbox/internal/email"
	"pushbox/internal/secret"
	"pushbox/store/clock"
	"pushbox/store/cold"
	"pushbox/store/record"
)

// MailOptions say whether mail is sent, and how much.
type MailOptions struct {
	Languages     []string      // of mails; none: no mail is sent
	MaxRecipients int           // of one request
	PerAccount    int           // mails in a day
	PerInstance   int           // mails in a day, of all accounts together
	PerAddressee  int           // mails in a day to one address, from all accounts together; 0: no limit
	GiveUp        time.Duration // after which a mail that was not delivered is dropped
}

// A MailRequest asks for the link of a push to be sent by mail.
type MailRequest struct {
	To       secret.Text // addresses without names, separated by commas
	Language string      // one of MailOptions; empty: that of the instance
	Base     string      // the address of the server: links begin with it
}

func (s *Store) addressee(address string) record.Addressee {
	return s.ring.Load().MAC("mail to " + strings.ToLower(address)) // no url_token has a space
}

// recipients returns the addresses that a request names, each once, and adds to bad what
// is wrong with the request.
func (s *Store) recipients(by Actor, m *MailRequest, bad *record.InvalidError) (to []string) {
	if m == nil {
		return nil
	}
	asked := map[string]bool{FieldMailTo: !blank(m.To.Reveal()), FieldMailLanguage: m.Language != ""}
	for field, given := range asked {
		switch {
		case !given:
		case len(s.options().Mail.Languages) == 0:
			bad.Add(field, "cannot be used: this server sends no mail")
		case m.Base == "":
			bad.Add(field, "cannot be used: this server has no base_url for links in mail")
		case by.Account == 0:
			bad.Add(field, "needs an account: send an API token")
		case field == FieldMailLanguage && !slices.Contains(s.options().Mail.Languages, m.Language):
			bad.Add(field, "must be one of "+strings.Join(s.options().Mail.Languages, ", "))
		case field == FieldMailTo:
			to = s.addresses(m.To, bad)
		}
	}
	return to
}

// addresses reads addresses, separated by commas, each once.
func (s *Store) addresses(text secret.Text, bad *record.InvalidError) (to []string) {
	most := s.options().Mail.MaxRecipients
	seen := make(map[string]bool)
	n := 0
	for item := range strings.SplitSeq(text.Reveal(), ",") {
		if n++; n > maxListed {
			break // too many, even if they are valid
		}
		address := strings.TrimSpace(item)
		switch key := strings.ToLower(address); {
		case address == "": // an extra comma
		case !email.IsSendable(address):
			bad.Add(FieldMailTo, fmt.Sprintf("are not all e-mail addresses: number %d is not an address such as ann@example.com, without a name", n))
		case !seen[key]:
			seen[key], to = true, append(to, address)
		}
	}
	if len(to) > most || n > maxListed {
		bad.Add(FieldMailTo, fmt.Sprintf("are too many: at most %d", most))
	}
	if len(to) == 0 && bad.Fields[FieldMailTo] == nil {
		bad.Add(FieldMailTo, "has no e-mail address")
	}
	return to
}

// maxListed is how many items of a list are read, with repeated ones and extra commas.
const maxListed = 1000

func blank(text string) bool { return strings.TrimSpace(text) == "" }

// quotas returns the quotas that an account's mails to different addresses count against.
func (s *Store) quotas(of record.AccountID, now time.Time, to ...string) []record.Quota {
	all := s.ownQuotas(of, now, len(to))
	if most := s.options().Mail.PerAddressee; most > 0 {
		for _, address := range to {
			all = append(all, record.Quota{To: s.addressee(address), Day: dayOf(now), Add: 1, Most: uint64(most)})
		}
	}
	return all
}

// ownQuotas returns the quotas of the account and the instance, without those of addresses.
func (s *Store) ownQuotas(of record.AccountID, now time.Time, mails int) []record.Quota {
	o, today := s.options().Mail, dayOf(now)
	return []record.Quota{
		{Of: of, Day: today, Add: uint64(mails), Most: uint64(o.PerAccount)},
		{Day: today, Add: uint64(mails), Most: uint64(o.PerInstance)},
	}
}

// dayOf is the number of a day since 1970, in UTC.
func dayOf(t time.Time) uint64 {
	return uint64(max(0, t.UnixMilli())) / uint64(record.Day.Milliseconds())
}

// dayLeft is the time left in the day of t.
func dayLeft(t time.Time) time.Duration {
	return record.Day - time.Duration(t.UnixMilli()%record.Day.Milliseconds())*time.Millisecond
}

// countMail runs put, which puts a batch of mail into the outbox, and counts the waiting messages.
func (s *Store) countMail(batch *record.MailBatch, at clock.Instant, put func() error) error {
	if batch == nil {
		return put()
	}
	s.outbox.waiting.Add(int64(len(batch.Messages)))
	err := put()
	var quota *record.QuotaError
	if errors.As(err, &quota) {
		quota.RetryAfter = dayLeft(at.Now)
	}
	if err != nil {
		s.outbox.release(len(batch.Messages))
		return err
	}
	signal(s.outbox.changed[record.ByMail])
	return nil
}

// clearQuotas removes the counts of mail to addresses that are from earlier days, unless the
// clock is in doubt.
func (s *Store) clearQuotas(ctx context.Context, at clock.Instant) error {
	today := dayOf(at.Now)
	if at.Now != at.Ends || s.counted == today {
		return nil
	}
	var last record.Addressee
	for more := true; more; {
		var err error
		if last, more, err = cold.ClearQuotas(ctx, s.engine, last, clearBatch, today); err != nil {
			return err
		}
	}
	s.counted = today
	return nil
}
