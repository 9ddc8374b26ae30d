// Package mail sends mail through one SMTP server: the links of pushes, the codes that
// confirm addresses, and news of frozen pushes.
//
// Mail waits in the store's outbox: the transaction that writes a push or an audit entry
// also writes its mail. A Mailer sends one mail after the other, over one connection at a
// time. The server accepts a mail at least once; or the push ends first, and its mail is
// not sent; or the mail is refused permanently or given up, with a line in the log. No
// address, no link and no code reaches the log.
//
// The connection is encrypted and the server's certificate is checked, unless the settings
// say otherwise: a server that stops offering STARTTLS gets no mail.
package mail

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"pushbox/internal/lang"
	"pushbox/internal/retry"
	"pushbox/store"
	"pushbox/store/record"
)

type tuning struct {
	batch  int           // mails that are read from the outbox together
	retry  retry.Policy  // for a mail
	server retry.Policy  // for a server that takes no mail
	rest   time.Duration // least time between two polls of the outbox
	store  time.Duration // for the store, after a mail
	grace  time.Duration // that a stop gives to a mail that is being sent
	idle   time.Duration // poll interval while no mail server is configured
}

func usualTuning() tuning {
	return tuning{
		batch: 50, retry: retry.Policy{First: time.Minute, Most: time.Hour}, server: retry.Policy{First: 5 * time.Second, Most: 10 * time.Minute},
		rest: 20 * time.Millisecond, store: 5 * time.Second, grace: 3 * time.Second, idle: time.Minute,
	}
}

// Options say where a Mailer's mail comes from, and how it sends it.
type Options struct {
	Store    *store.Store
	Server   *Server // nil: no mail is sent, and waiting mail is given up in time
	Brand    string  // the name of the service in mails
	Base     string  // the address of the service, with which the links to its pages begin
	Language string  // of recipients whose language is not known
	Log      zerolog.Logger
}

// A Mailer sends the mail that waits in the outbox of a store.
type Mailer struct {
	Options
	tuning   tuning
	words    *lang.Catalog
	failures atomic.Int64  // of the server, in a row
	dropped  atomic.Uint64 // mails that were given up, or that the server refused for good
}

// New returns a mailer. Run starts it.
func New(o Options) *Mailer { return &Mailer{Options: o, tuning: usualTuning(), words: lang.New()} }

// Failures is how many tries in a row have failed. 0: the mail server accepts mail.
func (m *Mailer) Failures() int { return int(m.failures.Load()) }

// Dropped is how many mails were never delivered since the start: the mail server refused
// them for good, or they were given up.
func (m *Mailer) Dropped() uint64 { return m.dropped.Load() }

// Run sends mail until ctx ends. A mail that is being sent then has a few more seconds. When
// it returns, nothing is being sent, and mail that was not accepted waits for the next run.
// It returns nil.
func (m *Mailer) Run(ctx context.Context) error {
	working, end := retry.Linger(ctx, m.tuning.grace)
	defer end()
	unread := 0 // rounds in a row that the store ended
	retry.Rounds(ctx, m.tuning.rest, retry.News{m.Store.OutboxChanged(record.ByMail)}, func() (wait time.Duration, early bool) {
		wait, early, err := m.round(ctx, working)
		if err == nil || ctx.Err() != nil {
			unread = 0
			return wait, early
		}
		if !errors.Is(err, record.ErrUnavailable) {
			m.Log.Error().Err(err).Msg("the mail outbox cannot be read or changed; the server tries again")
		}
		unread++
		return m.tuning.server.After(unread - 1), false
	})
	return nil
}

// round polls the outbox once, and sends due mail. It returns how long to wait until the next poll,
// and whether new mail may shorten that.
func (m *Mailer) round(ctx, working context.Context) (wait time.Duration, early bool, err error) {
	given, err := m.Store.GiveUp(ctx, record.ByMail)
	m.logMailsGivenUp(given)
	if err != nil || m.Server == nil {
		return m.tuning.idle, false, err
	}
	due, wait, err := m.Store.DueMessages(ctx, record.MessageQuery{Route: record.ByMail, Limit: m.tuning.batch})
	if err != nil || len(due) == 0 {
		return wait, true, err
	}
	tries, err := m.open(ctx, due)
	if err != nil || len(tries) == 0 {
		return 0, true, err
	}
	var f *Failure
	err = m.deliver(ctx, working, tries)
	if errors.As(err, &f) {
		return m.noteFailure(ctx, f), false, nil
	}
	return 0, err == nil, err
}

type try struct {
	record.Message
	text
}

func (m *Mailer) open(ctx context.Context, due []record.Message) (tries []try, err error) {
	var gone []record.Message
	for _, msg := range due {
		l, wanted, err := m.Store.OpenMail(ctx, msg)
		switch {
		case errors.Is(err, record.ErrCorrupt):
			m.Log.Error().Err(err).Msg("a mail is dropped")
			m.dropped.Add(1)
			gone = append(gone, msg)
		case err != nil:
			return nil, err
		case !wanted:
			gone = append(gone, msg)
		default:
			tries = append(tries, try{msg, m.textOf(l)})
		}
	}
	return tries, m.Store.EndMessages(ctx, gone)
}

// deliver sends mails over one connection until ctx ends. A mail that is being sent then may
// continue until working ends. A *Failure of the session ends it, and an error of the store.
func (m *Mailer) deliver(ctx, working context.Context, tries []try) error {
	o, err := m.Server.open(working)
	if err != nil {
		return err
	}
	defer o.close()
	for _, t := range tries {
		if ctx.Err() != nil {
			return nil
		}
		var f *Failure
		switch err := o.send(working, t.text); {
		case err == nil:
			m.noteSuccess()
			err = m.remove(t.Message)
			if err != nil {
				return err
			}
		case !errors.As(err, &f):
			return err
		default:
			if err := m.failed(working, t.Message, f); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *Mailer) remove(msg record.Message) error {
	ctx, cancel := context.WithTimeout(context.Background(), m.tuning.store)
	defer cancel()
	return m.Store.EndMessages(ctx, []record.Message{msg})
}

// failed puts a mail off, or removes it if its failure is permanent. It returns a failure of
// the session.
func (m *Mailer) failed(working context.Context, msg record.Message, f *Failure) error {
	if f.Permanent {
		m.Log.Warn().Int("code", f.Code).Err(f).Msg("a mail is dropped")
		m.dropped.Add(1)
		return m.remove(msg)
	}
	if f.Session && (f.Code != 0 || working.Err() != nil) { // the mail itself was not looked at
		return f
	}
	ctx, cancel := context.WithTimeout(context.Background(), m.tuning.store)
	defer cancel()
	again, err := m.Store.RetryMessage(ctx, msg, m.tuning.retry.After(msg.Attempts))
	switch {
	case err != nil:
		return err
	case !again:
		m.logMailsGivenUp(1)
	}
	if f.Session {
		return f
	}
	return nil
}
