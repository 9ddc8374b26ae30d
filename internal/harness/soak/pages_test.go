package soak

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"

	"pushbox/internal/proctest"
)

func (s *soak) formRequest(method, path, form string) (*http.Request, error) {
	req, err := http.NewRequest(method, s.URL+path, strings.NewReader(form))
	if err == nil && form != "" {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return req, err
}

// reveal opens a push on its page, as a person does.
func (s *soak) reveal(p *knownPush) error {
	s.pages.Add(1)
	page, err := s.fetch(http.MethodPost, "/p/"+p.token, "passphrase=", http.StatusOK)
	if err == nil && p.payload != "" && !bytes.Contains(page, []byte(p.payload)) {
		err = fmt.Errorf("P7: the page of a %s push does not show it", p.kind)
	}
	return err
}

// expireOnPage expires a push with the button for its viewers. A url push has no
// button: its owner deletes it.
func (s *soak) expireOnPage(p *knownPush) error {
	s.pages.Add(1)
	if p.kind == "url" {
		p.deleted = p.owned
		if p.owned {
			return s.Call(http.MethodDelete, proctest.PushesPath+"/"+p.token, s.bearer, nil, http.StatusOK, &proctest.Record{})
		}
		return s.useUp(p)
	}
	req, err := s.formRequest(http.MethodPost, "/p/"+p.token+"/expire", "x=")
	if err != nil {
		return err
	}
	status, answer, err := s.Send(req)
	if err == nil && status >= http.StatusBadRequest {
		err = fmt.Errorf("to expire a %s push: status %d: %s", p.kind, status, answer)
	}
	return err
}

// signInAndOut signs in, opens the pages of an account, and signs out.
func (s *soak) signInAndOut() error {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return err
	}
	browser := http.Client{Transport: s.HTTP.Transport, Jar: jar, Timeout: proctest.Patience}
	form := url.Values{"email": {proctest.Email}, "password": {proctest.Password}}.Encode()
	for _, step := range []struct{ method, path, form, shows string }{
		{http.MethodPost, "/users/sign_in", form, ""},
		{http.MethodGet, "/p", "", "/users/sign_out"},
		{http.MethodGet, "/users/sessions", "", "/users/sign_out"},
		{http.MethodPost, "/users/sign_out", "x=", ""},
	} {
		req, err := s.formRequest(step.method, step.path, step.form)
		if err != nil {
			return err
		}
		s.pages.Add(1)
		res, err := browser.Do(req)
		if err != nil {
			return s.Cut(err)
		}
		var page bytes.Buffer
		_, err = page.ReadFrom(res.Body)
		if err = errors.Join(err, res.Body.Close()); err != nil {
			return s.Cut(err)
		}
		if res.StatusCode != http.StatusOK || !strings.Contains(page.String(), step.shows) {
			return fmt.Errorf("%s: status %d", step.path, res.StatusCode)
		}
	}
	return nil
}
