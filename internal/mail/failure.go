package mail

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/textproto"
	"os"
	"strings"
	"syscall"
	"time"

	gomail "github.com/wneessen/go-mail"
)

// A Failure says why mail could not be sent. Its text contains nothing of the mail, and
// nothing of the server's answer, which often repeats an address.
type Failure struct {
	Code      int  // of the server's answer; 0: there was none
	Session   bool // it is not about this mail: other mails would fail now, too
	Permanent bool // the server will never take this mail

	words string
	err   error
}

func (f *Failure) Error() string { return f.words }

// Detail returns the message of the server or the system, for an administrator who may see
// the address; empty if there was none.
func (f *Failure) Detail() string {
	if f.err == nil {
		return ""
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, f.err.Error())
}

// errStartTLS is a part of the library's error when a server does not offer STARTTLS. The
// library has no error value for that.
const errStartTLS = "does not support STARTTLS"

const errAuth = "does not support SMTP AUTH"

func connectFailure(ctx context.Context, err error) *Failure {
	f := &Failure{Session: true, err: err}
	if reply, ok := errors.AsType[*textproto.Error](err); ok {
		f.Code = reply.Code
	}
	network, _ := errors.AsType[net.Error](err)
	switch {
	case ctx.Err() != nil:
		f.words = "the server is stopping"
	case is[*net.DNSError](err):
		f.words = "the name of the mail server (mail.host) does not resolve"
	case is[x509.HostnameError](err):
		f.words = "the mail server's certificate is for another name than mail.host"
	case is[*tls.CertificateVerificationError](err), is[x509.UnknownAuthorityError](err):
		f.words = "the mail server's certificate is not valid, or its authority is not trusted here (mail.ca_file)"
	case strings.Contains(err.Error(), errStartTLS):
		f.words = "the mail server does not offer STARTTLS, which mail.tls requires"
	case is[tls.RecordHeaderError](err), is[tls.AlertError](err):
		f.words = "the mail server does not use TLS as mail.tls says, or the port is wrong"
	case strings.Contains(err.Error(), errAuth), errors.Is(err, gomail.ErrNoSupportedAuthDiscovered):
		f.words = "the mail server offers no supported way to sign in (mail.user)"
	case f.Code/100 == 4:
		f.words = "the mail server accepts no mail now"
	case strings.Contains(err.Error(), "SMTP AUTH failed"):
		f.words = "the mail server refuses mail.user and its password"
	case network != nil && network.Timeout(), errors.Is(err, os.ErrDeadlineExceeded):
		f.words = "the mail server did not answer in time"
	case errors.Is(err, syscall.ECONNREFUSED):
		f.words = "the mail server refuses connections (mail.host, mail.port)"
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		f.words = "the mail server cannot be reached from here"
	case f.Code != 0:
		f.words = "the mail server refuses mail from here"
	default:
		f.words = "the connection to the mail server broke"
	}
	return f
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

func sendFailure(ctx context.Context, err error) *Failure {
	f := &Failure{err: err}
	sent, ok := errors.AsType[*gomail.SendError](err)
	if !ok || ctx.Err() != nil {
		f.Session, f.words = true, "the connection to the mail server broke"
		return f
	}
	f.Code = sent.ErrorCode()
	switch {
	case f.Code == 0, f.Code == 421:
		f.Session, f.words = true, "the connection to the mail server broke"
	case sent.Reason == gomail.ErrSMTPMailFrom:
		f.Session, f.words = true, "the mail server refuses mail from the address mail.from"
	case sent.Reason == gomail.ErrConnCheck:
		f.Session, f.words = true, "the mail server accepts no mail now"
	case f.Code >= 500:
		f.Permanent, f.words = true, "the mail server refuses the mail permanently"
	default:
		f.words = "the mail server refuses the mail for now"
	}
	return f
}

func (m *Mailer) noteFailure(ctx context.Context, f *Failure) time.Duration {
	if ctx.Err() != nil {
		return 0
	}
	pause, line := m.pause(), m.Log.Warn().Err(f)
	if f.Code != 0 {
		line = line.Int("code", f.Code)
	}
	line.Dur("pause_ms", pause).Msg("mail cannot be sent; the server tries again")
	return pause
}

func (m *Mailer) pause() time.Duration {
	return m.tuning.server.After(int(m.failures.Add(1)) - 1)
}

func (m *Mailer) noteSuccess() {
	if m.failures.Swap(0) > 0 {
		m.Log.Info().Msg("mail can be sent again")
	}
}

func (m *Mailer) logMailsGivenUp(n int) {
	if n > 0 {
		m.dropped.Add(uint64(n))
		m.Log.Warn().Int("mails", n).Msg("mail could not be delivered in time (mail.give_up) and is dropped")
	}
}
