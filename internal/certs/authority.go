package certs

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mholt/acmez/v3/acme"

	"pushbox/config"
	"pushbox/internal/durable"
)

const (
	firstRetry   = 2 * time.Minute // after an order failed; the wait doubles with each failure
	lastRetry    = time.Hour       // a CA may allow no more than five failures an hour
	longestLook  = time.Hour
	orderTime    = 5 * time.Minute // for a whole order
	adviceTime   = 30 * time.Second
	adviceEvery  = 6 * time.Hour
	renewAtMost  = 30 * 24 * time.Hour // before a certificate expires
	renewAtThird = 3                   // at a third of its validity, if that is less
	settleTime   = time.Hour           // for which a new certificate is not replaced, whatever the advice
)

// An authority fetches and renews certificates of one certificate authority.
type authority struct {
	cfg     config.ACME
	overTCP bool // plain HTTP is answered, too
	files   files
	proofs  *proofs
	tell    func(Event)
	now     func() time.Time

	byName map[string]*domain // as the settings have it
	all    []*domain          // in the order of the settings
}

// A domain is one name with its certificate.
type domain struct {
	name string

	mu       sync.Mutex
	cert     *tls.Certificate // nil: none yet
	obtained time.Time        // zero: before this process began
	next     time.Time        // of the next look
	failures int              // failed orders in a row
	advice   acme.RenewalInfo // zero: none
	asked    time.Time        // when the advice was asked for
}

func openAuthority(t config.TLS, root string, o Options) (*authority, error) {
	f, err := openFiles(root, t.ACME.DirectoryURL)
	if err != nil {
		return nil, fmt.Errorf("make the directory of certificates: %w", err)
	}
	a := &authority{
		cfg: t.ACME, overTCP: t.RedirectListen != "", files: f, proofs: new(proofs),
		tell: o.Tell, now: o.Now, byName: make(map[string]*domain),
	}
	if _, err := a.roots(); err != nil {
		return nil, err
	}
	for _, name := range t.ACME.Domains {
		d := &domain{name: name}
		switch d.cert, err = f.load(name); {
		case errors.Is(err, fs.ErrPermission):
			return nil, err
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			a.tell(Event{Text: "a saved certificate cannot be used; a new one is ordered", Domain: name, Err: err})
		}
		a.byName[name] = d
		a.all = append(a.all, d)
	}
	return a, nil
}

// find returns the certificate of the name that the client asks for. A client that asks for
// no name, or for another, gets that of the main name, and sees for itself that it does not
// fit.
func (a *authority) find(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	name := strings.ToLower(strings.TrimSuffix(hello.ServerName, "."))
	if len(hello.SupportedProtos) == 1 && hello.SupportedProtos[0] == challengeProtocol {
		return a.proofs.certificate(name)
	}
	d := a.byName[name]
	if d == nil {
		d = a.all[0]
	}
	if cert := d.current(); cert != nil {
		return cert, nil
	}
	return nil, errors.New("there is no certificate for " + d.name + " yet")
}

func (d *domain) current() *tls.Certificate {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.cert
}

// look fetches missing certificates and renews due ones, one after the other.
func (a *authority) look(ctx context.Context) time.Duration {
	wait := longestLook
	for _, d := range a.all {
		if ctx.Err() == nil && a.due(ctx, d) {
			a.renew(ctx, d)
		}
		wait = min(wait, d.until().Sub(a.now()))
	}
	return max(0, wait)
}

func (d *domain) until() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.next
}

// due reports whether to order a certificate now.
func (a *authority) due(ctx context.Context, d *domain) bool {
	if a.now().Before(d.until()) {
		return false
	}
	cert := d.current()
	if cert == nil {
		return true
	}
	a.takeAdvice(ctx, d, cert.Leaf)
	d.mu.Lock()
	defer d.mu.Unlock()
	at := d.advised(cert.Leaf)
	d.next = earlier(at, d.asked.Add(adviceEvery))
	return !a.now().Before(at)
}

// plan returns when to renew a certificate without advice. Half of the validity that a new
// one has left must pass first: with a wrong clock one order would follow the other. The
// caller holds the mutex.
func (d *domain) plan(leaf *x509.Certificate) time.Time {
	early := min(leaf.NotAfter.Sub(leaf.NotBefore)/renewAtThird, renewAtMost)
	at := leaf.NotAfter.Add(-early)
	if d.obtained.IsZero() {
		return at
	}
	return later(at, d.obtained.Add(leaf.NotAfter.Sub(d.obtained)/2))
}

// advised returns the plan, or the time that the authority asks for if that is earlier. The
// caller holds the mutex.
func (d *domain) advised(leaf *x509.Certificate) time.Time {
	plan, wish := d.plan(leaf), d.advice.SelectedTime
	if wish.IsZero() {
		return plan
	}
	settled := later(d.obtained, leaf.NotBefore).Add(settleTime)
	return earlier(plan, later(wish, settled))
}

func earlier(times ...time.Time) time.Time { return slices.MinFunc(times, time.Time.Compare) }
func later(times ...time.Time) time.Time   { return slices.MaxFunc(times, time.Time.Compare) }

// renew orders a certificate and serves it. If that fails, the old one stays in use.
func (a *authority) renew(ctx context.Context, d *domain) {
	text, err := a.order(ctx, d)
	if ctx.Err() != nil {
		return // the server is stopping
	}
	var cert *tls.Certificate
	if err == nil {
		cert, err = certificateFor(d.name, text)
	}
	if err == nil && a.now().After(cert.Leaf.NotAfter) {
		err = errClock
	}
	if err != nil {
		a.tell(d.failed(a.now(), err))
		return
	}
	err = durable.WriteFile(a.files.certificate(d.name), text)
	a.tell(d.served(cert, a.now()))
	if err != nil {
		a.tell(Event{
			Text: "a certificate could not be saved, so a restart orders it again", Domain: d.name, Err: err,
			Expires: cert.Leaf.NotAfter, Hint: "check the directory acme in data_dir: it needs some free space, and must belong to the server's user",
		})
	}
	clear(text)
}

var errClock = errors.New("the new certificate has already expired: check this machine's clock")

// failed records a failed order, and sets the time of the next try.
func (d *domain) failed(now time.Time, err error) Event {
	d.mu.Lock()
	defer d.mu.Unlock()
	wait := lastRetry
	if d.failures < 5 {
		wait = min(lastRetry, firstRetry<<d.failures)
	}
	d.failures++
	d.next = now.Add(wait)
	e := Event{Domain: d.name, Err: err, Hint: explain(err) + "; pushbox tries again in " + wait.String()}
	if d.cert == nil {
		e.Text = "no certificate could be fetched, and there is no HTTPS for this domain"
		return e
	}
	e.Text, e.Expires = "a certificate could not be renewed; the old one stays in use", d.cert.Leaf.NotAfter
	if now.After(e.Expires) {
		e.Text = "a certificate has expired and could not be renewed; browsers refuse it"
	}
	return e
}

// served puts a new certificate in use. The next look asks how long to keep it.
func (d *domain) served(cert *tls.Certificate, now time.Time) Event {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.cert, d.obtained, d.next, d.failures, d.advice, d.asked = cert, now, now, 0, acme.RenewalInfo{}, time.Time{}
	return Event{Text: "a certificate was fetched", Domain: d.name, Expires: cert.Leaf.NotAfter}
}

func (a *authority) reload() error {
	if _, err := a.roots(); err != nil {
		return err
	}
	for _, d := range a.all {
		d.mu.Lock()
		if d.failures > 0 {
			d.next, d.failures = time.Time{}, 0
		}
		d.mu.Unlock()
	}
	return nil
}

func (a *authority) leaves() []*x509.Certificate {
	var all []*x509.Certificate
	for _, d := range a.all {
		if cert := d.current(); cert != nil {
			all = append(all, cert.Leaf)
		}
	}
	return all
}

func (a *authority) names() []string { return slices.Clone(a.cfg.Domains) }

func (a *authority) answer(host, token string) (string, bool) {
	text, ok := a.proofs.texts.Load([2]string{host, token})
	proof, _ := text.(string)
	return proof, ok
}
