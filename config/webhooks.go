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
	URL        secret.Text   `mapstructure:"url"`
	SecretFile string        `mapstructure:"secret_file"`
	Secret     secret.Text   `mapstructure:"secret"`
	Events     []string      `mapstructure:"events" form:"events"`
	Form       string        `mapstructure:"form" oneof:"standard slack teams discord ntfy text" default:"standard"`
	Allow      []HookHost    `mapstructure:"allow" default:"public"`
	Queue      int           `mapstructure:"queue" min:"100" max:"1000000" default:"100000"`
	GiveUp     time.Duration `mapstructure:"give_up" min:"1m" max:"30d" default:"1d"`
}

var hookEvents = []string{"view", "last_view", "expire", "failed_passphrase", "freeze", "request.answered"}

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
	if strings.ContainsAny(name, ":/") || strings.Trim(name[max(0, len(name)-1):], "0123456789") == "" {
		p, err := parsePrefix(text)
		return HookHost{Network: p}, err
	}
	if !isHostName(strings.TrimPrefix(name, "*.")) {
		return HookHost{}, errors.New("must be public, the name of a host such as hooks.example.com or *.example.com, or a network such as 10.1.0.0/16")
	}
	return HookHost{Name: name}, nil
}
