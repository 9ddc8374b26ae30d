package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

// A soaked is a push of a soak. One client at a time uses it, so that each answer
// can be told beforehand.
type soaked struct {
	kind, token, payload, passphrase string
	files                            []crashFile
	limit, left                      int
	owned, deleted                   bool
	endsAt                           time.Time
	grant                            string // where its first file was last to be had
}

// live makes a push, uses it and lets it end, or leaves it to be looked at later.
func (s *soak) live(n uint64, rng *rand.Rand) error {
	if n%240 == 0 { // every 20 seconds
		if err := s.signInAndOut(); err != nil {
			return err
		}
	}
	p, err := s.make(n, rng)
	if err != nil {
		return err
	}
	s.made.Add(1)
	if err := s.approach(p, n); err != nil {
		return err
	}
	for range rng.IntN(p.limit) {
		if err := s.view(p, rng.IntN(3) == 0 && p.passphrase == ""); err != nil {
			return err
		}
	}
	switch rng.IntN(8) {
	case 0, 1, 2:
		return s.useUp(p)
	case 3, 4:
		return s.remove(p, false)
	case 5:
		return s.remove(p, true)
	default:
		return s.wait(p)
	}
}

// make sends a push of some kind.
func (s *soak) make(n uint64, rng *rand.Rand) (*soaked, error) {
	p := &soaked{kind: "text", payload: text(rng), limit: 1 + rng.IntN(4), owned: n%10 > 0}
	switch n % 12 {
	case 3:
		p.kind, p.payload = "url", fmt.Sprintf("https://example.com/%x", rng.Uint64())
	case 6:
		p.kind, p.payload = "qr", fmt.Sprintf("%x", rng.Uint64())
	case 9:
		p.kind, p.owned = "file", true
		for range 1 + rng.IntN(2) {
			p.files = append(p.files, crashFile{seed: rng.Uint64(), size: fileLength(rng)})
		}
	case 0:
		if n%60 == 0 {
			p.passphrase = fmt.Sprintf("%x", rng.Uint64())
		}
	}
	p.left = p.limit
	fields := map[string]string{
		"kind": p.kind, "payload": p.payload, "passphrase": p.passphrase,
		"expire_after_views": strconv.Itoa(p.limit), "expire_after_duration": "0", "deletable_by_viewer": "true",
	}
	var r crashRecord
	err := s.sendPush(p, fields, n%24 == 9, &r)
	p.token, p.endsAt = r.Token, r.ExpiresAt
	return p, err
}

func (s *soak) sendPush(p *soaked, fields map[string]string, base64 bool, r *crashRecord) error {
	if len(p.files) == 0 {
		return s.call(http.MethodPost, apiPushes, s.bearerOf(p), map[string]any{"push": fields}, http.StatusCreated, r)
	}
	files := make([]io.Reader, len(p.files))
	for i, f := range p.files {
		files[i] = content(f.seed, f.size)
	}
	as := asMultipart
	if base64 {
		as = asBase64
	}
	return streamed(as, fields, files, func(contentType string, body io.Reader) error {
		return s.post(http.MethodPost, apiPushes, s.bearer, contentType, body, http.StatusCreated, r)
	})
}

func (s *soak) bearerOf(p *soaked) string {
	if p.owned {
		return s.bearer
	}
	return ""
}

// approach asks for what counts no view.
func (s *soak) approach(p *soaked, n uint64) error {
	ask := []struct {
		method, path string
		status       int
	}{
		{http.MethodGet, apiPushes + "/" + p.token + "/preview", http.StatusOK},
		{http.MethodHead, apiPushes + "/" + p.token, http.StatusMethodNotAllowed},
		{http.MethodGet, "/p/" + p.token + "/r", http.StatusOK},
		{http.MethodGet, "/", http.StatusOK},
	}[n%4]
	if _, err := s.fetch(ask.method, ask.path, "", ask.status); err != nil {
		return err
	}
	if n%30 == 5 {
		var l []crashRecord
		return s.call(http.MethodGet, apiPushes+"/active", s.bearer, nil, http.StatusOK, &l)
	}
	if p.passphrase == "" {
		return nil
	}
	_, err := s.fetch(http.MethodGet, apiPushes+"/"+p.token+"?passphrase=wrong", "", http.StatusUnauthorized)
	return err
}

// fetch sends a request with a form, and wants a status.
func (s *soak) fetch(method, path, form string, status int) ([]byte, error) {
	req, err := s.formRequest(method, path, form)
	if err != nil {
		return nil, err
	}
	got, answer, err := s.send(req)
	if err == nil && got != status {
		err = fmt.Errorf("%s: status %d instead of %d: %s", method, got, status, answer)
	}
	return answer, err
}

// view opens a push, by the API or on its page. One view less is left then.
func (s *soak) view(p *soaked, onPage bool) error {
	s.views.Add(1)
	p.left--
	if onPage {
		return s.reveal(p)
	}
	r, err := s.show(p)
	switch {
	case err != nil:
		return err
	case r.Payload == nil || *r.Payload != p.payload || len(r.Files) != len(p.files):
		return fmt.Errorf("P1: a %s push with %d views left of %d, and it is not what was sent", p.kind, r.Remaining, p.limit)
	case r.Remaining != p.left:
		return fmt.Errorf("P3: %d views are left, it says %d", p.left, r.Remaining)
	}
	return s.downloadAll(p, r)
}

func (s *soak) show(p *soaked) (r crashRecord, err error) {
	path := apiPushes + "/" + p.token
	if p.passphrase != "" {
		path += "?passphrase=" + p.passphrase
	}
	answer, err := s.fetch(http.MethodGet, path, "", http.StatusOK)
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(answer, &r)
}

// useUp takes all views that are left. Then nothing is left to see.
func (s *soak) useUp(p *soaked) error {
	for p.left > 0 {
		if err := s.view(p, false); err != nil {
			return err
		}
	}
	return s.verifyEnded(p)
}

// remove ends a push by hand: by the API or on its page.
func (s *soak) remove(p *soaked, onPage bool) error {
	p.deleted = true
	if onPage {
		if err := s.expireOnPage(p); err != nil {
			return err
		}
		return s.verifyEnded(p)
	}
	var r crashRecord
	if err := s.call(http.MethodDelete, apiPushes+"/"+p.token, s.bearerOf(p), nil, http.StatusOK, &r); err != nil {
		return err
	}
	return s.verifyEnded(p)
}

// verifyEnded makes sure that a push is over: P2 after its last view, P5 after a
// delete, where the grant that there was for its files is over, too.
func (s *soak) verifyEnded(p *soaked) error {
	r, err := s.show(p)
	switch {
	case err != nil:
		return err
	case !r.Expired || r.Payload != nil || r.Deleted != p.deleted:
		return fmt.Errorf("P2, P5: it is over, and is expired: %t, with a payload: %t, deleted: %t instead of %t", r.Expired, r.Payload != nil, r.Deleted, p.deleted)
	case !p.deleted || p.grant == "":
		return nil
	}
	_, err = s.fetch(http.MethodGet, p.grant, "", http.StatusNotFound)
	return err
}
