package cli

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"runtime"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"pushbox/config"
	"pushbox/internal/certs"
	"pushbox/internal/client"
	"pushbox/internal/hint"
	"pushbox/internal/secret"
)

const (
	urlFlag       = "url"
	tokenFileFlag = "token-file"
	caFileFlag    = "ca-file"

	stallTimeout = time.Minute // for a transfer in which nothing moves
	maxFileLine  = 4 << 10     // bytes of a file that has one line: a token, a passphrase
)

// clientHelp ends the help of every command that acts as a client.
const clientHelp = `

The server and the token come from --url and --token-file, else from PUSHBOX_URL
and PUSHBOX_TOKEN_FILE, else from the keys url and token_file of the file
~/.config/pushbox/client.yaml. The token is sent to no other server. Name a
private certificate authority with --ca-file, PUSHBOX_CA_FILE or ca_file.`

func addClientFlags(cmd *cobra.Command) {
	cmd.Flags().String(urlFlag, "", "address of the server: `URL`")
	cmd.Flags().String(tokenFileFlag, "", "read the API token from `FILE`")
	cmd.Flags().String(caFileFlag, "", "also trust the certificate authorities in `FILE` (PEM)")
}

// clientSettings loads the client's settings from the flags of cmd, the environment and
// client.yaml. home is the configured server; zero: there is none.
func (a *app) clientSettings(cmd *cobra.Command) (cfg config.Client, home client.Server, err error) {
	flags := givenFlags(cmd, urlFlag, tokenFileFlag, caFileFlag)
	cfg, err = config.LoadClient(config.ClientSource{Environ: a.environ, Flags: flags})
	if err != nil {
		return cfg, home, hint.With(err, "correct these settings; %s --help names all of them", cmd.CommandPath())
	}
	if cfg.URL != "" {
		if home, err = client.ParseServer(cfg.URL); err != nil {
			err = usagef("the server's URL %w", err)
		}
	}
	return cfg, home, err
}

// dial returns a client for the server to, or for the configured server if to is zero. It
// also returns the server that was chosen. It sends nothing.
func (a *app) dial(cmd *cobra.Command, to client.Server) (*client.Client, client.Server, error) {
	cfg, home, err := a.clientSettings(cmd)
	if err != nil {
		return nil, to, err
	}
	if to.IsZero() {
		to = home
	}
	if to.IsZero() {
		return nil, to, hint.With(usagef("no server was named"),
			"name it with --url or PUSHBOX_URL, or write `url: https://push.example.com` into %s",
			cmp.Or(config.ClientFile(a.environ), "~/.config/pushbox/client.yaml"))
	}
	if to.InClear() {
		a.sayf("warning: the connection to %s is not encrypted: others on the network can read the secret and its link", to)
	}
	o := client.Options{Home: home, Agent: "pushbox/" + release, Stall: stallTimeout}
	if o.Token, err = a.tokenFor(cfg, home, to); err != nil {
		return nil, to, err
	}
	if cfg.CAFile != "" {
		if o.Roots, err = certs.ReadRoots(cfg.CAFile, true); err != nil {
			return nil, to, hint.With(fmt.Errorf("the file of certificate authorities: %w", err), "name a file with certificates in PEM, with --%s", caFileFlag)
		}
	}
	return client.New(o), to, nil
}

// tokenFor reads the token, if there is one for that server.
func (a *app) tokenFor(cfg config.Client, home, to client.Server) (token secret.Text, err error) {
	if cfg.TokenFile == "" || !to.SameOrigin(home) {
		return token, nil
	}
	if cfg.TokenURL != "" {
		belongs, err := client.ParseServer(cfg.TokenURL)
		if err != nil || !belongs.SameOrigin(to) {
			a.sayf("the token in %s is for %s, and is not sent to %s", cfg.TokenFile, belongs, to)
			return token, nil
		}
	}
	f, err := os.Open(cfg.TokenFile)
	if err != nil {
		return token, hint.With(fmt.Errorf("the token file: %w", err), "name the file that has the API token with --token-file")
	}
	defer func() { _ = f.Close() }() // it was only read
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
		a.sayf("other users can read the token file %s (mode %04o); better: chmod 600 %[1]s", cfg.TokenFile, info.Mode().Perm())
	}
	token, err = readLine(f)
	if err == nil && checkText("", token.Reveal()) != nil {
		err = errors.New("it has characters that a token cannot have")
	}
	if err == nil && token.IsZero() {
		err = errors.New("it is empty")
	}
	if err != nil {
		return secret.Text{}, hint.With(fmt.Errorf("the token file %s: %w", cfg.TokenFile, err), "it must have the API token in one line, and nothing else")
	}
	return token, nil
}

// remoteError names the failed action and the server, with a hint.
func remoteError(doing string, s client.Server, err error) error {
	next := remoteHint(err)
	switch {
	case errors.Is(err, context.Canceled):
		err = errInterrupted
	case errors.Is(err, client.ErrStalled):
		err = fmt.Errorf("%w: no data received for %v", err, stallTimeout)
	}
	return hint.With(fmt.Errorf("%s %s: %w", doing, s, err), "%s", next)
}

func remoteHint(err error) string {
	refused, redirect := (*client.StatusError)(nil), (*client.RedirectError)(nil)
	untrusted, name, plain := (*tls.CertificateVerificationError)(nil), (*net.DNSError)(nil), tls.RecordHeaderError{}
	known := knownFor(err, []knownHint{
		{context.Canceled, "run the command again"},
		{client.ErrExpired, "ask the sender to push it again"},
		{client.ErrAnswer, "check the address: no pushbox answers there, and no Password Pusher with its API"},
		{client.ErrRecipient, "its link was not printed, and it expires by itself; push without --recipient, or to a pushbox that has it"},
		{client.ErrStalled, "check the network, then run the command again"},
		{client.ErrChanged, "wait until nothing writes to the file, then run the command again"},
		{syscall.ECONNREFUSED, "check the address and its port, and that the server runs"},
	})
	switch {
	case errors.Is(err, client.ErrPassphrase): // a refusal, too
		return "give the passphrase with --passphrase or --passphrase-file"
	case errors.As(err, &refused):
		return statusHint(refused)
	case errors.As(err, &redirect):
		return "if that is the server you mean, use its address: nothing was sent there"
	case known != "":
		return known
	case errors.As(err, &plain):
		return "the server has no TLS at this address: check the port, or use http:// where that is safe"
	case errors.As(err, &untrusted):
		return "check the address; if the server has a certificate of a private authority, name that with --ca-file"
	case errors.As(err, &name):
		return "check the name of the host, and the network"
	}
	return "check the network, and run the command again"
}

// statusHint returns the hint for a refusal.
func statusHint(e *client.StatusError) string {
	if e.RetryAfter > 0 {
		return fmt.Sprintf("run the command again in %v", e.RetryAfter.Round(time.Second))
	}
	next, known := map[int]string{
		http.StatusUnauthorized: "give a valid API token of the server with --token-file, and the server it is for with --url; " +
			"`pushbox token create EMAIL` makes one there",
		http.StatusForbidden:             "do what it says; as the push's owner, give an API token with --token-file",
		http.StatusNotFound:              "check the link; the server forgets pushes some time after they expire",
		http.StatusRequestEntityTooLarge: "push less, or ask the server's administrator for a higher limit",
		http.StatusUnprocessableEntity:   "correct what it names, then run the command again",
		http.StatusTooManyRequests:       "run the command again in a minute",
		http.StatusServiceUnavailable:    "run the command again in a minute",
		http.StatusInsufficientStorage:   "ask the server's administrator to make room",
	}[e.Status]
	switch {
	case known:
		return next
	case e.Status >= http.StatusInternalServerError:
		return "try again later; the server's log has the cause"
	default:
		return "check the address and the request"
	}
}
