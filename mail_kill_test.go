package main

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

	"pushbox/internal/mail/mailtest"
	"pushbox/internal/testenv"
)

const (
	mailSenders = 4
	mailsEach   = 20 // that one of them sends between two kills, at most
)

// TestEachAcknowledgedCreateHasItsMailSent kills a server again and again while pushes
// are created whose links go out by mail, as often as PUSHBOX_TEST_MAIL_KILLS says. In
// the end each of those creates that was answered must have had its mail sent, once at
// least; and no mail may be of a push that nobody asked for.
func TestEachAcknowledgedCreateHasItsMailSent(t *testing.T) {
	t.Parallel()
	kills, seed := testenv.Length(t, "PUSHBOX_TEST_MAIL_KILLS", 6, 2), testenv.Seed(t)
	post := mailtest.New(t, mailtest.Setup{})
	dir := t.TempDir()
	environ := []string{
		"PUSHBOX_MAIL_HOST=" + post.Host, "PUSHBOX_MAIL_PORT=" + strconv.Itoa(post.Port), "PUSHBOX_MAIL_TLS=none", "PUSHBOX_MAIL_FROM=push@example.org",
		"PUSHBOX_MAIL_DAILY_LIMIT=100000", "PUSHBOX_MAIL_DAILY_LIMIT_TOTAL=100000", "PUSHBOX_LIMITS_TOKEN_PER_MINUTE=0",
	}
	m := &mailers{bearer: apiToken(t, dir), sent: make(map[string]string)}
	rng := rand.New(rand.NewPCG(seed, 1))
	for range kills {
		server := startVictim(t, dir, environ...)
		m.reach(server.url)
		var all sync.WaitGroup
		for range mailSenders {
			all.Go(func() {
				if err := m.send(); err != nil && !errors.Is(err, errCut) {
					t.Error(err)
				}
			})
		}
		time.Sleep(20*time.Millisecond + time.Duration(rng.Int64N(int64(100*time.Millisecond)))) // that load goes on
		m.killed.Store(true)
		server.kill9()
		all.Wait()
		if t.Failed() {
			return
		}
	}
	server := startVictim(t, dir, environ...)
	m.compare(t, post)
	server.stop()
	checkFile(t, dir)
	if log := server.stderr.String(); strings.Contains(log, "@example.net") || strings.Contains(log, "/p/") {
		t.Errorf("the log tells of an address or a link:\n%s", log)
	}
}

// mailers make pushes whose links go to an address of their own each.
type mailers struct {
	caller
	bearer string

	mu    sync.Mutex
	asked int
	sent  map[string]string // the link of each create that was answered, by its address
}

// send goes on until the server is cut off, or for long enough.
func (m *mailers) send() error {
	for range mailsEach {
		m.mu.Lock()
		m.asked++
		to := fmt.Sprintf("r%d@example.net", m.asked)
		m.mu.Unlock()
		var made crashRecord
		in := map[string]map[string]string{"push": {"payload": "x", "notify_emails_to": to}}
		if err := m.call(http.MethodPost, apiPushes, m.bearer, in, http.StatusCreated, &made); err != nil {
			return err
		}
		m.mu.Lock()
		m.sent[to] = made.Token
		m.mu.Unlock()
	}
	return nil
}

// compare waits until each create's mail was taken, and fails the test unless it was, with
// the link of its push.
func (m *mailers) compare(t *testing.T, post *mailtest.Server) {
	t.Helper()
	got := make(map[string]int)
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
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
