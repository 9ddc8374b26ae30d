package mail

import (
	"context"
	"errors"
	"time"

	"github.com/rs/zerolog"

	"pushbox/internal/lang"
	"pushbox/store"
)

// A pace says how long it is until something is tried again.
type pace struct {
	batch int           // mails that are looked at together
	first time.Duration // between the first try of a mail and the second; then twice as long each time
	most  time.Duration // at most
	down  time.Duration // the same after a server that could not be reached
	long  time.Duration // at most
	rest  time.Duration // between two looks at the outbox, at least
	grace time.Duration // that a stop gives to what is on its way
	idle  time.Duration // between two looks while no mail is sent
}

func usualPace() pace {
	return pace{
		batch: 50, first: time.Minute, most: time.Hour, down: 5 * time.Second, long: 10 * time.Minute,
		rest: 20 * time.Millisecond, grace: 3 * time.Second, idle: time.Minute,
	}
}

// Options say what a Mailer sends, and through whom.
type Options struct {
	Store    *store.Store
	Server   *Server // nil: no mail is sent, and what waits is given up in its time
	Brand    string  // what the server calls itself
	Language string  // of those who are written to and of whom nothing is known
	Log      zerolog.Logger
}

// A Mailer sends the mail that waits in the outbox of a store.
type Mailer struct {
	Options
	pace     pace
	words    *lang.Catalog
	failures int // to reach the server, in a row
}

// New returns a mailer, which does nothing before Run.
func New(o Options) *Mailer { return &Mailer{Options: o, pace: usualPace(), words: lang.New()} }

// Run sends mail until ctx ends. What is on its way then has a few seconds. When it
// returns, nothing is on its way any more, and what was not accepted waits for the next
// run.
func (m *Mailer) Run(ctx context.Context) error {
	working, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	ending := context.AfterFunc(ctx, func() {
		late := time.NewTimer(m.pace.grace)
		defer late.Stop()
		select {
		case <-late.C:
			stop()
		case <-working.Done():
		}
	})
	defer ending()
	for ctx.Err() == nil {
		begun := time.Now()
		wait, hurry, err := m.round(ctx, working)
		if err != nil && ctx.Err() == nil {
			m.Log.Error().Err(err).Msg("mail cannot be sent; it is tried again")
			wait, hurry = m.pause(), false
		}
		m.sleep(ctx, max(wait, m.pace.rest, 4*time.Since(begun)), hurry) // a look at a long outbox takes a while
	}
	return nil
}

// sleep waits for some time, or, in a hurry, for something to do.
func (m *Mailer) sleep(ctx context.Context, wait time.Duration, hurry bool) {
	posted := m.Store.Posted()
	if !hurry {
		posted = nil
	}
	end := time.NewTimer(wait)
	defer end.Stop()
	select {
	case <-end.C:
	case <-posted:
	case <-ctx.Done():
	}
}

// round looks at the outbox once, and sends what is due. It returns how long it is until
// there may be more, and whether new mail is worth looking at before.
func (m *Mailer) round(ctx, working context.Context) (wait time.Duration, hurry bool, err error) {
	given, err := m.Store.GiveUpMail(ctx)
	m.noteGivenUp(given)
	if err != nil || m.Server == nil {
		return m.pace.idle, false, err
	}
	due, wait, err := m.Store.DueLetters(ctx, m.pace.batch)
	if err != nil || len(due) == 0 {
		return wait, true, err
	}
	tries, err := m.open(ctx, due)
	if err != nil || len(tries) == 0 {
		return 0, true, err
	}
	if err := m.deliver(ctx, working, tries); err != nil {
		return m.noteFailure(ctx, err), false, nil
	}
	return 0, true, nil
}

// A try is a mail that is about to be sent.
type try struct {
	store.Message
	text
}

// open opens messages, and forgets those that are not to be sent any more.
func (m *Mailer) open(ctx context.Context, due []store.Message) (tries []try, err error) {
	var gone []store.Message
	for _, msg := range due {
		l, wanted, err := m.Store.OpenLetter(ctx, msg)
		switch {
		case errors.Is(err, store.ErrCorrupt):
			m.Log.Error().Err(err).Msg("a mail is dropped")
			gone = append(gone, msg)
		case err != nil:
			return nil, err
		case !wanted:
			gone = append(gone, msg)
		default:
			words := m.words.Choose(l.Language, "", m.Language)
			tries = append(tries, try{msg, letterText(l, words, m.Brand)})
		}
	}
	return tries, m.Store.EndMessages(ctx, gone)
}

// deliver sends mails over one connection, until ctx ends; what is on its way then goes
// on as long as working does. A *Failure that is about none of them in particular ends
// it.
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
			err = m.settle(t.Message)
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

const settleTimeout = 5 * time.Second // for what the store is told of a mail

// settle forgets a mail.
func (m *Mailer) settle(msg store.Message) error {
	ctx, cancel := context.WithTimeout(context.Background(), settleTimeout)
	defer cancel()
	return m.Store.EndMessages(ctx, []store.Message{msg})
}

// failed puts a mail off, or forgets one that will never be taken. It returns the failure
// where others would fare no better.
func (m *Mailer) failed(working context.Context, msg store.Message, f *Failure) error {
	if f.Permanent {
		m.Log.Warn().Int("code", f.Code).Err(f).Msg("a mail is dropped")
		return m.settle(msg)
	}
	if f.Session && (f.Code != 0 || working.Err() != nil) { // the mail itself was not looked at
		return f
	}
	ctx, cancel := context.WithTimeout(context.Background(), settleTimeout)
	defer cancel()
	again, err := m.Store.RetryMessage(ctx, msg, backoff(m.pace.first, m.pace.most, msg.Attempts))
	switch {
	case err != nil:
		return err
	case !again:
		m.noteGivenUp(1)
	}
	if f.Session {
		return f
	}
	return nil
}
