package webhook

import (
	"encoding/base64"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pushbox/internal/testkit/env"
	"pushbox/store/record"

	"pushbox/internal/secret"
	"pushbox/server/display"
)

func TestTimesAreThoseOfTheAPI(t *testing.T) {
	t.Parallel()
	if timeFormat != display.StampLayout {
		t.Errorf("webhooks write times as %s, the API as %s", timeFormat, display.StampLayout)
	}
}

// The example of the specification's own libraries.
func TestTheSignatureIsThatOfTheSpecification(t *testing.T) {
	t.Parallel()
	stamp, signature, err := sign(secret.New("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"), "msg_p5jXN8AQM9LWM0D4loKWxJek",
		time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`))
	if err != nil || stamp != "1614265330" || signature != "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=" {
		t.Errorf("got %s %s, %v", stamp, signature, err)
	}
}

func TestASecretHasAKeyOfItsLength(t *testing.T) {
	t.Parallel()
	of := func(n int) string { return "whsec_" + base64.StdEncoding.EncodeToString(make([]byte, n)) }
	for text, ok := range map[string]bool{
		of(23): false, of(24): true, of(32): true, of(64): true, of(65): false, "": false, "whsec_": false,
		strings.TrimPrefix(of(32), "whsec_"): false, of(32) + "!": false, strings.ToUpper(of(32)): false,
	} {
		if err := CheckSecret(secret.New(text)); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
}

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
