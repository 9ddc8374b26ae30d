package kill

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pushbox/internal/proctest"
	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/mailtest"
)

const (
	mailSenders = 4
	mailsEach   = 20 // at most; what each sends between two kills
)

// TestEachAcknowledgedCreateHasItsMailSent kills a server PUSHBOX_TEST_MAIL_KILLS times
// while clients create pushes whose links go out by mail. In the end the mail of each
// create that was answered must have been sent at least once, and no mail may be about
// a push that was not created.
func TestEachAcknowledgedCreateHasItsMailSent(t *testing.T) {
	t.Parallel()
	kills, seed := env.Length(t, "PUSHBOX_TEST_MAIL_KILLS"), env.Seed(t)
	post := mailtest.New(t, mailtest.Setup{})
	dir := t.TempDir()
	environ := []string{
		"PUSHBOX_MAIL_HOST=" + post.Host, "PUSHBOX_MAIL_PORT=" + strconv.Itoa(post.Port), "PUSHBOX_MAIL_TLS=none", "PUSHBOX_MAIL_FROM=push@example.org", "PUSHBOX_BASE_URL=https://push.example.org",
		"PUSHBOX_MAIL_DAILY_LIMIT=100000", "PUSHBOX_MAIL_DAILY_LIMIT_TOTAL=100000", "PUSHBOX_LIMITS_TOKEN_PER_MINUTE=0",
	}
	m := &mailers{bearer: proctest.APIToken(t, dir), sent: make(map[string]string)}
	rng := rand.New(rand.NewPCG(seed, 1))
	for range kills {
		server := proctest.StartServer(t, dir, environ...)
		m.Reach(server.URL)
		var all sync.WaitGroup
		for range mailSenders {
			all.Go(func() {
				if err := m.send(); err != nil && !errors.Is(err, proctest.ErrCut) {
					t.Error(err)
				}
			})
		}
		before := m.answered()
		env.Eventually(t, "a create is answered", func() bool { return m.answered() > before })
		time.Sleep(time.Duration(rng.Int64N(int64(100 * time.Millisecond)))) // so that the load continues
		m.Killed.Store(true)
		server.KillNow()
		all.Wait()
		if t.Failed() {
			return
		}
	}
	server := proctest.StartServer(t, dir, environ...)
	m.compare(t, post)
	server.Stop()
	proctest.CheckFile(t, dir)
	if log := server.Log(); strings.Contains(log, "@example.net") || strings.Contains(log, "/p/") {
		t.Errorf("the log has an address or a link:\n%s", log)
	}
}

// mailers create pushes, each with an address of its own for its link.
type mailers struct {
	proctest.Caller
	bearer string

	mu    sync.Mutex
	asked int
	sent  map[string]string // the link of each create that was answered, by its address
}

// answered is how many creates were answered so far.
func (m *mailers) answered() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.sent)
}

// send creates pushes until the server is cut off, or for long enough.
func (m *mailers) send() error {
	for range mailsEach {
		m.mu.Lock()
		m.asked++
		to := fmt.Sprintf("r%d@example.net", m.asked)
		m.mu.Unlock()
		var made proctest.Record
		in := map[string]map[string]string{"push": {"payload": "x", "notify_emails_to": to}}
		if err := m.Call(http.MethodPost, proctest.PushesPath, m.bearer, in, http.StatusCreated, &made); err != nil {
			return err
		}
		m.mu.Lock()
		m.sent[to] = made.Token
		m.mu.Unlock()
	}
	return nil
}

// compare waits until the mail of each create was accepted. It fails the test if one is
// missing or has another link than its push.
func (m *mailers) compare(t *testing.T, post *mailtest.Server) {
	t.Helper()
	got := make(map[string]int)
	for end := time.Now().Add(proctest.Patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		clear(got)
		for _, mail := range post.Mails() {
			got[mail.To]++
		}
		missing := 0
		for to := range m.sent {
			if got[to] == 0 {
				missing++
			}
		}
		if missing == 0 {
			break
		}
	}
	again := 0
	for to := range m.sent {
		if got[to] == 0 {
			t.Errorf("the mail to %s was not sent", to)
		}
		again += max(0, got[to]-1)
	}
	for _, mail := range post.Mails() {
		token, answered := m.sent[mail.To]
		raw := strings.ReplaceAll(string(mail.Raw), "=\r\n", "")
		if answered && !strings.Contains(raw, "/p/"+token+"/r") || !strings.HasSuffix(mail.To, "@example.net") {
			t.Errorf("to %s came\n%s", mail.To, mail.Raw)
		}
	}
	t.Logf("%d creates were answered of %d, %d mails came again", len(m.sent), m.asked, again)
}
