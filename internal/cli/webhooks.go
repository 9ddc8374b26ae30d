package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/rs/zerolog"

	"pushbox/config"
	"pushbox/internal/secret"
	"pushbox/internal/webhook"
	"pushbox/store"
)

// maxSecretFile is how large the file of a signing secret may be, in bytes.
const maxSecretFile = 1 << 10

// hookOptions are what the configuration says about who is told, and how much may
// wait.
func hookOptions(w config.Webhooks) store.HookOptions {
	o := store.HookOptions{Queue: w.Queue, GiveUp: w.GiveUp}
	if w.URL.IsZero() {
		return o
	}
	for _, name := range w.Events {
		if e, ok := store.ParseEvent(name); ok {
			o.Instance |= store.NewEventSet(e)
		}
	}
	return o
}

// hookPolicy is where the configuration lets messages go.
func hookPolicy(w config.Webhooks) (p webhook.Policy) {
	for _, h := range w.Allow {
		switch {
		case h.IsPublic():
			p.Public = true
		case h.Name != "":
			p.Hosts = append(p.Hosts, h.Name)
		default:
			p.Networks = append(p.Networks, h.Network)
		}
	}
	return p
}

// newDispatcher makes what tells people of what happens to their pushes.
func newDispatcher(cfg config.Config, s *store.Store, log zerolog.Logger) (*webhook.Dispatcher, error) {
	policy := hookPolicy(cfg.Webhooks)
	o := webhook.Options{Store: s, Sender: webhook.NewSender(policy, nil), Log: log}
	if !cfg.Webhooks.URL.IsZero() {
		target, err := instanceHook(cfg.Webhooks, policy)
		if err != nil {
			return nil, err
		}
		o.Instance = &target
	}
	return webhook.New(o), nil
}

// instanceHook is the webhook of the whole instance.
func instanceHook(w config.Webhooks, p webhook.Policy) (t store.HookTarget, err error) {
	if _, err := p.Check(w.URL.Reveal()); err != nil {
		return t, withHint(fmt.Errorf("the setting webhooks.url: %w", err), allowHint)
	}
	t.URL = w.URL
	t.Secret, err = readHookSecret(w.SecretFile)
	if err != nil {
		return t, withHint(fmt.Errorf("the setting webhooks.secret_file: %w", err),
			`make one: (umask 077; printf 'whsec_%%s\n' "$(openssl rand -base64 32)" > %s)`, w.SecretFile)
	}
	return t, nil
}

const allowHint = "the setting webhooks.allow says where messages may go: public, names of hosts, addresses and networks"

// readHookSecret reads a signing secret from a file that has nothing else in it.
func readHookSecret(name string) (secret.Text, error) {
	s, err := readSecretFile(name)
	if err != nil {
		return secret.Text{}, err
	}
	return s, webhook.CheckSecret(s)
}

// readSecretFile reads a secret from a file that has nothing else in it, but for space
// around it.
func readSecretFile(name string) (secret.Text, error) {
	f, err := os.Open(name)
	if err != nil {
		return secret.Text{}, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxSecretFile+1))
	if err != nil {
		return secret.Text{}, err
	}
	if len(b) > maxSecretFile {
		return secret.Text{}, errors.New("the file is larger than a secret is")
	}
	return secret.New(strings.TrimSpace(string(b))), nil
}

// tell tells people of what happens to their pushes until ctx ends.
func (d *daemon) tell(ctx context.Context) error {
	if d.webhooks == nil {
		return nil
	}
	return d.webhooks.Run(ctx)
}
