package server

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"pushbox/internal/certificate"
	"pushbox/server/action"
	"pushbox/store/record"
)

// robots asks crawlers to visit nothing.
func (s *Server) robots(*action.Request) (action.Reply, error) {
	return action.Reply{Status: http.StatusOK, Text: &action.Text{Media: textType[0], Body: []byte("User-agent: *\nDisallow: /\n")}}, nil
}

// contactFor is the validity of the contact in security.txt in days: less than a year, as RFC 9116
// section 2.5.5 recommends. It is extended each day.
const contactFor = 180

// contact answers with security.txt (RFC 9116), which says where to report a security problem.
// Without a contact it does not exist. The language of the contact is the default language of the
// pages.
func (s *Server) contact(*action.Request) (action.Reply, error) {
	if s.cfg.SecurityContact == "" {
		return action.Reply{}, record.ErrNotFound
	}
	day := s.clock.Now().UTC().Truncate(24 * time.Hour)
	lines := []string{
		"Contact: " + s.cfg.SecurityContact,
		"Expires: " + day.AddDate(0, 0, contactFor).Format(time.RFC3339),
		"Preferred-Languages: " + s.cfg.DefaultLocale,
	}
	if u, err := url.Parse(s.cfg.BaseURL); err == nil && u.Host != "" {
		lines = append(lines, "Canonical: "+action.OriginOf(u)+securityPath) // the file is for the whole host
	}
	return action.Reply{Status: http.StatusOK, Text: &action.Text{Media: textType[0], Body: []byte(strings.Join(lines, "\n") + "\n")}}, nil
}

// certificateKey answers with the public key of certificates.
func (s *Server) certificateKey(*action.Request) (action.Reply, error) {
	_, key := s.store.Certify(nil)
	return action.Reply{Status: http.StatusOK, Text: &action.Text{Media: textType[0], Body: certificate.Public(key)}}, nil
}
