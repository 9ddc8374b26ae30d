package webhook

import (
	"context"
	"net/http"
	"time"

	"pushbox/store"
	"pushbox/store/record"
)

// work sends messages to one webhook, one after the other, until one cannot be delivered,
// the turn is over, or ctx ends. A message that is being sent when ctx ends may continue until
// working ends. Delivered messages leave the outbox in one step.
func (d *Dispatcher) work(ctx, working context.Context, l *destination, to store.HookTarget, ms []record.Message) {
	var done []record.Message
	var tried []record.Delivery
	for end := time.Now().Add(d.tuning.turn); len(ms) > 0 && ctx.Err() == nil && time.Now().Before(end); ms = ms[1:] {
		n, err := d.Store.OpenNotice(working, ms[0]) // only now its push is read, so that no link waits in the outbox
		if err != nil {
			if working.Err() == nil {
				d.failed(l, ms[0], 0, err)
			}
			break
		}
		status, err := d.Sender.Send(working, to, n)
		if working.Err() != nil && err != nil {
			break // the next run tries again; the receiver did not fail
		}
		tried = append(tried, record.Delivery{At: time.Now().UTC().Truncate(time.Millisecond), Event: n.Event, Status: status, Fault: FaultOf(err)})
		if err != nil || !Delivered(status) {
			d.failed(l, ms[0], status, err)
			break
		}
		done = append(done, ms[0])
		d.worked(l)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), d.tuning.store)
	defer cancel()
	if err := d.Store.NoteDeliveries(ctx, record.HookID(l.to), tried); err != nil {
		d.Log.Warn().Uint64("webhook", l.to).Err(err).Msg("the tries to send messages to a webhook could not be saved")
	}
	if err := d.Store.EndMessages(ctx, done); err != nil {
		d.Log.Error().Err(err).Msg("delivered messages could not be removed from the outbox: they will be sent again")
		d.pause(l)
	}
}

func (d *Dispatcher) failed(l *destination, m record.Message, status int, why error) {
	ctx, cancel := context.WithTimeout(context.Background(), d.tuning.store)
	defer cancel()
	if status == http.StatusGone {
		d.disable(ctx, l)
		return
	}
	pause := d.pause(l)
	if l.failures == 1 {
		d.Log.Warn().Uint64("webhook", l.to).Int("status", status).AnErr("reason", why).
			Dur("pause_ms", pause).Msg("a message to a webhook was not delivered; the server tries again")
	}
	again, err := d.Store.RetryMessage(ctx, m, max(pause, d.tuning.retry.After(m.Attempts)))
	if err != nil {
		d.Log.Error().Err(err).Msg("an undelivered message could not be postponed")
	} else if !again {
		d.logMessagesGivenUp(1)
	}
}

func (d *Dispatcher) worked(l *destination) {
	if l.failures > 0 {
		d.Log.Info().Uint64("webhook", l.to).Msg("a webhook works again")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	l.failures, l.until = 0, time.Time{}
}

// pause pauses a webhook, longer with each failure, and returns for how long.
func (d *Dispatcher) pause(l *destination) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	l.failures++
	pause := d.tuning.retry.After(l.failures - 1)
	l.until = time.Now().Add(pause)
	return pause
}

// disable stops sending to a webhook. The instance's own webhook is in the configuration,
// and is disabled until the server restarts.
func (d *Dispatcher) disable(ctx context.Context, l *destination) {
	line := d.Log.Warn().Uint64("webhook", l.to)
	if l.to == 0 {
		d.mu.Lock()
		d.instance = nil
		d.mu.Unlock()
		line.Msg("the webhook of the instance answered 410, and is disabled until the server restarts")
		return
	}
	if err := d.Store.DisableHook(ctx, store.Actor{Role: store.System}, record.HookID(l.to), true); err != nil {
		line.AnErr("reason", err).Msg("a webhook answered 410, and could not be disabled")
		d.pause(l)
		return
	}
	line.Msg("a webhook answered 410, and is disabled")
}

func (d *Dispatcher) logMessagesGivenUp(n int) {
	if n > 0 {
		d.given.Add(uint64(n))
		d.Log.Warn().Int("messages", n).Msg("messages to webhooks could not be delivered in time (webhooks.give_up) and are dropped")
	}
}

func (d *Dispatcher) noteDropped() {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.Store.Dropped()
	if n == d.noted || time.Since(d.notedAt) < d.tuning.quiet {
		return
	}
	d.Log.Warn().Uint64("messages", n-d.noted).Int("waiting", d.Store.Waiting()).
		Msg("messages to webhooks are dropped: the outbox is full (webhooks.queue), or the store is")
	d.noted, d.notedAt = n, time.Now()
}
