package server_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/store"
)

func TestWhatIsTooLongDoesNotComeBack(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	ann := a.senderAt(annEmail)
	for _, c := range []struct {
		field, id, kind, unit string
		most                  int
		says                  string
	}{
		{"payload", "payload", "text", `"`, store.MaxText, "The text is too long: at most 1 MiB."},
		{"payload", "payload", "file", `"`, store.MaxText, "The text is too long: at most 1 MiB."},
		{"payload", "payload", "url", `"`, store.MaxText, "The text is too long: at most 1 MiB."},
		{"payload", "payload", "qr", "é", store.MaxQR, "The text is too long for a QR code: at most 1024 characters."},
		{"name", "name", "text", `"`, store.MaxName, "The name is too long: at most 255 bytes."},
		{"note", "note", "text", `"`, store.MaxNote, "The note is too long: at most 10 KiB."},
		{"expire_after_views", "views", "text", `"`, 64, "Views must be a whole number from 1 to 100."},
		{"expire_after_days", "days", "text", `"`, 64, "Days must be a whole number from 1 to 90."},
	} {
		for extra, comes := range map[int]bool{0: true, 1: false} {
			typed := typed(map[string]string{"kind": c.kind, "expire_after_days": "x", c.field: strings.Repeat(c.unit, c.most+extra)})
			got := a.sendForm(typed, ann).want(http.StatusUnprocessableEntity)
			if back := got.typedInto(c.id); comes && back != typed[c.field] || !comes && back != "" {
				t.Errorf("%s of %s, %d more: %d bytes came back", c.field, c.kind, extra, len(back))
			}
			numbers := strings.HasPrefix(c.field, "expire")
			if told := slices.Contains(got.problems(), c.says); told == comes && !numbers || !told && numbers {
				t.Errorf("%s of %s, %d more: %q", c.field, c.kind, extra, got.problems())
			}
			if !comes && len(got.body) > 64<<10 {
				t.Errorf("%s of %s: a page of %d bytes", c.field, c.kind, len(got.body))
			}
		}
	}
}

func TestAnAddressOrLabelThatIsTooLongDoesNotComeBack(t *testing.T) {
	t.Parallel()
	free, full := func(c *config.Config) { c.EnableSignups = true }, func(c *config.Config) {
		c.EnableSignups, c.Limits.SignInsPerClient = true, 1
	}
	a, limited := newSite(t, free), newSite(t, full)
	for range 2 {
		limited.browser().signIn(annEmail, "wrong")
		limited.browser().post("/users/sign_up", "email", "x", "password", "x")
	}
	ann := a.signedIn(annEmail, annPassword)
	for _, c := range []struct {
		at          *browser
		path, field string
		most, want  int
	}{
		{ann, "/users/token", "label", store.MaxLabel, 422},
		{a.browser(), "/users/sign_in", "email", store.MaxEmail, 403},
		{limited.browser(), "/users/sign_in", "email", store.MaxEmail, 429},
		{a.browser(), "/users/sign_up", "email", store.MaxEmail, 422},
		{limited.browser(), "/users/sign_up", "email", store.MaxEmail, 429},
		{newAPI(t).browser(), firstPath, "email", store.MaxEmail, 422},
	} {
		for extra, comes := range map[int]bool{0: true, 1: false} {
			text := strings.Repeat(`"`, c.most+extra)
			got := c.at.post(c.path, c.field, text, "password", annPassword, "days", "x").want(c.want)
			if back := got.inputs(c.field)[0]; comes && back != text || !comes && back != "" {
				t.Errorf("%s, %d more: %d bytes came back with %d", c.path, extra, len(back), c.want)
			}
			if c.field == "label" && (got.shows("at most 100 bytes") == comes || !got.shows("Choose one of these.")) {
				t.Errorf("%d more: it does not say what is wrong: %s", extra, got.body)
			}
		}
	}
}

func TestALimitThatIsTooLongDoesNotComeBack(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	ann := a.senderAt(annEmail)
	token := a.sendForm(typed(nil), ann).pushed()
	for _, field := range []string{"days", "views"} {
		for extra, comes := range map[int]bool{0: true, 1: false} {
			text := strings.Repeat("9", 64+extra)
			got := a.send("/p/"+token+"/edit", map[string]string{field: text}, ann).want(http.StatusUnprocessableEntity)
			if back, _ := got.page().field(field); comes && back != text || !comes && back != "" {
				t.Errorf("%s, %d more: %q came back", field, extra, back)
			}
		}
	}
}

func TestSearchWordsHaveABound(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	ann := a.senderAt(annEmail)
	for size, want := range map[int]int{255: http.StatusOK, 256: http.StatusBadRequest} {
		words := strings.Repeat(`"`, size)
		got := a.get("/p?q="+url.QueryEscape(words), ann).want(want)
		if back, _ := got.page().field("q"); (back == words) != (want == http.StatusOK) {
			t.Errorf("%d bytes: %q came back", size, back)
		}
	}
}

func TestASmallFormHasABound(t *testing.T) {
	t.Parallel()
	a := newSite(t)
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
		"urlencoded": {urlencoded, func(size int) string { return "email=" + strings.Repeat("x", size-6) }},
		"multipart":  {http.Header{"Content-Type": {"multipart/form-data; boundary=b"}}, parts},
	} {
		for size, want := range map[int]int{most: http.StatusForbidden, most + 1: http.StatusRequestEntityTooLarge, 7 << 20: http.StatusRequestEntityTooLarge} {
			got := a.do("POST", "/users/sign_in", c.body(size), c.header)
			if got.status != want || want == http.StatusRequestEntityTooLarge && !got.shows("This is too large") {
				t.Errorf("%s of %d bytes: %d %.300s", name, size, got.status, got.body)
			}
			if status := a.chunked("/users/sign_in", c.body(size), c.header); status != want {
				t.Errorf("%s of %d bytes that did not say so: %d", name, size, status)
			}
		}
	}
}

// chunked sends a body without its length, and returns the status.
func (a *api) chunked(path, body string, header http.Header) int {
	a.t.Helper()
	req, err := http.NewRequest(http.MethodPost, a.url+path, struct{ *strings.Reader }{strings.NewReader(body)})
	if err != nil {
		a.t.Fatal(err)
	}
	req.Header = header.Clone()
	res, err := a.client.RoundTrip(req)
	if err != nil {
		a.t.Fatal(err)
	}
	defer res.Body.Close()
	return res.StatusCode
}
