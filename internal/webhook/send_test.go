package webhook

import (
	"encoding/base64"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/server/display"
	"pushbox/store"
	"pushbox/store/record"
)

func TestAMessageIsSentAndSigned(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, nil)
	s := patientSender(loopback(), nil)
	defer s.Close()
	n := store.Notice{
		ID: "msg_1", Event: record.EventExpire, At: birth, Push: record.ID{1, 21: 2}, Kind: record.URL, Views: 2, ViewLimit: 2,
		Cause: store.CauseViews, IP: "192.0.2.1", UserAgent: `a "browser"`, Name: secret.New("name"), URLToken: secret.New("token"),
	}
	status, err := s.Send(t.Context(), targetOf(r.URL+"/secret-path"), n)
	if err != nil || status != http.StatusNoContent || !Delivered(status) {
		t.Fatalf("status %d, %v", status, err)
	}
	p := r.next(t)
	const want = `{"event":"expire","time":"2026-01-01T00:00:00.000Z","push_id":"01000000000000000000000000000000000000000002","kind":"url",` +
		`"views":2,"views_remaining":0,"cause":"views","ip":"192.0.2.1","user_agent":"a \"browser\"","name":"name","url_token":"token"}`
	if string(p.body) != want {
		t.Errorf("the body is\n%s, not\n%s", p.body, want)
	}
	if !p.verified() || p.header.Get("webhook-id") != "msg_1" || p.header.Get("content-type") != "application/json" || p.path != "/secret-path" {
		t.Errorf("it came to %s with %v", p.path, p.header)
	}
	foreign := secret.New("whsec_" + base64.StdEncoding.EncodeToString(make([]byte, 32)))
	env.Must(s.Send(t.Context(), store.HookTarget{URL: secret.New(r.URL), Secret: foreign}, TestNotice(birth)))(t)
	if p = r.next(t); p.verified() || string(p.body) != `{"event":"test","time":"2026-01-01T00:00:00.000Z"}` {
		t.Errorf("a test is %s, verified by another secret: %v", p.body, p.verified())
	}
}

func TestARedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, func(post, int) int { return http.StatusTemporaryRedirect })
	s := patientSender(loopback(), nil)
	defer s.Close()
	status, err := s.Send(t.Context(), targetOf(r.URL), TestNotice(birth))
	if err != nil || status != http.StatusTemporaryRedirect || Delivered(status) || r.seen != 1 {
		t.Errorf("status %d after %d requests, %v", status, r.seen, err)
	}
}

func TestWhatANameResolvesToIsCheckedForEachConnection(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, nil)
	port := r.URL[strings.LastIndex(r.URL, ":"):]
	for name, c := range map[string]struct {
		policy Policy
		lists  [][]string
		want   []string // the outcome of each message, in order
	}{
		"loopback":          {Policy{Public: true, Hosts: []string{"other.example"}}, [][]string{{"127.0.0.1"}}, []string{"permit"}},
		"by way of IPv6":    {Policy{Public: true}, [][]string{{"::ffff:127.0.0.1", "::1"}}, []string{"permit"}},
		"metadata":          {Policy{Public: true, Hosts: []string{"hooks.example"}}, [][]string{{"169.254.169.254", "fd00:ec2::254"}}, []string{"permit"}},
		"named":             {Policy{Hosts: []string{"hooks.example"}}, [][]string{{"127.0.0.1"}}, []string{"204"}},
		"in a network":      {Policy{Networks: prefixes("127.0.0.0/8"), Hosts: []string{"hooks.example"}}, [][]string{{"127.0.0.1"}}, []string{"204"}},
		"one of them":       {Policy{Hosts: []string{"hooks.example"}}, [][]string{{"169.254.169.254", "127.0.0.1"}}, []string{"204"}},
		"rebound meanwhile": {Policy{Hosts: []string{"hooks.example"}}, [][]string{{"127.0.0.1"}, {"169.254.169.254"}, {"127.0.0.1"}}, []string{"204", "permit", "204"}},
		"no address":        {Policy{Hosts: []string{"hooks.example"}}, [][]string{{}}, []string{"resolve"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := patientSender(c.policy, (&names{t: t, lists: c.lists}).resolver())
			defer s.Close()
			scheme := "http://"
			if !c.policy.names("hooks.example") {
				scheme = "https://"
			}
			for i, want := range c.want {
				status, err := s.Send(t.Context(), targetOf(scheme+"hooks.example"+port), TestNotice(birth))
				got := http.StatusText(status)
				if err != nil {
					got = err.Error()
				} else if status == http.StatusNoContent {
					got = "204"
				}
				if !strings.Contains(got, want) {
					t.Errorf("message %d: %s, not %s", i, got, want)
				}
				s.Close() // the next one makes a connection of its own
			}
		})
	}
}

func TestNoProxyStandsBetween(t *testing.T) {
	t.Parallel()
	if tr := NewSender(loopback(), Words{}, nil).client.Transport.(*http.Transport); tr.Proxy != nil {
		t.Error("a proxy may be asked for")
	}
}

func TestWhyAMessageWasNotSentIsToldWithoutItsURL(t *testing.T) {
	t.Parallel()
	silent := env.Listen(t)
	garbage := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		c, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			_, _ = c.Write([]byte("marker\r\n\r\n"))
			_ = c.Close()
		}
	}))
	defer garbage.Close()
	encrypted := httptest.NewTLSServer(http.NotFoundHandler())
	defer encrypted.Close()
	s := patientSender(loopback(), nil)
	defer s.Close()
	for address, want := range map[string]string{
		"http://" + env.FreeAddress(t):                    "refuses connections",
		"http://" + silent.Addr().String():                "did not answer within",
		garbage.URL:                                       "broke before it answered",
		encrypted.URL:                                     "certificate is not valid",
		"https" + strings.TrimPrefix(garbage.URL, "http"): "its TLS does not work",
		"https://10.0.0.1":                                "does not permit",
		"http://hooks.example.com":                        "must be https",
	} {
		s.client.Timeout = env.Patience
		if strings.HasSuffix(address, silent.Addr().String()) { // the others answer, however busy the machine is
			s.client.Timeout = 300 * time.Millisecond
		}
		status, err := s.Send(t.Context(), targetOf(address+"/marker"), TestNotice(birth))
		if err == nil || status != 0 || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "marker") {
			t.Errorf("%s: %d, %v, not %s", address, status, err, want)
		}
		if u := (*url.Error)(nil); errors.As(err, &u) {
			t.Errorf("%s: the error holds the URL", address)
		}
	}
}

// An answer that has no end takes no longer than what is read of it.
func TestALongAnswerIsNotReadToItsEnd(t *testing.T) {
	t.Parallel()
	written := make(chan int, 1)
	endless := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		n, part := 0, make([]byte, 64<<10)
		for q.Context().Err() == nil {
			wrote, err := w.Write(part)
			if n += wrote; err != nil {
				break
			}
		}
		written <- n
	}))
	defer endless.Close()
	s := patientSender(loopback(), nil)
	defer s.Close()
	if status, err := s.Send(t.Context(), targetOf(endless.URL), TestNotice(birth)); err != nil || status != http.StatusOK {
		t.Errorf("status %d, %v", status, err)
	}
	select {
	case n := <-written:
		if n > 64<<20 {
			t.Errorf("%d bytes were taken", n)
		}
	case <-time.After(env.Patience):
		t.Error("the connection stays open")
	}
}

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
