package soak

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"pushbox/internal/proctest"
)

// A knownPush is a push of the load. One client at a time uses it, so each answer is
// known beforehand.
type knownPush struct {
	kind, token, payload, passphrase string
	files                            []proctest.File
	limit, left                      int
	owned, deleted                   bool
	endsAt                           time.Time
	grant                            string // the last URL of its first file
}

// live creates a push, uses it and lets it end, or leaves it to look at it later.
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

// make creates a push of some kind.
func (s *soak) make(n uint64, rng *rand.Rand) (*knownPush, error) {
	p := &knownPush{kind: "text", payload: proctest.Text(rng), limit: 1 + rng.IntN(4), owned: n%10 > 0}
	switch n % 12 {
	case 3:
		p.kind, p.payload = "url", fmt.Sprintf("https://example.com/%x", rng.Uint64())
	case 6:
		p.kind, p.payload = "qr", fmt.Sprintf("%x", rng.Uint64())
	case 9:
		p.kind, p.owned = "file", true
		for range 1 + rng.IntN(2) {
			p.files = append(p.files, proctest.File{Seed: rng.Uint64(), Size: proctest.FileLength(rng)})
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
	var r proctest.Record
	err := s.sendPush(p, fields, n%24 == 9, &r)
	p.token, p.endsAt = r.Token, r.ExpiresAt
	return p, err
}

func (s *soak) sendPush(p *knownPush, fields map[string]string, base64 bool, r *proctest.Record) error {
	if len(p.files) == 0 {
		return s.Call(http.MethodPost, proctest.PushesPath, s.bearerOf(p), map[string]any{"push": fields}, http.StatusCreated, r)
	}
	return s.Upload(s.bearer, base64, fields, p.files, r)
}

func (s *soak) bearerOf(p *knownPush) string {
	if p.owned {
		return s.bearer
	}
	return ""
}

// approach makes requests that count no view.
func (s *soak) approach(p *knownPush, n uint64) error {
	ask := []struct {
		method, path string
		status       int
	}{
		{http.MethodGet, proctest.PushesPath + "/" + p.token + "/preview", http.StatusOK},
		{http.MethodHead, proctest.PushesPath + "/" + p.token, http.StatusMethodNotAllowed},
		{http.MethodGet, "/p/" + p.token + "/r", http.StatusOK},
		{http.MethodGet, "/", http.StatusOK},
	}[n%4]
	if _, err := s.fetch(ask.method, ask.path, "", ask.status); err != nil {
		return err
	}
	if n%30 == 5 {
		var l []proctest.Record
		return s.Call(http.MethodGet, proctest.PushesPath+"/active", s.bearer, nil, http.StatusOK, &l)
	}
	if p.passphrase == "" {
		return nil
	}
	_, err := s.fetch(http.MethodGet, proctest.PushesPath+"/"+p.token+"?passphrase=wrong", "", http.StatusUnauthorized)
	return err
}

// fetch sends a request with a form. The answer must have the status.
func (s *soak) fetch(method, path, form string, status int) ([]byte, error) {
	req, err := s.formRequest(method, path, form)
	if err != nil {
		return nil, err
	}
	got, answer, err := s.Send(req)
	if err == nil && got != status {
		err = fmt.Errorf("%s: status %d instead of %d: %s", method, got, status, answer)
	}
	return answer, err
}

// view opens a push by the API or on its page. Then one view less must be left.
func (s *soak) view(p *knownPush, onPage bool) error {
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
		return fmt.Errorf("P1: a %s push with %d views left of %d: not the payload that was sent", p.kind, r.Remaining, p.limit)
	case r.Remaining != p.left:
		return fmt.Errorf("P3: %d views are left, the answer says %d", p.left, r.Remaining)
	}
	return s.downloadAll(p, r)
}

func (s *soak) show(p *knownPush) (r proctest.Record, err error) {
	path := proctest.PushesPath + "/" + p.token
	if p.passphrase != "" {
		path += "?passphrase=" + p.passphrase
	}
	answer, err := s.fetch(http.MethodGet, path, "", http.StatusOK)
	if err != nil {
		return r, err
	}
	err = json.Unmarshal(answer, &r)
	return r, err
}

// useUp takes all views that are left. Then the push must be empty.
func (s *soak) useUp(p *knownPush) error {
	for p.left > 0 {
		if err := s.view(p, false); err != nil {
			return err
		}
	}
	return s.verifyEnded(p)
}

// remove deletes a push by the API or on its page.
func (s *soak) remove(p *knownPush, onPage bool) error {
	p.deleted = true
	if onPage {
		if err := s.expireOnPage(p); err != nil {
			return err
		}
		return s.verifyEnded(p)
	}
	var r proctest.Record
	if err := s.Call(http.MethodDelete, proctest.PushesPath+"/"+p.token, s.bearerOf(p), nil, http.StatusOK, &r); err != nil {
		return err
	}
	return s.verifyEnded(p)
}

// verifyEnded checks that a push is over: P2 after its last view, P5 after a delete,
// which also ends the grant of its files.
func (s *soak) verifyEnded(p *knownPush) error {
	r, err := s.show(p)
	switch {
	case err != nil:
		return err
	case !r.Expired || r.Payload != nil || r.Deleted != p.deleted:
		return fmt.Errorf("P2, P5: it should be over; expired: %t, with a payload: %t, deleted: %t instead of %t", r.Expired, r.Payload != nil, r.Deleted, p.deleted)
	case !p.deleted || p.grant == "":
		return nil
	}
	_, err = s.fetch(http.MethodGet, p.grant, "", http.StatusNotFound)
	return err
}
