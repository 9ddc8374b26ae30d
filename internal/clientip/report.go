package clientip

import "net/http"

// A Report tells what arrived of a request's way, and what was made of it: for
// whoever sets up a proxy.
type Report struct {
	Peer     string              // the address that the connection came from
	Trusted  bool                // whether that is a trusted proxy
	TLS      bool                // whether the connection is encrypted
	Received map[string][]string // the headers that proxies add, and Host

	Scheme, Host, Client string // what was made of it; Host is empty where it could not go into a link
}

// Report tells of a request.
func (p Proxies) Report(r *http.Request) Report {
	peer := p.peer(r.RemoteAddr)
	rep := Report{
		Peer: Client{Addr: peer.addr}.IP(), Trusted: peer.trusted, TLS: r.TLS != nil,
		Received: map[string][]string{"Host": {r.Host}},
		Scheme:   p.Scheme(r), Client: p.Client(r.RemoteAddr, r.Header).IP(),
	}
	rep.Host, _ = p.Host(r)
	for _, name := range forwarding {
		if lines, ok := r.Header[name]; ok {
			rep.Received[name] = lines
		}
	}
	return rep
}
