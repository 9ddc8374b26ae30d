package webhook

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"os"
	"syscall"
)

// reasonOf is why a message could not be sent, in words that hold nothing of the URL,
// as the errors of package net/http do.
func reasonOf(ctx context.Context, err error) error {
	var (
		no      *DeniedError
		lookup  *net.DNSError
		cert    *tls.CertificateVerificationError
		unknown x509.UnknownAuthorityError
		header  tls.RecordHeaderError
		alert   tls.AlertError
		slow    net.Error
	)
	switch {
	case ctx.Err() != nil:
		return errStopped
	case errors.As(err, &no):
		return no
	case errors.As(err, &lookup) && lookup.IsNotFound:
		return errors.New("its host's name does not resolve")
	case errors.As(err, &lookup):
		return errors.New("its host's name could not be looked up")
	case errors.As(err, &cert), errors.As(err, &unknown):
		return errors.New("its certificate is not valid, or of an authority that is not known here")
	case errors.As(err, &header), errors.As(err, &alert), errors.Is(err, http.ErrSchemeMismatch):
		return errors.New("it does not speak TLS as it should")
	case errors.As(err, &slow) && slow.Timeout(), errors.Is(err, os.ErrDeadlineExceeded):
		return errors.New("it did not answer within 10 seconds")
	case errors.Is(err, syscall.ECONNREFUSED):
		return errors.New("it refuses connections")
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		return errors.New("it cannot be reached from here")
	default:
		return errors.New("the connection broke before it answered")
	}
}
