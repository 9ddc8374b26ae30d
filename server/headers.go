package server

import (
	"net/http"
	"strings"

	"pushbox/server/action"
	"pushbox/server/web"
)

// All header policies are here. Strict-Transport-Security follows from a setting of
// the certificates, and is in internal/certs.

// Values that are the same in every answer. They must not be modified.
var (
	noStore      = []string{"no-store"}
	noRobots     = []string{"noindex, nofollow"}
	noSniff      = []string{"nosniff"}
	noReferrer   = []string{"no-referrer"}
	originAlone  = []string{"strict-origin"}
	closed       = []string{"close"}
	sameOrigin   = []string{"same-origin"}
	immutable    = []string{"public, max-age=31536000, immutable"}
	everySite    = []string{"*"}
	byteRanges   = []string{"bytes"}
	deprecatedV1 = []string{"@1795305600"} // 2026-11-22, since when the manual calls it deprecated
	byEncoding   = []string{"Accept-Encoding"}
	gzipped      = []string{"gzip"}
	nothingLoads = []string{"default-src 'none'; base-uri 'none'; frame-ancestors 'none'"}
	nothingRuns  = []string{"default-src 'none'; base-uri 'none'; frame-ancestors 'none'; sandbox"}
	pageLoads    = []string{"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; manifest-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"}
	noDevices    = []string{"accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), magnetometer=(), microphone=(), midi=(), payment=(), usb=()"}

	jsonType = []string{action.JSONType}
	htmlType = []string{"text/html; charset=utf-8"}
	textType = []string{action.TextType}
	fileType = []string{"application/octet-stream"}
)

// answerHeaders sets the headers of every answer, errors included. The functions
// below change some of them for answers that are not of the API.
func answerHeaders(h http.Header) {
	h["Cache-Control"] = noStore
	h["X-Robots-Tag"] = noRobots
	h["X-Content-Type-Options"] = noSniff
	h["Referrer-Policy"] = noReferrer
	h["Content-Security-Policy"] = nothingLoads
}

// pageHeaders sets the headers of pages. Scripts and styles are assets, never inline, and scripts
// do not turn text into markup. The browser sends other sites no path as the referrer, but it sends
// the origin: on plain HTTP nothing else says which site a form came from.
func pageHeaders(h http.Header, language string, overTLS bool) {
	h["Content-Type"] = htmlType
	h["Content-Security-Policy"] = pageLoads
	h["Referrer-Policy"] = originAlone
	if overTLS { // over plain HTTP browsers ignore it with a warning
		h["Cross-Origin-Opener-Policy"] = sameOrigin
	}
	h["Permissions-Policy"] = noDevices
	h["Cross-Origin-Resource-Policy"] = sameOrigin
	h["Content-Language"] = []string{language}
}

// crossOriginHeaders sets the headers of answers that scripts of any site may read. Browsers send
// no cookie and no password with such a request.
func crossOriginHeaders(h http.Header) {
	h["Access-Control-Allow-Origin"] = everySite
}

// deprecatedHeaders says that version 1 of the API is deprecated, and which document describes it (RFC 9745).
// Its paths lie under base. Nothing says that it will end, so there is no Sunset.
func deprecatedHeaders(h http.Header, base string) {
	h["Deprecation"] = deprecatedV1
	h["Link"] = []string{"<" + base + action.DocumentV1 + `>; rel="deprecation"; type="application/json"`}
}

// assetHeaders sets the headers of assets. Their names have a digest of their content,
// so a browser may keep them forever.
func assetHeaders(h http.Header, a web.Asset) {
	h["Content-Type"] = []string{a.Type}
	h["Cache-Control"] = immutable
	h["Content-Security-Policy"] = nothingRuns
	h["Cross-Origin-Resource-Policy"] = sameOrigin
}

// downloadHeaders sets the headers of the files of a push, so that a browser never runs one.
func downloadHeaders(h http.Header) {
	h["Content-Type"] = fileType
	h["Content-Security-Policy"] = nothingRuns
}

// scrapeHeaders sets the headers of the listener for metrics.
func scrapeHeaders(h http.Header) {
	h["Cache-Control"] = noStore
	h["X-Content-Type-Options"] = noSniff
	h["Content-Security-Policy"] = nothingLoads
}

// Plain returns next with the headers of answers over plain HTTP, which send browsers
// on to HTTPS: a path may hold a url_token.
func Plain(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h["Cache-Control"] = noStore
		h["X-Content-Type-Options"] = noSniff
		h["Referrer-Policy"] = noReferrer
		h["Content-Security-Policy"] = nothingLoads
		next.ServeHTTP(w, r)
	})
}

// preflight answers the question that browsers ask before a script of another site may
// create a push (Fetch Standard, CORS-preflight request).
func (s *Server) preflight(r *action.Request) (action.Reply, error) {
	rep := action.Reply{Status: http.StatusOK, Header: [][2]string{{"Allow", http.MethodOptions + ", " + http.MethodPost}}}
	if s.sharesAnswer(r) {
		rep.Header = append(rep.Header, [2]string{"Access-Control-Allow-Methods", http.MethodPost})
		if asked := r.Header.Get("Access-Control-Request-Headers"); isHeaderList(asked) {
			rep.Header = append(rep.Header, [2]string{"Access-Control-Allow-Headers", asked})
		}
	}
	return rep, nil
}

// isHeaderList reports whether a text is a short list of names of headers, which may be
// repeated in an answer.
func isHeaderList(text string) bool {
	const inNames = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_, "
	return text != "" && len(text) <= 1000 && strings.Trim(text, inNames) == ""
}

// sharesAnswer reports whether scripts of other sites may read the answer.
func (s *Server) sharesAnswer(r *action.Request) bool {
	return r.Route != nil && r.Route.Has(action.CrossOrigin) && s.cfg.SharesAPIv1() && s.answersTo(r)
}
