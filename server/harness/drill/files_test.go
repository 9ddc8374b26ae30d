package drill_test

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"pushbox/config"
	"pushbox/server/servertest"
	"pushbox/store"
)

const (
	liveSVG  = `<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(document.cookie)</script></svg>`
	livePage = `<!doctype html><script>alert(document.cookie)</script>`
)

// savedOnly fails the test unless a file can only be saved, whatever its declared type
// and the request for it, and its page shows nothing of its content.
func savedOnly(t *testing.T, name, content string, medias ...string) {
	t.Helper()
	a := servertest.New(t)
	for _, media := range medias {
		p := a.PushNamed("ann@example.com", func(_ *store.NewPush, u *store.Upload) { u.Describe(name, media) }, []byte(content))
		page := a.Send("/p/"+p.Token.Reveal(), nil).Want(http.StatusOK)
		lifeless(t, media, page)
		path := p.Shown()[0]
		for how, header := range map[string]http.Header{
			"as a page":    servertest.Navigation(),
			"as an image":  {"Accept": {"image/svg+xml,image/*;q=0.8"}, "Sec-Fetch-Dest": {"image"}},
			"in a frame":   servertest.Navigation(http.Header{"Sec-Fetch-Dest": {"iframe"}}),
			"in parts":     {"Range": {"bytes=0-"}},
			"as one wants": {"Accept": {media}},
		} {
			for _, method := range []string{"GET", "HEAD"} {
				got := a.Do(method, path, "", header)
				for name, want := range map[string]string{
					"Content-Type": "application/octet-stream", "X-Content-Type-Options": "nosniff",
					"Content-Security-Policy": "default-src 'none'; base-uri 'none'; frame-ancestors 'none'; sandbox",
				} {
					if got.Header.Get(name) != want {
						t.Errorf("%s, %s %s: %s is %q", media, method, how, name, got.Header.Get(name))
					}
				}
				if got.Status >= 300 || !strings.HasPrefix(got.Header.Get("Content-Disposition"), "attachment;") || method == "GET" && got.Body != content {
					t.Errorf("%s, %s %s: %d %v", media, method, how, got.Status, got.Header)
				}
			}
		}
	}
}

// CVE-2026-28683, Gokapi before 2.2.3: an SVG that was linked to directly ran its
// scripts on the server's own site.
func drillSVG(t *testing.T) { savedOnly(t, "picture.svg", liveSVG, "image/svg+xml") }

// GHSA-cqcc-mm6x-vmvw, PrivateBin: the same in the preview of an attachment. There
// are no previews here, of no media type that a browser may run.
func drillSVGPreview(t *testing.T) {
	savedOnly(t, "picture.svg", liveSVG, "image/svg", "text/xml", "application/xml", "application/pdf", "image/svg+xml; charset=utf-8")
}

// GHSA-f2xf-7x3g-4272, PrivateBin before 2.0.5: previews had been fixed, but not the
// link to download: a text/html opened in a new tab ran there.
func drillWebPage(t *testing.T) {
	savedOnly(t, "page.html", livePage, "text/html", "application/xhtml+xml", "TEXT/HTML; charset=utf-8", "multipart/related", "")
}

// GHSA-45vh-rpc8-hxpp, Gokapi before 2.2.4: each chunk of an upload was measured,
// and not what they make together.
func drillLargeFileInPieces(t *testing.T) {
	const limit, count = 1000, 3
	a := servertest.New(t, servertest.FileLimits(count, limit))
	ann := a.AddTokenUser("ann@example.com")
	for name, encode := range servertest.FileKinds {
		for size, want := range map[int]int{limit: http.StatusCreated, limit + 1: http.StatusRequestEntityTooLarge, 40 * limit: http.StatusRequestEntityTooLarge} {
			media, body := encode(servertest.FilePush{Files: []servertest.File{{Name: "f", Media: "", Content: servertest.BytesOf(size)}}})
			line := a.Dial(http.Header{"Content-Type": {media}, "Transfer-Encoding": {"chunked"}, "Authorization": ann["Authorization"]}, "")
			for piece := range slices.Chunk([]byte(body), limit/10) {
				if _, err := line.Write(chunkOf(piece)); err != nil {
					break // it was refused before all of it was sent
				}
			}
			_, _ = line.Write([]byte("0\r\n\r\n"))
			if got := answered(line); got != want {
				t.Errorf("%s: %d bytes in pieces are answered with %d", name, size, got)
			}
		}
		media, body := encode(servertest.FilePush{Files: slices.Repeat([]servertest.File{{Name: "f", Media: "", Content: servertest.BytesOf(limit)}}, count+1)})
		a.Post(media, body, ann).Want(http.StatusUnprocessableEntity)
	}
	media, body := servertest.FilePush{Files: []servertest.File{{Name: "f", Media: "", Content: servertest.BytesOf(2 * limit)}}}.Multipart() // with a length that says less
	a.Post(media, strings.Replace(body, `filename="f"`, "filename=\"f\"\r\nContent-Length: 1", 1), ann).Want(http.StatusRequestEntityTooLarge)
	if n := a.Store.Orphans(); n > 0 {
		t.Errorf("chunks of %d uploads are there", n)
	}
}

// GHSA-qwc6-vc2v-2ggj, Gokapi before 2.2.4: an address read a body of any length
// into memory, and a few of them at a time ended the server.
func drillEndlessBodies(t *testing.T) {
	const most = 24 << 20 // bytes that were sent when it is refused: the system's buffers hold most of them
	a := servertest.NewSite(t, servertest.SignUps, func(c *config.Config) { c.Limits.MaxBody, c.Limits.BodyMemory = 64<<10, 256<<10 })
	ann := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	session := http.Header{"Cookie": {"pushbox_session=" + ann.Session()}}
	token := a.Create(`"payload":"x","deletable_by_viewer":false`)
	var wg sync.WaitGroup
	for _, path := range []string{
		pushes, "/", "/p/" + token, "/p/" + token + "/expire", "/p/" + token + "/edit", "/users/sign_in", "/users/sign_in/code", "/users/sign_up", "/users/first/x", "/users/token",
		"/users/token/revoke", "/users/password", "/users/sessions/end", "/users/address", "/users/address/code", "/users/mfa", "/users/mfa/off", "/users/mfa/codes", "/users/mfa/passkeys", "/users/mfa/passkeys/remove", "/users/sign_in/passkey", "/users/sign_out", "/nowhere", pushes + "/" + token,
	} {
		for _, begin := range []struct{ media, text string }{
			{"application/json", `{"push":{"payload":"`}, {"application/x-www-form-urlencoded", "push[payload]="}, {servertest.Multi.Get("Content-Type"), "--b\r\nContent-Disposition: form-data; name=\"push[payload]\"\r\n\r\n"},
		} {
			wg.Go(func() {
				e := &endlessBody{begin: begin.text}
				req, err := http.NewRequest("POST", a.URL+path, e)
				if err != nil {
					t.Error(err)
					return
				}
				req.Header = session.Clone()
				req.Header.Set("Content-Type", begin.media)
				res, err := a.Client.RoundTrip(req)
				if err == nil {
					res.Body.Close()
				}
				if sent := e.sent.Load(); sent > most || err == nil && (res.StatusCode < 300 || res.StatusCode >= 500 && res.StatusCode != http.StatusServiceUnavailable) {
					t.Errorf("%s, %s: %d bytes were taken, %v", path, begin.media, sent, err)
				}
			})
		}
	}
	wg.Wait()
	a.Settle()
	if bodies, reveals := a.Handler.Stats().RequestMemory, a.Handler.Stats().AnswerMemory; bodies != 0 || reveals != 0 {
		t.Errorf("%d and %d bytes are held at the end", bodies, reveals)
	}
	a.Create(`"payload":"x"`)
}
