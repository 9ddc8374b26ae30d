package directory

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/go-ldap/ldap/v3"

	"pushbox/internal/hint"
)

// A Line asks the directory one question after the other, over one connection as long as that
// lasts. It is not safe for concurrent use.
type Line struct {
	d    *Directory
	c    *ldap.Conn    // nil: there is none
	left *atomic.Int64 // bytes that may still come in answer to the question
}

// Line returns one, which connects when it is asked.
func (d *Directory) Line() *Line { return &Line{d: d, left: new(atomic.Int64)} }

// Close ends the connection.
func (l *Line) Close() {
	if l.c != nil {
		_ = l.c.Close() // it was only asked
		l.c = nil
	}
}

// Find reads the person of an ID again. The errors are ErrGone, ErrNotAllowed, *PersonError and
// *UnavailableError.
func (l *Line) Find(ctx context.Context, id string) (p Person, err error) {
	d := l.d
	value := ldap.EscapeFilter(id)
	if d.binaryID() {
		b, err := hex.DecodeString(id)
		if err != nil {
			return p, &PersonError{"the stored ID is not a valid " + d.opt.IDAttribute}
		}
		value = ""
		for _, c := range b {
			value += fmt.Sprintf(`\%02x`, c)
		}
	}
	return p, l.ask(ctx, func(c *ldap.Conn) error {
		e, err := d.find(c, "("+d.opt.IDAttribute+"="+value+")", "the "+d.opt.IDAttribute)
		if err != nil {
			return err
		}
		p, err = d.person(c, e)
		return err
	})
}

// ask sends one query over a separate connection.
func (d *Directory) ask(ctx context.Context, f func(*ldap.Conn) error) error {
	l := d.Line()
	defer l.Close()
	return l.ask(ctx, f)
}

// ask calls f with a connection of the account that searches. A connection that has ended since
// the question before is replaced. Errors of the connection become an *UnavailableError.
func (l *Line) ask(ctx context.Context, f func(*ldap.Conn) error) error {
	select {
	case l.d.asking <- struct{}{}:
		defer func() { <-l.d.asking }()
	case <-ctx.Done():
		return &UnavailableError{context.Cause(ctx)}
	}
	old := l.c != nil
	err := l.try(ctx, f)
	if old && l.c == nil && ctx.Err() == nil {
		err = l.try(ctx, f)
	}
	return err
}

// try is ask without another try. After an *UnavailableError there is no connection.
func (l *Line) try(ctx context.Context, f func(*ldap.Conn) error) (err error) {
	l.left.Store(maxAnswers)
	isNew := l.c == nil
	if isNew {
		if l.c, err = l.d.connect(ctx, l.left); err != nil {
			l.c = nil
			return &UnavailableError{hint.With(err, "%s", cureOf(err))}
		}
	}
	c := l.c
	stop := context.AfterFunc(ctx, func() { _ = c.Close() }) // ends waiting calls
	if isNew {
		err = l.d.bind(c)
	}
	if err == nil {
		err = f(c)
	}
	ended := !stop()
	_, unclear := errors.AsType[*PersonError](err)
	isAnswer := err == nil || unclear || errors.Is(err, ErrCredentials) || errors.Is(err, ErrNotAllowed) || errors.Is(err, ErrGone) || errors.Is(err, errUnfit)
	if ended || !isAnswer {
		l.Close()
	}
	switch {
	case isAnswer:
		return err
	case ctx.Err() != nil:
		return &UnavailableError{context.Cause(ctx)}
	default:
		return &UnavailableError{err}
	}
}

func cureOf(err error) string {
	if strings.Contains(err.Error(), x509.UnknownAuthorityError{}.Error()) { // StartTLS has the text alone
		return "name the certificate of the authority that signed the directory's in ldap.ca_file"
	}
	if errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, context.DeadlineExceeded) {
		return "start the directory, or check the network between; else correct ldap.url: ldaps:// is for port 636, ldap:// for port 389"
	}
	return "correct ldap.url: ldaps:// is for port 636, ldap:// for port 389, and the certificate must have the host's name"
}

// bounded reads at most the remaining bytes, so that an answer cannot fill the memory.
type bounded struct {
	net.Conn
	left *atomic.Int64
}

func (b bounded) Read(p []byte) (int, error) {
	n, err := b.Conn.Read(p)
	if b.left.Add(-int64(n)) < 0 {
		return 0, errors.New("its answer is too long")
	}
	return n, err
}

func (d *Directory) connect(ctx context.Context, left *atomic.Int64) (*ldap.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	t := &tls.Config{ServerName: d.host, RootCAs: d.opt.Roots, MinVersion: tls.VersionTLS12}
	raw, err := (&net.Dialer{}).DialContext(ctx, "tcp", d.address)
	if err != nil {
		return nil, err
	}
	raw = bounded{raw, left}
	stop := context.AfterFunc(ctx, func() { _ = raw.Close() }) // StartTLS has no deadline
	defer stop()
	if d.tls {
		secured := tls.Client(raw, t)
		if err := secured.HandshakeContext(ctx); err != nil {
			_ = raw.Close()
			return nil, err
		}
		raw = secured
	}
	c := ldap.NewConn(raw, d.tls)
	c.SetTimeout(answerTimeout)
	c.Start()
	if !d.tls {
		if err := c.StartTLS(t); err != nil {
			_ = c.Close()
			return nil, err
		}
	}
	return c, nil
}

// bind makes the account that searches that of the connection.
func (d *Directory) bind(c *ldap.Conn) error {
	if d.opt.BindDN == "" {
		return c.UnauthenticatedBind("")
	}
	if err := c.Bind(d.opt.BindDN, d.opt.BindPassword.Reveal()); err != nil {
		return hint.With(fmt.Errorf("the account that searches cannot bind: %w", err), "correct ldap.bind_dn or its password")
	}
	return nil
}

func refuses(err error) bool {
	return ldap.IsErrorAnyOf(err, ldap.LDAPResultInvalidCredentials, ldap.LDAPResultInappropriateAuthentication, ldap.LDAPResultInvalidDNSyntax,
		ldap.LDAPResultNoSuchObject, ldap.LDAPResultUnwillingToPerform, ldap.LDAPResultConstraintViolation, ldap.LDAPResultInsufficientAccessRights)
}

// ofActiveDirectory has the reasons of Active Directory for refusals, other than wrong passwords
// (https://learn.microsoft.com/windows/win32/debug/system-error-codes--1300-1699-).
var ofActiveDirectory = map[string]string{
	"530": "the person may not sign in at this time", "531": "the person may not sign in at this computer",
	"532": "the password has expired", "533": "the account in the directory is disabled", "701": "the account in the directory has expired",
	"773": "the person must change the password first", "775": "the account in the directory is locked",
}

var ofActiveDirectoryCode = regexp.MustCompile(`AcceptSecurityContext error, data ([0-9a-f]+)`)

func whyRefused(err error) string {
	if code := ofActiveDirectoryCode.FindStringSubmatch(err.Error()); code != nil && ofActiveDirectory[code[1]] != "" {
		return ofActiveDirectory[code[1]]
	}
	return "the password is wrong"
}
