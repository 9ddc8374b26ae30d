package server

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"pushbox/server/action"
	"pushbox/store/record"
)

// Paths of checks, and of files that say where to report something.
const (
	readyPath    = "/readyz"
	metricsPath  = "/metrics"
	securityPath = "/.well-known/security.txt"
)

// routes returns the table. HEAD is GET without a body, so each row for GET is also one
// for HEAD, unless GET counts something.
func (s *Server) routes() []action.Route { return action.WithHead(s.table()) }

// served returns the rows of the table that the settings enable.
func (s *Server) served() []action.Route { return action.Served(s.table(), s.cfg.EnableRequests) }

// table has each row once.
func (s *Server) table() []action.Route {
	const get = http.MethodGet
	rows := []action.Route{
		{Name: "robots", Method: get, Pattern: "/robots.txt", Access: action.Public, Traits: action.IsPage | action.ForRecipients | action.NotCounted, Action: s.robots},
		{Name: "contact", Method: get, Pattern: securityPath, Access: action.Public, Traits: action.IsPage | action.ForRecipients | action.AtRoot, Action: s.contact},
		{Name: "probe", Method: get, Pattern: probePath + ":" + action.NameParam, Access: action.Public, Traits: action.ForRecipients, Action: s.probe},
		{Name: "health", Method: get, Pattern: action.HealthPath, Access: action.Public, Traits: action.ForRecipients | action.NotCounted | action.IsHealthCheck | action.AtRoot, Action: s.health},
		{Name: "health", Method: get, Pattern: "/up", Access: action.Public, Traits: action.ForRecipients | action.NotCounted | action.IsHealthCheck | action.AtRoot, Action: s.health}, // the path of Password Pusher
		{Name: "ready", Method: get, Pattern: readyPath, Access: action.Public, Traits: action.ForRecipients | action.NotCounted | action.IsHealthCheck | action.AtRoot, Action: s.ready},
		{Name: "metrics", Method: get, Pattern: metricsPath, Access: action.Public, Action: s.metrics},
		{Name: "v1_preflight", Method: http.MethodOptions, Pattern: "/p.json", Access: action.Public, Traits: action.IsV1 | action.CrossOrigin | action.Unlisted, Action: s.preflight},
	}
	return slices.Concat(s.api.Routes(), rows, s.pages.Routes())
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

// preflight answers the question that browsers ask before a script of another site may
// create a push (Fetch Standard, CORS-preflight request).
func (s *Server) preflight(r *action.Request) (action.Reply, error) {
	rep := action.Reply{Status: http.StatusOK, Header: [][2]string{{"Allow", http.MethodOptions + ", " + http.MethodPost}}}
	if s.sharesAnswer(r) {
		rep.Header = append(rep.Header, [2]string{"Access-Control-Allow-Methods", http.MethodPost})
		if asked := r.Header.Get("Access-Control-Request-Headers"); isHeaderList(asked) {
			rep.Header = append(rep.Header, [2]string{"Access-Control-Allow-Headers", asked})
		}
	}
	return rep, nil
}

// isHeaderList reports whether a text is a short list of names of headers, which may be
// repeated in an answer.
func isHeaderList(text string) bool {
	const inNames = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_, "
	return text != "" && len(text) <= 1000 && strings.Trim(text, inNames) == ""
}

// sharesAnswer reports whether scripts of other sites may read the answer.
func (s *Server) sharesAnswer(r *action.Request) bool {
	return r.Route != nil && r.Route.Has(action.CrossOrigin) && s.cfg.SharesAPIv1() && s.answersTo(r)
}
