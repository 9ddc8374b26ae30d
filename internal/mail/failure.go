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

	gomail "github.com/wneessen/go-mail"
)

// A Failure is why mail could not be sent. Its text holds nothing of what was to be sent,
// nor of what the server said, which often repeats an address.
type Failure struct {
	Code      int  // of the server's answer; 0: there was none
	Session   bool // it is not about this mail: others would fare no better now
	Permanent bool // this mail will never be taken

	words string
	err   error
}

func (f *Failure) Error() string { return f.words }

// Detail is what the server or the system said, for whoever may see the address and
// runs the server; empty if nothing was said.
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

// errStartTLS is what the library says where a server offers no STARTTLS; it has no
// error of its own for that.
const errStartTLS = "does not support STARTTLS"

// errAuth is the same for a server that nobody can sign in to.
const errAuth = "does not support SMTP AUTH"

// connectFailure says why there is no connection over which mail can be sent.
func connectFailure(ctx context.Context, err error) *Failure {
	f := &Failure{Session: true, err: err}
	var (
		lookup *net.DNSError
		cert   *tls.CertificateVerificationError
		roots  x509.UnknownAuthorityError
		name   x509.HostnameError
		header tls.RecordHeaderError
		alert  tls.AlertError
		slow   net.Error
		reply  *textproto.Error
	)
	if errors.As(err, &reply) {
		f.Code = reply.Code
	}
	switch {
	case ctx.Err() != nil:
		f.words = "the server is stopping"
	case errors.As(err, &lookup):
		f.words = "the name of the mail server (mail.host) does not resolve"
	case errors.As(err, &name):
		f.words = "the mail server's certificate is for another name than mail.host"
	case errors.As(err, &cert), errors.As(err, &roots):
		f.words = "the mail server's certificate is not valid, or of an authority that is not known here (mail.ca_file)"
	case strings.Contains(err.Error(), errStartTLS):
		f.words = "the mail server does not offer STARTTLS, which mail.tls asks for"
	case errors.As(err, &header), errors.As(err, &alert):
		f.words = "the mail server does not speak TLS as mail.tls says, or this is not its port"
	case strings.Contains(err.Error(), errAuth), errors.Is(err, gomail.ErrNoSupportedAuthDiscovered):
		f.words = "the mail server offers no way to sign in that can be used (mail.user)"
	case f.Code/100 == 4:
		f.words = "the mail server takes no mail now"
	case strings.Contains(err.Error(), "SMTP AUTH failed"):
		f.words = "the mail server refuses mail.user and its password"
	case errors.As(err, &slow) && slow.Timeout(), errors.Is(err, os.ErrDeadlineExceeded):
		f.words = "the mail server did not answer in time"
	case errors.Is(err, syscall.ECONNREFUSED):
		f.words = "the mail server refuses connections (mail.host, mail.port)"
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		f.words = "the mail server cannot be reached from here"
	case f.Code != 0:
		f.words = "the mail server refuses to take mail from here"
	default:
		f.words = "the connection to the mail server broke"
	}
	return f
}

// sendFailure says why a mail was not taken.
func sendFailure(ctx context.Context, err error) *Failure {
	f := &Failure{err: err}
	var sent *gomail.SendError
	if !errors.As(err, &sent) || ctx.Err() != nil {
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
		f.Session, f.words = true, "the mail server takes no mail now"
	case f.Code >= 500:
		f.Permanent, f.words = true, "the mail server refuses it for good"
	default:
		f.words = "the mail server does not take it now"
	}
	return f
}
