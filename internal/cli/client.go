package cli

import (
	"errors"
	"fmt"
	"os"
	"runtime"
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
	flags := make(map[string]config.Flag)
	for name, key := range map[string]string{urlFlag: "url", tokenFileFlag: "token_file", caFileFlag: "ca_file"} {
		if f := cmd.Flags().Lookup(name); f.Changed {
			flags[key] = config.Flag{Name: "--" + name, Value: f.Value.String()}
		}
	}
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
			"name it with --url or PUSHBOX_URL, or write `url: https://push.example.com` into %s", clientFileName(a.environ))
	}
	if to.InClear() {
		a.say(fmt.Sprintf("warning: %s is not encrypted: others on the network can read the secret and its link", to))
	}
	o := client.Options{Home: home, Agent: "pushbox/" + release, Stall: stallTimeout}
	if o.Token, err = a.tokenFor(cfg, home, to); err == nil {
		err = trust(&o, cfg.CAFile)
	}
	return client.New(o), to, err
}

func clientFileName(environ []string) string {
	if name := config.ClientFile(environ); name != "" {
		return name
	}
	return "~/.config/pushbox/client.yaml"
}

// tokenFor reads the token, if there is one for that server.
func (a *app) tokenFor(cfg config.Client, home, to client.Server) (token secret.Text, err error) {
	if cfg.TokenFile == "" || !to.SameOrigin(home) {
		return token, nil
	}
	if cfg.TokenURL != "" {
		belongs, err := client.ParseServer(cfg.TokenURL)
		if err != nil || !belongs.SameOrigin(to) {
			a.say(fmt.Sprintf("the token in %s is for %s, and is not sent to %s", cfg.TokenFile, belongs, to))
			return token, nil
		}
	}
	f, err := os.Open(cfg.TokenFile)
	if err != nil {
		return token, hint.With(fmt.Errorf("the token file: %w", err), "name the file that has the API token with --token-file")
	}
	defer func() { _ = f.Close() }() // it was only read
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
		a.say(fmt.Sprintf("other users can read the token file %s (mode %04o); better: chmod 600 %[1]s", cfg.TokenFile, info.Mode().Perm()))
	}
	token, err = readLine(f)
	if err == nil && checkText("", token.Reveal()) != nil {
		err = errors.New("it has characters that no token has")
	}
	if err == nil && token.IsZero() {
		err = errors.New("it is empty")
	}
	if err != nil {
		return secret.Text{}, hint.With(fmt.Errorf("the token file %s: %w", cfg.TokenFile, err), "it must have the API token in one line, and nothing else")
	}
	return token, nil
}

// trust adds the certificate authorities of a file, if one is named, to those of
// the system.
func trust(o *client.Options, file string) error {
	if file == "" {
		return nil
	}
	roots, err := certs.ReadRoots(file, true)
	if err != nil {
		return hint.With(fmt.Errorf("the file of certificate authorities: %w", err), "name a file with certificates in PEM, with --%s", caFileFlag)
	}
	o.Roots = roots
	return nil
}
