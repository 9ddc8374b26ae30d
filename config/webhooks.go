package config

import (
	"errors"
	"net/netip"
	"strings"
	"time"

	"pushbox/internal/secret"
)

// Webhooks says where events of pushes are sent, and where messages may go.
type Webhooks struct {
	// Address that receives the events of all pushes, without their names and links.
	// Accounts have webhooks of their own (pushbox webhook add). Empty: none.
	URL secret.Text `mapstructure:"url"`

	// File with the secret that signs messages to webhooks.url: whsec_ and 24 to 64
	// random bytes in base64.
	SecretFile string `mapstructure:"secret_file"`

	// The secret itself, for platforms that pass secrets in the environment. A file is
	// safer. Do not set this together with webhooks.secret_file.
	Secret secret.Text `mapstructure:"secret"`

	// Events that webhooks.url receives: view, last_view, expire, failed_passphrase, freeze,
	// request.answered.
	Events []string `mapstructure:"events" form:"events"`

	// Where messages may be sent: public, any host with a public address, over https;
	// host names, such as hooks.example.com or *.example.com, also over http and with
	// addresses of private networks; addresses and networks, such as 10.1.0.0/16, for
	// hosts that resolve to them.
	Allow []HookHost `mapstructure:"allow"`

	// How many messages may wait for delivery. Further ones are dropped, with a line in
	// the log; no view waits for a message.
	Queue int `mapstructure:"queue" min:"100" max:"1000000"`

	// How long delivery of a message is retried.
	GiveUp time.Duration `mapstructure:"give_up" min:"1m" max:"30d"`
}

func defaultWebhooks() Webhooks {
	return Webhooks{
		Events: hookEvents(),
		Allow:  []HookHost{{Name: publicHosts}},
		Queue:  100_000,
		GiveUp: day,
	}
}

// hookEvents lists all events.
func hookEvents() []string {
	return []string{"view", "last_view", "expire", "failed_passphrase", "freeze", "request.answered"}
}

// publicHosts means all hosts with public addresses.
const publicHosts = "public"

// A HookHost is where messages may go: the name of a host, *. and a name for all below
// it, public, or a network.
type HookHost struct {
	Name    string // empty: a network
	Network netip.Prefix
}

// IsPublic reports whether h means all hosts with public addresses.
func (h HookHost) IsPublic() bool { return h.Name == publicHosts }

// String returns h as the setting has it.
func (h HookHost) String() string {
	if h.Name != "" {
		return h.Name
	}
	return h.Network.String()
}

// parseHookHost reads a name or a network. A text that ends in a digit, or has a colon
// or a slash, is not a name.
func parseHookHost(text string) (HookHost, error) {
	name := strings.ToLower(text)
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789-_"
	if strings.ContainsAny(name, ":/") || strings.Trim(name[max(0, len(name)-1):], "0123456789") == "" {
		p, err := parsePrefix(text)
		return HookHost{Network: p}, err
	}
	for label := range strings.SplitSeq(strings.TrimPrefix(name, "*."), ".") {
		if label == "" || strings.Trim(label, letters) != "" {
			return HookHost{}, errors.New("must be public, the name of a host such as hooks.example.com or *.example.com, or a network such as 10.1.0.0/16")
		}
	}
	return HookHost{Name: name}, nil
}

// checkWebhooks notes problems between the settings of webhooks.
func (l *loader) checkWebhooks(w Webhooks) {
	if !w.URL.IsZero() && w.SecretFile == "" && w.Secret.IsZero() {
		l.relation("webhooks.url", "must not be given without", "webhooks.secret_file")
	}
	if !w.URL.IsZero() && len(w.Events) == 0 {
		l.relation("webhooks.url", "receives nothing without", "webhooks.events")
	}
}
