package daemon

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/netip"

	"github.com/rs/zerolog"
)

// introduce tells the administrator how to begin: where to open the pages, in the first line that a
// person reads, then what was made; how to push, if the database is new or the log goes to a
// person; and how to create the first account, if there is none.
func (o Options) introduce(d *daemon, created bool, first string, made *bytes.Buffer) {
	addr := d.endpoints[0].listener.Addr()
	url := d.tls.reach(addr)
	if o.plain && addr.Network() != "unix" {
		o.say(fmt.Sprintf("open %s%s/ in a browser", url, o.Config.BasePath))
	}
	_, _ = made.WriteTo(o.out) // as say writes
	if created || o.plain {
		o.greet(addr, url)
	}
	if first != "" {
		o.invite(addr, url, first)
	}
}

// greet shows how to create a push on the server, which listens at addr and has the URL url.
func (o Options) greet(addr net.Addr, url string) {
	cfg := o.Config
	auth := ""
	if !cfg.AllowAnonymous || len(cfg.CreateNetworks) > 0 {
		auth = `-H "Authorization: Bearer $TOKEN" `
		o.say("create a token with `pushbox user add EMAIL` and `pushbox token create EMAIL`, and put it into TOKEN")
	}
	socket := ""
	if addr.Network() == "unix" {
		socket = "--unix-socket " + addr.String() + " "
	}
	o.show("create a push with", "command",
		fmt.Sprintf("curl %s%s--data-urlencode 'push[payload]=my secret' %s%s/api/v2/pushes", socket, auth, url, cfg.BasePath))
}

// localURL returns a URL by which this machine reaches a listener. For a Unix socket the
// client must also be given the path of the socket.
func localURL(addr net.Addr) string {
	ap, err := netip.ParseAddrPort(addr.String())
	switch {
	case addr.Network() == "unix":
		return "http://localhost"
	case err != nil:
		return "http://" + addr.String()
	case ap.Addr().IsUnspecified() && ap.Addr().Is4():
		ap = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), ap.Port())
	case ap.Addr().IsUnspecified(): // IPv4 and IPv6; a container may have published one of them
		return fmt.Sprintf("http://localhost:%d", ap.Port())
	}
	return "http://" + ap.String()
}

// invite tells the administrator how to create the first account. The address works only until the
// first account exists.
func (o Options) invite(addr net.Addr, url, first string) {
	cfg := o.Config
	base := cfg.BaseURL
	switch {
	case cfg.PublicListen == "" && base != "":
	case addr.Network() == "unix": // the proxy in front decides how browsers get there
		base = "https://HOST" + cfg.BasePath
	default: // base_url is the address of the public endpoint
		base = url + cfg.BasePath
	}
	o.show("there is no account yet; create the first one at", "url", base+first)
}

// A voice speaks to the administrator while the server starts: in plain lines if a person
// reads the log, else in lines of the log, whatever its level is.
type voice struct {
	out   io.Writer
	log   zerolog.Logger
	plain bool
}

func (v voice) say(message string) {
	if v.plain {
		fmt.Fprintln(v.out, "pushbox: "+message)
		return
	}
	v.line().Msg(message)
}

func (v voice) show(message, key, text string) {
	if v.plain {
		fmt.Fprintf(v.out, "pushbox: %s:\n\n    %s\n\n", message, text)
		return
	}
	v.line().Str(key, text).Msg(message)
}

// line begins a line that no level hides.
func (v voice) line() *zerolog.Event {
	return v.log.Log().Stringer(zerolog.LevelFieldName, zerolog.InfoLevel)
}
