package pages_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/internal/testkit/env"
	"pushbox/server/servertest"
	"pushbox/store"
	"pushbox/store/record"
)

func TestTextThatIsTooLongIsNotShownAgain(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ann := a.AddSessionUser(servertest.AnnEmail)
	for _, c := range []struct {
		field, id, kind, unit string
		most                  int
		says                  string
	}{
		{"payload", "payload", "text", `"`, store.MaxText, "The text is too long: at most 1\u00a0MiB."},
		{"payload", "payload", "file", `"`, store.MaxText, "The text is too long: at most 1\u00a0MiB."},
		{"payload", "url", "url", `"`, store.MaxText, "The text is too long: at most 1\u00a0MiB."},
		{"payload", "payload", "qr", "é", store.MaxQR, "The text is too long for a QR code: at most 1024 characters."},
		{"name", "name", "text", `"`, store.MaxName, "The name is too long: at most 255 bytes."},
		{"note", "note", "text", `"`, store.MaxNote, "The note is too long: at most 10\u00a0KiB."},
		{"expire_after_views", "views", "text", `"`, 64, "Views must be a whole number from 1 to 100."},
		{"expire_after_days", "days", "text", `"`, 64, "Days must be a whole number from 1 to 90."},
	} {
		for extra, comes := range map[int]bool{0: true, 1: false} {
			typed := servertest.Typed(map[string]string{"kind": c.kind, "expire_after_days": "x", c.field: strings.Repeat(c.unit, c.most+extra)})
			got := a.SendForm(typed, ann).Want(http.StatusUnprocessableEntity)
			if back := got.TypedInto(c.id); comes && back != typed[c.field] || !comes && back != "" {
				t.Errorf("%s of %s, %d more: %d bytes came back", c.field, c.kind, extra, len(back))
			}
			numbers := strings.HasPrefix(c.field, "expire")
			if told := slices.Contains(got.Problems(), c.says); told == comes && !numbers || !told && numbers {
				t.Errorf("%s of %s, %d more: %q", c.field, c.kind, extra, got.Problems())
			}
			if !comes && len(got.Body) > 64<<10 {
				t.Errorf("%s of %s: a page of %d bytes", c.field, c.kind, len(got.Body))
			}
		}
	}
}

func TestAnAddressOrLabelThatIsTooLongIsNotShownAgain(t *testing.T) {
	t.Parallel()
	free, full := func(c *config.Config) { c.EnableSignups = true }, func(c *config.Config) {
		c.EnableSignups, c.Limits.SignInsPerClient = true, 1
	}
	a, limited, fresh := servertest.NewSite(t, free), servertest.NewSite(t, full), servertest.New(t)
	for range 2 {
		limited.Browser().SignIn(servertest.AnnEmail, "wrong")
		limited.Browser().Post("/users/sign_up", "email", "x@example.com", "password", "long enough")
	}
	ann := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	for _, c := range []struct {
		at          *servertest.Browser
		path, field string
		most, want  int
	}{
		{ann, "/users/token", "label", record.MaxLabel, 422},
		{a.Browser(), "/users/sign_in", "email", record.MaxEmail, 403},
		{limited.Browser(), "/users/sign_in", "email", record.MaxEmail, 429},
		{a.Browser(), "/users/sign_up", "email", record.MaxEmail, 422},
		{fresh.Browser(), fresh.FirstPath(), "email", record.MaxEmail, 422},
	} {
		for extra, comes := range map[int]bool{0: true, 1: false} {
			text := strings.Repeat(`"`, c.most+extra)
			got := c.at.Post(c.path, c.field, text, "password", servertest.AnnPassword, "days", "x").Want(c.want)
			if back := got.Inputs(c.field)[0]; comes && back != text || !comes && back != "" {
				t.Errorf("%s, %d more: %d bytes came back with %d", c.path, extra, len(back), c.want)
			}
			if c.field == "label" && (got.Shows("at most 100 bytes") == comes || !got.Shows("Choose one of these.")) {
				t.Errorf("%d more: it does not say what is wrong: %s", extra, got.Body)
			}
		}
	}
}

func TestALimitThatIsTooLongIsNotShownAgain(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ann := a.AddSessionUser(servertest.AnnEmail)
	token := a.SendForm(servertest.Typed(nil), ann).PushToken()
	for _, field := range []string{"days", "views"} {
		for extra, comes := range map[int]bool{0: true, 1: false} {
			text := strings.Repeat("9", 64+extra)
			got := a.Send("/p/"+token+"/edit", map[string]string{field: text}, ann).Want(http.StatusUnprocessableEntity)
			if back, _ := got.Page().Field(field); comes && back != text || !comes && back != "" {
				t.Errorf("%s, %d more: %q came back", field, extra, back)
			}
		}
	}
}

func TestTheTextOfASearchIsBounded(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ann := a.AddSessionUser(servertest.AnnEmail)
	for size, want := range map[int]int{255: http.StatusOK, 256: http.StatusBadRequest} {
		words := strings.Repeat(`"`, size)
		got := a.Get("/p?q="+url.QueryEscape(words), ann).Want(want)
		if back, _ := got.Page().Field("q"); (back == words) != (want == http.StatusOK) {
			t.Errorf("%d bytes: %q came back", size, back)
		}
	}
}

func TestASmallFormIsBounded(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t)
	const most = 64 << 10
	parts := func(size int) string {
		rest := "\r\n--b--\r\n"
		head := "--b\r\nContent-Disposition: form-data; name=\"email\"\r\n\r\n"
		return head + strings.Repeat("x", size-len(head)-len(rest)) + rest
	}
	for name, c := range map[string]struct {
		header http.Header
		body   func(size int) string
	}{
		"urlencoded": {servertest.Urlencoded, func(size int) string { return "email=" + strings.Repeat("x", size-6) }},
		"multipart":  {http.Header{"Content-Type": {"multipart/form-data; boundary=b"}}, parts},
	} {
		for size, want := range map[int]int{most: http.StatusForbidden, most + 1: http.StatusRequestEntityTooLarge, 7 << 20: http.StatusRequestEntityTooLarge} {
			got := a.Do("POST", "/users/sign_in", c.body(size), c.header)
			if got.Status != want || want == http.StatusRequestEntityTooLarge && !got.Shows("This is too large") {
				t.Errorf("%s of %d bytes: %d %.300s", name, size, got.Status, got.Body)
			}
			if status := sendChunked(a, "/users/sign_in", c.body(size), c.header); status != want {
				t.Errorf("%s of %d bytes that did not say so: %d", name, size, status)
			}
		}
	}
}

// sendChunked sends a body without its length, and returns the status.
func sendChunked(a *servertest.Server, path, body string, header http.Header) int {
	a.T.Helper()
	req, err := http.NewRequest(http.MethodPost, a.URL+path, struct{ *strings.Reader }{strings.NewReader(body)})
	env.OK(a.T, err)
	req.Header = header.Clone()
	res, err := a.Client.RoundTrip(req)
	env.OK(a.T, err)
	defer res.Body.Close()
	return res.StatusCode
}
