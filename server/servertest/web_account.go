package servertest

import (
	"context"
	"errors"
	"html"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pushbox/config"
	"pushbox/internal/secret"
	"pushbox/server/pages"
	"pushbox/store"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

// The account that most tests sign in as.
const (
	AnnEmail    = "ann@example.com"
	AnnPassword = "correct horse battery"
)

// NewSite is New with the account of ann, and with limits for sign-ins that are too
// generous to stop a test by accident.
func NewSite(t *testing.T, changes ...func(*config.Config)) *Server {
	t.Helper()
	generous := func(c *config.Config) { c.Limits.SignInsPerClient, c.Limits.SignInsPerAccount = 1000, 1000 }
	a := New(t, append([]func(*config.Config){generous}, changes...)...)
	a.AddAccount(AnnEmail, AnnPassword)
	return a
}

// A Browser keeps its cookies and every page that it got.
type Browser struct {
	a       *Server
	header  http.Header // sent with everything
	Cookies map[string]string
	Seen    []string // bodies
}

// Browser returns a browser without cookies, which sends these headers with each
// request.
func (a *Server) Browser(headers ...http.Header) *Browser {
	b := &Browser{a: a, header: http.Header{}, Cookies: make(map[string]string)}
	for _, h := range headers {
		maps.Copy(b.header, h)
	}
	return b
}

// SignedIn returns a browser that is signed in to an account, which must exist.
func (a *Server) SignedIn(email, password string, headers ...http.Header) *Browser {
	a.T.Helper()
	b := a.Browser(headers...)
	if got := b.SignIn(email, password).Want(http.StatusSeeOther); got.Header.Get("Location") != "/" {
		a.T.Fatalf("signed in to %s", got.Header.Get("Location"))
	}
	return b
}

// SignIn fills in the form for signing in.
func (b *Browser) SignIn(email, password string) Answer {
	b.a.T.Helper()
	return b.Post("/users/sign_in", "email", email, "password", password)
}

// Get follows a link.
func (b *Browser) Get(path string) Answer {
	b.a.T.Helper()
	return b.Do(http.MethodGet, path, "", http.Header{})
}

// Post sends a form of names and values.
func (b *Browser) Post(path string, fields ...string) Answer {
	b.a.T.Helper()
	form := url.Values{}
	for pair := range slices.Chunk(fields, 2) {
		form.Set(pair[0], pair[1])
	}
	header := Urlencoded.Clone()
	header.Set("Sec-Fetch-Site", "same-origin")
	return b.Do(http.MethodPost, path, form.Encode(), header)
}

// Do sends a request with the cookies, and keeps those of the answer. Those over TLS must have a name that
// browsers guard, and the attributes that it needs.
func (b *Browser) Do(method, path, body string, header http.Header) Answer {
	b.a.T.Helper()
	maps.Copy(header, b.header)
	for name, value := range b.Cookies {
		header.Add("Cookie", name+"="+value)
	}
	got := b.a.Do(method, path, body, header)
	for _, c := range got.Cookies() {
		host, guarded := strings.HasPrefix(c.Name, "__Host-"), strings.HasPrefix(c.Name, "__Secure-")
		if c.Secure != (host || guarded) || host && c.Path != "/" || !c.HttpOnly || c.SameSite < http.SameSiteLaxMode || c.Domain != "" {
			b.a.T.Errorf("%s %s sets the cookie %s", method, path, c)
		}
		if b.Cookies[c.Name] = c.Value; c.MaxAge < 0 {
			delete(b.Cookies, c.Name)
		}
	}
	b.Seen = append(b.Seen, got.Body)
	return got
}

// Session is the cookie of the session; empty if there is none.
func (b *Browser) Session() string { return b.Cookies["pushbox_session"] + b.Cookies["__Host-pushbox"] }

// Cookies are the cookies that the answer sets.
func (r Answer) Cookies() []*http.Cookie {
	return (&http.Response{Header: r.Header}).Cookies()
}

// To fails the test unless the answer redirects the browser to that path.
func (r Answer) To(path string) Answer {
	r.T.Helper()
	if at := r.Want(http.StatusSeeOther).Header.Get("Location"); at != path {
		r.T.Fatalf("sent on to %s, not %s", at, path)
	}
	return r
}

// Says fails the test unless the page has each of the texts, as a reader sees it.
func (r Answer) Says(texts ...string) Answer {
	r.T.Helper()
	for _, text := range texts {
		if !r.Shows(text) {
			r.T.Errorf("it does not say %q: %s", text, r.Body)
		}
	}
	return r
}

// Lacks fails the test if the page has any of the texts.
func (r Answer) Lacks(texts ...string) Answer {
	r.T.Helper()
	for _, text := range texts {
		if r.Shows(text) {
			r.T.Errorf("the page shows %q", text)
		}
	}
	return r
}

// Shows reports whether the page has a text.
func (r Answer) Shows(text string) bool { return strings.Contains(html.UnescapeString(r.Body), text) }

// Inner returns the text of the element with that id.
func (r Answer) Inner(id string) string {
	r.T.Helper()
	n := r.Page().ID(id)
	if n == nil {
		r.T.Fatalf("there is no %s: %s", id, r.Body)
	}
	return TextOf(n)
}

// Inputs returns the values of the fields of that name, in order.
func (r Answer) Inputs(name string) (values []string) {
	for _, n := range r.Page().Find(func(n Node) bool { return (n.Data == "input" || n.Data == "button") && Attr(n, "name") == name }) {
		values = append(values, Attr(n, "value"))
	}
	return values
}

// Code returns what an authenticator app shows (RFC 6238), ahead steps from now.
func (a *Server) Code(totpSecret string, ahead int64) string {
	a.T.Helper()
	return storetest.Code(a.T, a.Store, secret.New(totpSecret), time.Duration(ahead)*30*time.Second).Reveal()
}

// EnableMFA turns the second factor on, with the code of the previous step. It returns
// the secret and the recovery codes.
func (b *Browser) EnableMFA() (totpSecret string, recovery []string) {
	b.a.T.Helper()
	return b.EnableMFAWith(AnnPassword)
}

// EnableMFAWith is EnableMFA for an account with that password.
func (b *Browser) EnableMFAWith(password string) (totpSecret string, recovery []string) {
	b.a.T.Helper()
	totpSecret = b.Get("/users/mfa").Want(http.StatusOK).Inner("secret")
	page := b.Post("/users/mfa", "password", password, "secret", totpSecret, "code", b.a.Code(totpSecret, -1)).Want(http.StatusOK)
	return totpSecret, RecoveryCodes(page)
}

// RecoveryCodes are the recovery codes that a page shows.
func RecoveryCodes(page Answer) (codes []string) {
	for _, m := range regexp.MustCompile(`<li><code>([^<]+)</code></li>`).FindAllStringSubmatch(page.Body, -1) {
		codes = append(codes, m[1])
	}
	return codes
}

// Serve calls a handler without a listener, and returns the status of its answer.
func Serve(h http.Handler, method, path string) int {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, path, nil))
	return w.Code
}

// OverTLS is the header of a trusted proxy for a browser that uses TLS.
var OverTLS = http.Header{"X-Forwarded-Proto": {"https"}}

// WantOver fails the test if a session can still be used, or still accepts a code.
func (a *Server) WantOver(session string) {
	a.T.Helper()
	b := a.Browser()
	b.Cookies["pushbox_session"] = session
	b.Get("/users/sessions").To("/users/sign_in")
	b.Get("/users/sign_in").Want(http.StatusOK).Says("Password")
	b.Post("/users/sign_in/code", "code", "123456").To("/users/sign_in")
}

// webhooks allows addresses over https, and sends nothing: each takes a test, except for one
// whose host begins with "down".
var webhooks = pages.Webhooks{
	Check: func(address secret.Text) error {
		if !strings.HasPrefix(address.Reveal(), "https://") {
			return errors.New("it is not allowed")
		}
		return nil
	},
	Send: func(_ context.Context, to store.HookTarget) (int, record.Fault) {
		if strings.HasPrefix(to.URL.Reveal(), "https://down") {
			return 0, record.FaultUnreachable
		}
		return http.StatusNoContent, record.FaultNone
	},
}

// TypedRequest returns the fields of an unchanged form for a request, except for these
// changes.
func TypedRequest(changes ...string) []string {
	fields := []string{"text", "The password of web-03", "expire_after_duration", "12", "max_answers", "1", "kinds", "text,file", "answer_expire_after_duration", "12", "public_key_p256", "", "public_key_x25519", ""}
	return append(fields, changes...)
}

// AskFor makes a request on its page, and returns the path of its own page and of its link.
func (b *Browser) AskFor(changes ...string) (own, link string) {
	b.a.T.Helper()
	own = b.Post("/requests/new", TypedRequest(changes...)...).Want(http.StatusSeeOther).Header.Get("Location")
	_, path, ok := strings.Cut(b.Get(own).Link(), "/q/")
	if !ok || !strings.HasPrefix(own, "/requests/") {
		b.a.T.Fatalf("the request is at %s with the link %s", own, path)
	}
	return own, "/q/" + path
}

// AnswerRequest sends the form of a stranger, as a browser without scripts does.
func (a *Server) AnswerRequest(link, text string, files ...File) Answer {
	a.T.Helper()
	body := TextPart("push[payload]", text)
	for _, f := range files {
		body += FilePart(f)
	}
	if len(files) == 0 {
		body += NothingChosen
	}
	return a.Do(http.MethodPost, link, body+"--b--\r\n", Multi)
}
