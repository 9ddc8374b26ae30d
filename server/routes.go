package server

import (
	"net/http"
	"slices"

	"pushbox/internal/certificate"
	"pushbox/server/action"
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
		{Name: "certificate_key", Method: get, Pattern: certificate.KeyPath, Access: action.Public, Traits: action.IsPage | action.ForRecipients, Action: s.certificateKey},
		{Name: "probe", Method: get, Pattern: probePath + ":" + action.NameParam, Access: action.Public, Traits: action.ForRecipients, Action: s.probe},
		{Name: "health", Method: get, Pattern: action.HealthPath, Access: action.Public, Traits: action.ForRecipients | action.NotCounted | action.IsHealthCheck | action.AtRoot, Action: s.health},
		{Name: "health", Method: get, Pattern: "/up", Access: action.Public, Traits: action.ForRecipients | action.NotCounted | action.IsHealthCheck | action.AtRoot, Action: s.health}, // the path of Password Pusher
		{Name: "ready", Method: get, Pattern: readyPath, Access: action.Public, Traits: action.ForRecipients | action.NotCounted | action.IsHealthCheck | action.AtRoot, Action: s.ready},
		{Name: "metrics", Method: get, Pattern: metricsPath, Access: action.Public, Action: s.metrics},
		{Name: "v1_preflight", Method: http.MethodOptions, Pattern: "/p.json", Access: action.Public, Traits: action.IsV1 | action.CrossOrigin | action.Unlisted, Action: s.preflight},
	}
	return slices.Concat(s.api.Routes(), rows, s.pages.Routes())
}
