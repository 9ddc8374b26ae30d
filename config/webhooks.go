package config

import (
	"errors"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"pushbox/internal/secret"
)

// Webhooks says who is told of what happens to pushes, and where such messages may go.
type Webhooks struct {
	// Address that is told of the pushes of all senders: neither their names nor their
	// links. Accounts have webhooks of their own (pushbox webhook add). Empty: none.
	URL secret.Text `mapstructure:"url"`

	// File with the secret that messages to webhooks.url are signed with: whsec_ and 24
	// to 64 random bytes in base64.
	SecretFile string `mapstructure:"secret_file"`

	// Events that webhooks.url is told of: view, last_view, expire, failed_passphrase.
	Events HookEvents `mapstructure:"events"`

	// Where messages may be sent: public, for any host with a public address, over
	// https; names of hosts, such as hooks.example.com or *.example.com, over http too
	// and with addresses of private networks; addresses and networks, such as
	// 10.1.0.0/16, for hosts that resolve to them.
	Allow HookHosts `mapstructure:"allow"`

	// Messages that may wait to be delivered. A new one beyond them is dropped, with a
	// line in the log; no view waits for one.
	Queue int `mapstructure:"queue" min:"100" max:"1000000"`

	// How long a message is tried again that cannot be delivered.
	GiveUp time.Duration `mapstructure:"give_up" min:"1m" max:"30d"`
}

func defaultWebhooks() Webhooks {
	return Webhooks{
		Events: HookEvents(hookEvents()),
		Allow:  HookHosts{{Name: publicHosts}},
		Queue:  100_000,
		GiveUp: day,
	}
}

// HookEvents are names of events.
type HookEvents []string

// hookEvents are those that there are.
func hookEvents() []string { return []string{"view", "last_view", "expire", "failed_passphrase"} }

func parseHookEvents(text string) (HookEvents, error) {
	events := HookEvents{}
	if text == "" {
		return events, nil
	}
	for item := range strings.SplitSeq(text, ",") {
		name := strings.TrimSpace(item)
		if !slices.Contains(hookEvents(), name) {
			return nil, errors.New("entry " + strconv.Itoa(len(events)+1) + " must be " + oneOf(hookEvents()))
		}
		events = append(events, name)
	}
	return events, nil
}

func printHookEvents(events HookEvents) string { return printTexts(events) }

// publicHosts stands for all hosts with public addresses.
const publicHosts = "public"

// HookHosts are hosts that messages may go to.
type HookHosts []HookHost

// A HookHost is the name of a host, *. and a name for all below it, or public; or a
// network.
type HookHost struct {
	Name    string // empty: a network
	Network netip.Prefix
}

// IsPublic reports whether it stands for all hosts with public addresses.
func (h HookHost) IsPublic() bool { return h.Name == publicHosts }

// String is the host as it is written.
func (h HookHost) String() string {
	if h.Name != "" {
		return h.Name
	}
	return h.Network.String()
}

func parseHookHosts(text string) (HookHosts, error) {
	hosts := HookHosts{}
	if text == "" {
		return hosts, nil
	}
	for item := range strings.SplitSeq(text, ",") {
		h, err := parseHookHost(strings.TrimSpace(item))
		if err != nil {
			return nil, errors.New("entry " + strconv.Itoa(len(hosts)+1) + " " + err.Error())
		}
		hosts = append(hosts, h)
	}
	return hosts, nil
}

// parseHookHost reads a name or a network: what ends in a digit or has a colon or a
// slash is no name.
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

func printHookHosts(hosts HookHosts) string {
	texts := make([]string, len(hosts))
	for i, h := range hosts {
		texts[i] = h.String()
	}
	return printTexts(texts)
}

func printTexts(texts []string) string {
	items := make([]string, len(texts))
	for i, text := range texts {
		items[i] = strconv.Quote(text)
	}
	return "[" + strings.Join(items, ", ") + "]"
}

// checkWebhooks notes what is wrong between the settings of webhooks.
func (l *loader) checkWebhooks(w Webhooks) {
	if !w.URL.IsZero() && w.SecretFile == "" {
		l.relation("webhooks.url", "must not be given without", "webhooks.secret_file")
	}
	if !w.URL.IsZero() && len(w.Events) == 0 {
		l.relation("webhooks.url", "is told of nothing: there are no", "webhooks.events")
	}
}
