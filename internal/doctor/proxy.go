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

// The false claims of the forged request. The address and the name are reserved for
// examples.
const (
	claimedAddress = "192.0.2.77"
	claimedHost    = "claimed.example"
)

const maxReport = 64 << 10 // bytes

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
	claims := http.Header{
		"X-Forwarded-For": {claimedAddress}, "X-Forwarded-Host": {claimedHost}, "X-Forwarded-Proto": {otherScheme(s.URL.Scheme)},
	}
	forged, err := s.report(ctx, claims)
	if refused := (*otherError)(nil); errors.As(err, &refused) && refused.status == http.StatusMisdirectedRequest {
		claims.Del("X-Forwarded-Host") // the proxy passes the host on, and the server does not know it
		forged, err = s.report(ctx, claims)
		forged.Host = claimedHost
	}
	if err != nil {
		return one(notReached(err))
	}
	return append(judgeProxy(s.URL, honest, forged), s.judgeBase()...)
}

// judgeBase compares --url with where links lead. With two entry points --url may name
// either, and links lead to the public one.
func (s *Subject) judgeBase() []Finding {
	base, err := url.Parse(s.Config.BaseURL)
	switch {
	case err != nil || s.Config.BaseURL == "" || base.Scheme == s.URL.Scheme && strings.EqualFold(base.Host, s.URL.Host):
		return nil
	case s.Config.PublicListen != "":
		return one(fine("links begin with %s: check the public listener with --url as well, if this is the other one", s.Config.BaseURL))
	}
	return one(warning("set base_url to where clients reach the server, or check that address with --url", "links begin with %s, and this is %s", s.Config.BaseURL, s.URL.Redacted()))
}

func otherScheme(scheme string) string {
	if scheme == "https" {
		return "http"
	}
	return "https"
}

type otherError struct{ status int }

func (e *otherError) Error() string {
	return fmt.Sprintf("the answer (status %d) does not come from the server of this data directory", e.status)
}

// notReached is the finding if no report came back.
func notReached(err error) Finding {
	if other := (*otherError)(nil); errors.As(err, &other) {
		return problem("let the proxy pass all paths to this server, and /doctor/… without a sign-in; check that --url is the server's whole address", "%v", err)
	}
	if errors.Is(err, admin.ErrUnknown) {
		return problem("restart the server, so that it runs the version of this command", "%v", err)
	}
	return problem("check that the proxy runs and reaches the server, that this machine reaches the proxy, and that it trusts the certificate (--ca-file)", "%v", err)
}

// report makes a request. The server answers with a report of how it arrived.
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

func judgeProxy(u *url.URL, honest, forged clientip.Report) (all []Finding) {
	if len(honest.Received) == 1 && (u.Scheme == "http" || honest.TLS) && honest.Scheme == u.Scheme && strings.EqualFold(honest.Host, u.Host) {
		return one(fine("there is no proxy, or one that adds nothing; the connection came from %s", honest.Peer))
	}
	if len(honest.Received) > 1 && !honest.Trusted {
		return one(problem("add "+honest.Peer+" to trusted_proxies, if that is your proxy", "the proxy at %s is not in trusted_proxies, so its headers are ignored: all its clients count as one", honest.Peer))
	}
	if honest.Scheme != u.Scheme {
		all = append(all, problem("let the proxy set X-Forwarded-Proto to the scheme that its client used", "the request arrives as %s, so links and cookies are made for %s", honest.Scheme, honest.Scheme))
	}
	if !strings.EqualFold(honest.Host, u.Host) {
		all = append(all, problem("let the proxy pass on its client's Host header, or set X-Forwarded-Host", "the request arrives for %q instead of %q, so links would lead there", honest.Host, u.Host))
	}
	if len(honest.Received["X-Forwarded-For"]) == 0 {
		all = append(all, problem("let the proxy append its client's address to X-Forwarded-For", "X-Forwarded-For is missing, so all clients count as one, with the address %s", honest.Client))
	}
	all = append(all, judgeForged(u, honest, forged)...)
	if len(all) == 0 {
		all = one(fine("it passes on the scheme, the host and the client's address (%s), and nothing that clients forge", honest.Client))
	}
	return all
}

func judgeForged(u *url.URL, honest, forged clientip.Report) (all []Finding) {
	if forged.Client == claimedAddress {
		all = append(all, problem("let the proxy append to X-Forwarded-For, or replace it", "clients can forge their address: limits do not hold, and audit logs are wrong"))
	}
	if forged.Host == claimedHost {
		all = append(all, problem("let the proxy set X-Forwarded-Host, or remove it", "clients can forge X-Forwarded-Host, from which links take their host unless base_url or allowed_hosts bounds it"))
	}
	if honest.Scheme == u.Scheme && forged.Scheme != u.Scheme {
		all = append(all, problem("let the proxy always set X-Forwarded-Proto", "clients can forge the scheme of links"))
	}
	return all
}
