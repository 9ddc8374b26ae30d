package cli

import (
	"context"
	"time"
)

// feed feeds the watchdog of the service manager, by alive, every so often, while
// ping, which has as long, goes well.
func (w *watch) feed(ctx context.Context, every time.Duration, ping func(context.Context) error, alive func() error) error {
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
		}
		if err := within(ctx, every, ping); err != nil {
			w.log.Error().Err(err).Msg("the store does not answer: the watchdog is not fed")
			continue
		}
		w.tell(alive)
	}
}

func within(ctx context.Context, d time.Duration, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	return f(ctx)
}
