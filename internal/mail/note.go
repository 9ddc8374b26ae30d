package mail

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// noteFailure tells that the server takes no mail, and returns how long it is left alone.
func (m *Mailer) noteFailure(ctx context.Context, err error) time.Duration {
	if ctx.Err() != nil {
		return 0
	}
	pause, line := m.pause(), m.Log.Warn().Err(err)
	var f *Failure
	if errors.As(err, &f) && f.Code != 0 {
		line = line.Int("code", f.Code)
	}
	line.Dur("pause_ms", pause).Msg("mail cannot be sent; it is tried again")
	return pause
}

// pause is how long the server is left alone: longer with each failure.
func (m *Mailer) pause() time.Duration {
	m.failures++
	return backoff(m.pace.down, m.pace.long, m.failures-1)
}

// noteSuccess takes note that the server took a mail.
func (m *Mailer) noteSuccess() {
	if m.failures > 0 {
		m.Log.Info().Msg("mail can be sent again")
	}
	m.failures = 0
}

// noteGivenUp tells of mail that waited too long.
func (m *Mailer) noteGivenUp(n int) {
	if n > 0 {
		m.Log.Warn().Int("mails", n).Msg("mail could not be delivered in time (mail.give_up) and is dropped")
	}
}

// backoff is how long to wait after so many tries that failed before: twice as long each
// time, and a fifth more or less, so that what failed together does not come back
// together.
func backoff(first, most time.Duration, before int) time.Duration {
	wait := first
	for range before {
		if wait *= 2; wait >= most {
			wait = most
			break
		}
	}
	return wait - wait/5 + rand.N(wait/5*2+1)
}
