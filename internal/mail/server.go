package mail

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/mail"
	"time"

	gomail "github.com/wneessen/go-mail"

	"pushbox/internal/secret"
)

// An Encryption says how the connection to the server is encrypted.
type Encryption uint8

// The encryptions.
const (
	StartTLS Encryption = iota // with STARTTLS, which is required
	Implicit                   // from the first byte
	None                       // not at all
)

// A Server is the SMTP server for all mail, and how to reach it.
type Server struct {
	Host       string
	Port       int
	Encryption Encryption
	Roots      *x509.CertPool // of its certificate; nil: those that the system trusts
	User       string         // empty: no sign-in
	Password   secret.Text
	From       mail.Address // the sender of the mail
}

const (
	dialTimeout = 20 * time.Second
	stepTimeout = time.Minute // for the whole greeting, and for a whole mail
)

// mechanisms returns the ways to sign in, best first. Without encryption the library sends
// a password in clear text only to this machine, except by the mechanisms named NoEnc.
func (s Server) mechanisms() []gomail.SMTPAuthType {
	if s.Encryption == None {
		return []gomail.SMTPAuthType{gomail.SMTPAuthSCRAMSHA256, gomail.SMTPAuthCramMD5, gomail.SMTPAuthPlainNoEnc, gomail.SMTPAuthLoginNoEnc}
	}
	return []gomail.SMTPAuthType{gomail.SMTPAuthSCRAMSHA256, gomail.SMTPAuthPlain, gomail.SMTPAuthLogin, gomail.SMTPAuthCramMD5}
}

type session struct {
	client *gomail.Client
	conn   net.Conn
	unwind func() bool // from then on the end of the context does not close conn
	from   mail.Address
}

// open connects to the server and signs in. The end of working closes the connection. The
// error is a *Failure.
func (s Server) open(working context.Context) (*session, error) {
	o := &session{from: s.From, unwind: func() bool { return true }}
	options := []gomail.Option{
		gomail.WithPort(s.Port), gomail.WithTimeout(stepTimeout), gomail.WithoutNoop(), gomail.WithoutSMTPUTF8(),
		gomail.WithTLSConfig(s.tlsConfig()), gomail.WithTLSPolicy(gomail.TLSMandatory),
		gomail.WithDialContextFunc(func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := s.dial(ctx, network, address)
			if err == nil {
				o.conn = conn
				o.unwind = context.AfterFunc(working, func() { _ = conn.Close() })
			}
			return conn, err
		}),
	}
	switch s.Encryption {
	case Implicit:
		options = append(options, gomail.WithSSL())
	case None:
		options = append(options, gomail.WithTLSPolicy(gomail.NoTLS))
	}
	if s.User != "" {
		options = append(options, gomail.WithUsername(s.User), gomail.WithPassword(s.Password.Reveal()),
			gomail.WithOpportunisticSMTPAuth(s.mechanisms()...))
	}
	client, err := gomail.NewClient(s.Host, options...)
	if err == nil {
		o.client = client
		err = client.DialWithContext(working)
	}
	if err != nil {
		o.cut()
		return nil, connectFailure(working, err)
	}
	return o, nil
}

func (s Server) tlsConfig() *tls.Config {
	return &tls.Config{ServerName: s.Host, RootCAs: s.Roots, MinVersion: tls.VersionTLS12}
}

// dial opens a connection. With Implicit it is encrypted.
func (s Server) dial(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{Timeout: dialTimeout}
	conn, err := d.DialContext(ctx, network, address)
	if err != nil || s.Encryption != Implicit {
		return conn, err
	}
	encrypted := tls.Client(conn, s.tlsConfig())
	if err := encrypted.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return encrypted, nil
}

// send sends a mail. The error is a *Failure.
func (o *session) send(ctx context.Context, t text) error {
	m, err := t.message(o.from, time.Now())
	if err != nil {
		return &Failure{Permanent: true, words: "the mail could not be composed", err: err}
	}
	if err := o.client.Send(m); err != nil && !m.IsDelivered() {
		return sendFailure(ctx, err)
	}
	return nil
}

func (o *session) close() {
	_ = o.client.Close() // an accepted mail stays accepted
	o.cut()
}

func (o *session) cut() {
	o.unwind()
	if o.conn != nil {
		_ = o.conn.Close() // it may be closed already
	}
}

// Check connects to the server and signs in, and sends nothing. The error is a *Failure.
func (s Server) Check(ctx context.Context) error {
	o, err := s.open(ctx)
	if err == nil {
		o.close()
	}
	return err
}

// Test sends a test mail at once. The error is a *Failure.
func (s Server) Test(ctx context.Context, to, brand string) error {
	o, err := s.open(ctx)
	if err != nil {
		return err
	}
	defer o.close()
	return o.send(ctx, testText(to, brand))
}
