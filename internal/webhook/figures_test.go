package webhook

import (
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"pushbox/internal/testkit/env"
	"pushbox/store/record"
)

func TestAWebhookThatFailsIsNamedUntilItWorks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var works atomic.Bool
	r := newReceiver(t, func(post, int) int {
		if works.Load() {
			return http.StatusOK
		}
		return http.StatusInternalServerError
	})
	h := w.hook(r.URL + "/marker")
	w.views(2)
	w.start()
	var failing []Failing
	for end := time.Now().Add(env.Patience); len(failing) == 0 || failing[0].Tries < 2; time.Sleep(time.Millisecond) {
		if failing = w.sender.Failing(); time.Now().After(end) {
			t.Fatalf("it says %+v", failing)
		}
	}
	if len(failing) != 1 || failing[0].ID != h.ID || failing[0].Next.IsZero() {
		t.Errorf("it says %+v", failing)
	}
	if n, mail, its := w.WaitingBy(record.ByWebhook), w.WaitingBy(record.ByMail), w.WaitingFor(h.ID); n != 2 || mail != 0 || its != 2 || w.WaitingFor(h.ID+1) != 0 {
		t.Errorf("%d messages wait, %d mails, %d for the webhook", n, mail, its)
	}
	works.Store(true)
	w.drained()
	w.stop()
	if failing, n := w.sender.Failing(), w.sender.Dropped(); len(failing) > 0 || n > 0 {
		t.Errorf("it says %+v, and %d were dropped", failing, n)
	}
}
