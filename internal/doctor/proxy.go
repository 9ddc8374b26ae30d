package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"pushbox/internal/admin"
	"pushbox/internal/clientip"
)

// What a client claims that lies about itself. The address and the name are set
// aside for examples.
const (
	claimedAddress = "192.0.2.77"
	claimedHost    = "claimed.example"
)

const maxReport = 64 << 10 // bytes

// checkProxy makes two requests by --url, an honest one and one with made-up
// forwarding headers, and compares what arrives of them with what should.
func checkProxy(ctx context.Context, s *Subject) []Finding {
	switch {
	case s.URL == nil:
		return one(s.nameURL())
	case !s.Running:
		return one(skipped("no server is running"))
	}
	honest, err := s.report(ctx, nil)
	if err != nil {
		return one(notReached(err))
	}
	forged, err := s.report(ctx, http.Header{
		"X-Forwarded-For": {claimedAddress}, "X-Forwarded-Host": {claimedHost}, "X-Forwarded-Proto": {otherScheme(s.URL.Scheme)},
	})
	if err != nil {
		return one(notReached(err))
	}
	return append(judgeProxy(s.URL, honest, forged), s.judgeBase()...)
}

// judgeBase compares --url with where links lead. With two doors either may be the
// one that is looked at, and links lead to the public one.
func (s *Subject) judgeBase() []Finding {
	base, err := url.Parse(s.Config.BaseURL)
	switch {
	case err != nil || s.Config.BaseURL == "" || base.Scheme == s.URL.Scheme && strings.EqualFold(base.Host, s.URL.Host):
		return nil
	case s.Config.PublicListen != "":
		return one(fine("links begin with %s: look at the public door with --url, too, if this is the other one", s.Config.BaseURL))
	}
	return one(warning("set base_url to where clients reach the server, or look at that with --url", "links begin with %s, and this is %s", s.Config.BaseURL, s.URL.Redacted()))
}

func otherScheme(scheme string) string {
	if scheme == "https" {
		return "http"
	}
	return "https"
}

// An otherError says that somebody else than the server has answered.
type otherError struct{ status int }

func (e *otherError) Error() string {
	return fmt.Sprintf("the answer (status %d) is not that of the server of this data directory", e.status)
}

// notReached is what to do where no report came back.
func notReached(err error) Finding {
	if other := (*otherError)(nil); errors.As(err, &other) {
		return problem("let the proxy pass on all paths to this server, and see that --url has the server's whole address", "%v", err)
	}
	if errors.Is(err, admin.ErrUnknown) {
		return problem("restart the server with the version that this command has", "%v", err)
	}
	return problem("see that the proxy runs and reaches the server, and that this machine reaches the proxy", "%v", err)
}

// report makes a request that the server answers with how it arrived.
func (s *Subject) report(ctx context.Context, header http.Header) (rep clientip.Report, err error) {
	path, err := s.Probe(ctx)
	if err != nil {
		return rep, err
	}
	c, err := s.client()
	if err != nil {
		return rep, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(s.URL.String(), "/")+path, nil)
	if err != nil {
		return rep, err
	}
	req.Header = header.Clone()
	res, err := c.Do(req)
	if wrong := (*url.Error)(nil); errors.As(err, &wrong) {
		return rep, wrong.Err // without the path
	}
	if err != nil {
		return rep, err
	}
	defer func() { _ = res.Body.Close() }()
	d := json.NewDecoder(io.LimitReader(res.Body, maxReport))
	if res.StatusCode != http.StatusOK || d.Decode(&rep) != nil || rep.Scheme == "" {
		return rep, &otherError{res.StatusCode}
	}
	return rep, nil
}

// judgeProxy says what is to be changed in a proxy by what arrived of an honest
// request to u and of a forged one.
func judgeProxy(u *url.URL, honest, forged clientip.Report) (all []Finding) {
	if len(honest.Received) == 1 && (u.Scheme == "http" || honest.TLS) && honest.Scheme == u.Scheme && strings.EqualFold(honest.Host, u.Host) {
		return one(fine("none is in between, or one that adds nothing; the connection came from %s", honest.Peer))
	}
	if len(honest.Received) > 1 && !honest.Trusted {
		return one(problem("add "+honest.Peer+" to trusted_proxies, if that is your proxy", "the proxy at %s is not one of trusted_proxies, so nothing that it tells is believed: all its clients count as one", honest.Peer))
	}
	if honest.Scheme != u.Scheme {
		all = append(all, problem("have the proxy set X-Forwarded-Proto to the scheme that its client used", "it arrives as %s, so links and cookies are made for %s", honest.Scheme, honest.Scheme))
	}
	if !strings.EqualFold(honest.Host, u.Host) {
		all = append(all, problem("have the proxy pass on the Host that its client asked for, or set X-Forwarded-Host", "it arrives for %q in place of %q, so links would lead there", honest.Host, u.Host))
	}
	if len(honest.Received["X-Forwarded-For"]) == 0 {
		all = append(all, problem("have the proxy append its client's address to X-Forwarded-For", "X-Forwarded-For is missing, so all clients count as one, with the address %s", honest.Client))
	}
	all = append(all, judgeForged(u, honest, forged)...)
	if len(all) == 0 {
		all = one(fine("it tells the scheme, the host and the client's address (%s), and passes on nothing that clients make up", honest.Client))
	}
	return all
}

// judgeForged says which made-up headers a proxy passes on.
func judgeForged(u *url.URL, honest, forged clientip.Report) (all []Finding) {
	if forged.Client == claimedAddress {
		all = append(all, problem("have the proxy append to X-Forwarded-For, or replace it", "clients can make up their address: limits do not hold, and audit logs lie"))
	}
	if forged.Host == claimedHost {
		all = append(all, problem("have the proxy set X-Forwarded-Host, or remove it", "clients can make up the host that links lead to"))
	}
	if honest.Scheme == u.Scheme && forged.Scheme != u.Scheme {
		all = append(all, problem("have the proxy set X-Forwarded-Proto, whatever its client sent", "clients can make up the scheme of links"))
	}
	return all
}
