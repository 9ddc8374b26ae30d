package server_test

import (
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/internal/secret"
)

// The account that most tests sign in as.
const (
	annEmail    = "ann@example.com"
	annPassword = "correct horse battery"
)

// newSite is newAPI with so generous limits of signing in that no test meets them
// by accident, and with ann's account.
func newSite(t *testing.T, changes ...func(*config.Config)) *api {
	t.Helper()
	generous := func(c *config.Config) { c.Limits.SignInsPerClient, c.Limits.SignInsPerAccount = 1000, 1000 }
	a := newAPI(t, append([]func(*config.Config){generous}, changes...)...)
	a.person(annEmail, annPassword)
	return a
}

// person adds an account with a password.
func (a *api) person(email, password string) {
	a.t.Helper()
	if _, err := a.store.AddAccount(ctx, email, secret.New(password)); err != nil {
		a.t.Fatal(err)
	}
}

// A browser is somebody's browser: it keeps cookies and everything it was shown.
type browser struct {
	a       *api
	header  http.Header // sent with everything
	cookies map[string]string
	seen    []string // bodies
}

func (a *api) browser(headers ...http.Header) *browser {
	b := &browser{a: a, header: http.Header{}, cookies: make(map[string]string)}
	for _, h := range headers {
		for name, values := range h {
			b.header[name] = values
		}
	}
	return b
}

// signedIn is a browser in which somebody signed in.
func (a *api) signedIn(email, password string, headers ...http.Header) *browser {
	a.t.Helper()
	b := a.browser(headers...)
	if got := b.signIn(email, password).want(http.StatusSeeOther); got.header.Get("Location") != "/" {
		a.t.Fatalf("signed in to %s", got.header.Get("Location"))
	}
	return b
}

func (b *browser) signIn(email, password string) answer {
	b.a.t.Helper()
	return b.post("/users/sign_in", "email", email, "password", password)
}

func (b *browser) get(path string) answer {
	b.a.t.Helper()
	return b.do(http.MethodGet, path, "", http.Header{})
}

// post sends a form of names and values.
func (b *browser) post(path string, fields ...string) answer {
	b.a.t.Helper()
	form := url.Values{}
	for pair := range slices.Chunk(fields, 2) {
		form.Set(pair[0], pair[1])
	}
	return b.do(http.MethodPost, path, form.Encode(), http.Header{
		"Content-Type": {"application/x-www-form-urlencoded"}, "Sec-Fetch-Site": {"same-origin"},
	})
}

func (b *browser) do(method, path, body string, header http.Header) answer {
	b.a.t.Helper()
	for name, values := range b.header {
		header[name] = values
	}
	for name, value := range b.cookies {
		header.Add("Cookie", name+"="+value)
	}
	got := b.a.do(method, path, body, header)
	for _, c := range got.cookies() {
		if b.cookies[c.Name] = c.Value; c.MaxAge < 0 {
			delete(b.cookies, c.Name)
		}
	}
	b.seen = append(b.seen, got.body)
	return got
}

// session is the cookie of the session; empty if there is none.
func (b *browser) session() string { return b.cookies["pushbox_session"] + b.cookies["__Host-pushbox"] }

func (r answer) cookies() []*http.Cookie {
	return (&http.Response{Header: r.header}).Cookies()
}

// to fails the test unless the answer sends the browser on to a path.
func (r answer) to(path string) answer {
	r.t.Helper()
	if at := r.want(http.StatusSeeOther).header.Get("Location"); at != path {
		r.t.Fatalf("sent on to %s, not %s", at, path)
	}
	return r
}

// says fails the test unless the page has each of the texts, as a reader sees it.
func (r answer) says(texts ...string) answer {
	r.t.Helper()
	for _, text := range texts {
		if !r.shows(text) {
			r.t.Errorf("it does not say %q: %s", text, r.body)
		}
	}
	return r
}

// lacks is the opposite of says.
func (r answer) lacks(texts ...string) answer {
	r.t.Helper()
	for _, text := range texts {
		if r.shows(text) {
			r.t.Errorf("the page shows %q", text)
		}
	}
	return r
}

// shows reports whether the page has a text.
func (r answer) shows(text string) bool { return strings.Contains(html.UnescapeString(r.body), text) }

// inner returns the text of the element with that id.
func (r answer) inner(id string) string {
	r.t.Helper()
	m := regexp.MustCompile(`id="` + id + `"[^>]*>([^<]*)<`).FindStringSubmatch(r.body)
	if m == nil {
		r.t.Fatalf("there is no %s: %s", id, r.body)
	}
	return html.UnescapeString(m[1])
}

// inputs returns the values of the fields of that name, in order.
func (r answer) inputs(name string) (values []string) {
	for _, tag := range regexp.MustCompile(`<(?:input|button) [^>]*name="`+name+`"[^>]*>`).FindAllString(r.body, -1) {
		value := ""
		if m := regexp.MustCompile(`value="([^"]*)"`).FindStringSubmatch(tag); m != nil {
			value = html.UnescapeString(m[1])
		}
		values = append(values, value)
	}
	return values
}

// code is what an authenticator app shows, RFC 6238, so many steps from now.
func (a *api) code(totpSecret string, ahead int64) string {
	a.t.Helper()
	key, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(totpSecret)
	if err != nil {
		a.t.Fatal(err)
	}
	mac := hmac.New(sha1.New, key)
	_ = binary.Write(mac, binary.BigEndian, a.store.Clock.Now().Unix()/30+ahead)
	sum := mac.Sum(nil)
	at := sum[len(sum)-1] & 15
	return fmt.Sprintf("%06d", binary.BigEndian.Uint32(sum[at:at+4])&0x7fffffff%1_000_000)
}

// enableMFA turns the second factor on, with the code of the step before this
// one, and returns its secret and the recovery codes.
func (b *browser) enableMFA() (totpSecret string, recovery []string) {
	b.a.t.Helper()
	return b.enableMFAWith(annPassword)
}

// enableMFAWith is enableMFA for whoever has that password.
func (b *browser) enableMFAWith(password string) (totpSecret string, recovery []string) {
	b.a.t.Helper()
	totpSecret = b.get("/users/mfa").want(http.StatusOK).inner("secret")
	page := b.post("/users/mfa", "password", password, "secret", totpSecret, "code", b.a.code(totpSecret, -1)).want(http.StatusOK)
	return totpSecret, recoveryCodes(page)
}

func recoveryCodes(page answer) (codes []string) {
	for _, m := range regexp.MustCompile(`<li><code>([^<]+)</code></li>`).FindAllStringSubmatch(page.body, -1) {
		codes = append(codes, m[1])
	}
	return codes
}

// serve is the status of an answer to a request that no listener took.
func serve(h http.Handler, method, path string) int {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, path, nil))
	return w.Code
}
