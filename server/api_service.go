package server

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"pushbox/server/action"
	"pushbox/store/record"
)

// apiVersion is the version of Password Pusher's API that this is.
const apiVersion = "2.1"

// edition is Password Pusher's name for a server that its users run themselves.
const edition = "oss"

// versionJSON tells clients what a server can do. Its keys are those of Password
// Pusher.
type versionJSON struct {
	ApplicationVersion string       `json:"application_version"`
	APIVersion         string       `json:"api_version"`
	Edition            string       `json:"edition"`
	Features           featuresJSON `json:"features"`
}

type featuresJSON struct {
	AnonymousAccess        bool             `json:"anonymous_access"`
	APITokenAuthentication bool             `json:"api_token_authentication"`
	Accounts               switchJSON       `json:"accounts"`
	Pushes                 pushFeaturesJSON `json:"pushes"`
	Requests               switchJSON       `json:"requests"`
}

type pushFeaturesJSON struct {
	Enabled           bool           `json:"enabled"`
	EmailAutoDispatch bool           `json:"email_auto_dispatch"`
	FileAttachments   attachmentJSON `json:"file_attachments"`
	URLPushes         switchJSON     `json:"url_pushes"`
	QRCodePushes      switchJSON     `json:"qr_code_pushes"`
}

type attachmentJSON struct {
	Enabled                bool `json:"enabled"`
	RequiresAuthentication bool `json:"requires_authentication"`
}

type switchJSON struct {
	Enabled bool `json:"enabled"`
}

// version describes the server, as it is for accounts without a policy. Accounts are a feature of Password Pusher's hosted
// edition: several accounts for a token.
func (s *Server) version(*action.Request) (action.Reply, error) {
	return action.OK(versionJSON{ApplicationVersion: s.release, APIVersion: apiVersion, Edition: edition, Features: s.features()}), nil
}

func (s *Server) features() featuresJSON {
	policy := s.store.Policy("")
	enabled := func(k record.Kind) bool { return policy.Terms[k].Enabled }
	return featuresJSON{
		AnonymousAccess:        s.cfg.AllowAnonymous,
		APITokenAuthentication: true,
		Pushes: pushFeaturesJSON{
			Enabled:           true,
			EmailAutoDispatch: s.cfg.Mail.Enabled() && !policy.NoMail,
			FileAttachments:   attachmentJSON{Enabled: enabled(record.File), RequiresAuthentication: true},
			URLPushes:         switchJSON{enabled(record.URL)},
			QRCodePushes:      switchJSON{enabled(record.QR)},
		},
		Requests: switchJSON{s.cfg.EnableRequests},
	}
}

type healthJSON struct {
	Status string `json:"status"`
}

// health reports whether the store still accepts writes.
func (s *Server) health(*action.Request) (action.Reply, error) {
	select {
	case <-s.store.Failed():
		return action.Reply{}, record.ErrFailed
	default:
		return action.OK(healthJSON{"ok"}), nil
	}
}

// robots asks crawlers to visit nothing.
func (s *Server) robots(*action.Request) (action.Reply, error) {
	return action.Reply{Status: http.StatusOK, Text: &action.Text{Media: textType[0], Body: []byte("User-agent: *\nDisallow: /\n")}}, nil
}

// contactFor is how long the contact in security.txt is promised to be right, in days: less
// than a year, as RFC 9116 section 2.5.5 asks. The promise is made anew each day.
const contactFor = 180

// contact answers with security.txt (RFC 9116), which tells where to report a security
// problem. Without a contact it does not exist. The language of the contact is that of the
// pages for visitors who ask for none.
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
