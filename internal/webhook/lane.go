package webhook

import (
	"context"
	"math/rand/v2"
	"net/http"
	"time"

	"pushbox/store"
)

const settleTimeout = 5 * time.Second // for what the store is told when a turn ends

// work sends messages to one webhook, one after the other, until one cannot be
// delivered, the turn is over, or ctx ends; what is on its way then goes on as long as
// working does. What was delivered is forgotten in one step.
func (d *Dispatcher) work(ctx, working context.Context, l *lane, to store.HookTarget, ms []store.Message) {
	var done []store.Message
	for end := time.Now().Add(d.pace.turn); len(ms) > 0 && ctx.Err() == nil && time.Now().Before(end); ms = ms[1:] {
		status, err := d.send(working, to, ms[0])
		if working.Err() != nil && err != nil {
			break // it is tried again in the next run, and that was not the receiver's fault
		}
		if err != nil || !Delivered(status) {
			d.failed(l, ms[0], status, err)
			break
		}
		done = append(done, ms[0])
		d.worked(l)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()
	if err := d.Store.EndMessages(ctx, done); err != nil {
		d.Log.Error().Err(err).Msg("messages were delivered, and that could not be noted: they will be sent again")
		d.pause(l)
	}
}

// send sends one message. One that does not open is as good as delivered: no try will
// ever be better.
func (d *Dispatcher) send(ctx context.Context, to store.HookTarget, m store.Message) (status int, err error) {
	n, err := d.Store.OpenNotice(m)
	if err != nil {
		d.Log.Error().Err(err).Msg("a message is dropped")
		return http.StatusNoContent, nil
	}
	return d.Sender.Send(ctx, to, n)
}

// failed puts a message off, and leaves its webhook alone for a while. One whose
// receiver says that it is gone is disabled.
func (d *Dispatcher) failed(l *lane, m store.Message, status int, why error) {
	ctx, cancel := context.WithTimeout(context.Background(), settleTimeout)
	defer cancel()
	if status == http.StatusGone {
		d.disable(ctx, l)
		return
	}
	pause := d.pause(l)
	if l.failures == 1 {
		d.Log.Warn().Uint64("webhook", l.to).Int("status", status).AnErr("reason", why).
			Dur("pause_ms", pause).Msg("a webhook cannot be reached or refuses what it is sent; it is tried again")
	}
	again, err := d.Store.RetryMessage(ctx, m, max(pause, d.backoff(m.Attempts)))
	if err != nil {
		d.Log.Error().Err(err).Msg("a message that was not delivered could not be put off")
	} else if !again {
		d.noteGivenUp(1)
	}
}

// worked takes note that a webhook took a message.
func (d *Dispatcher) worked(l *lane) {
	if l.failures > 0 {
		d.Log.Info().Uint64("webhook", l.to).Msg("a webhook works again")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	l.failures, l.until = 0, time.Time{}
}

// pause leaves a webhook alone, longer with each failure, and returns for how long.
func (d *Dispatcher) pause(l *lane) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	l.failures++
	pause := d.backoff(l.failures - 1)
	l.until = time.Now().Add(pause)
	return pause
}

// disable has nothing more sent to a webhook. The instance's own, which is in the
// configuration, is left alone for as long as the server runs.
func (d *Dispatcher) disable(ctx context.Context, l *lane) {
	line := d.Log.Warn().Uint64("webhook", l.to)
	if l.to == 0 {
		d.mu.Lock()
		d.instance = nil
		d.mu.Unlock()
		line.Msg("the webhook of the instance answered 410, and is left alone until the server is started again")
		return
	}
	if err := d.Store.DisableHook(ctx, store.HookID(l.to), true); err != nil {
		line.AnErr("reason", err).Msg("a webhook answered 410, and could not be disabled")
		d.pause(l)
		return
	}
	line.Msg("a webhook answered 410, and is disabled")
}

// backoff is how long to wait after so many tries that failed before: twice as long
// each time, and a fifth more or less, so that what failed together does not come back
// together.
func (d *Dispatcher) backoff(before int) time.Duration {
	wait := d.pace.first
	for range before {
		if wait *= 2; wait >= d.pace.most {
			wait = d.pace.most
			break
		}
	}
	return wait - wait/5 + rand.N(wait/5*2+1)
}

// noteGivenUp tells of messages that waited too long.
func (d *Dispatcher) noteGivenUp(n int) {
	if n > 0 {
		d.Log.Warn().Int("messages", n).Msg("messages to webhooks could not be delivered in time (webhooks.give_up) and are dropped")
	}
}

// noteDropped tells now and then of messages that found no room.
func (d *Dispatcher) noteDropped() {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.Store.Dropped()
	if n == d.noted || time.Since(d.notedAt) < d.pace.quiet {
		return
	}
	d.Log.Warn().Uint64("messages", n-d.noted).Int("waiting", d.Store.Waiting()).
		Msg("messages to webhooks found no room (webhooks.queue, or space of the store) and are dropped")
	d.noted, d.notedAt = n, time.Now()
}
