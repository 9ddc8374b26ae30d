package server

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"pushbox/store/record"
)

// contactFor is how long the contact in security.txt is promised to be right, in days: less
// than a year, as RFC 9116 section 2.5.5 asks. The promise is made anew each day.
const contactFor = 180

// contact answers with security.txt (RFC 9116), which tells where to report a security
// problem. Without a contact it does not exist. The language of the contact is that of the
// pages for visitors who ask for none.
func (s *Server) contact(*request) (reply, error) {
	if s.cfg.SecurityContact == "" {
		return reply{}, record.ErrNotFound
	}
	day := s.clock.Now().UTC().Truncate(24 * time.Hour)
	lines := []string{
		"Contact: " + s.cfg.SecurityContact,
		"Expires: " + day.AddDate(0, 0, contactFor).Format(time.RFC3339),
		"Preferred-Languages: " + s.cfg.DefaultLocale,
	}
	if u, err := url.Parse(s.cfg.BaseURL); err == nil && u.Host != "" {
		lines = append(lines, "Canonical: "+originOf(u)+securityPath) // the file is for the whole host
	}
	return reply{status: http.StatusOK, text: &text{media: textType[0], body: []byte(strings.Join(lines, "\n") + "\n")}}, nil
}
