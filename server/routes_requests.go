package server

import "net/http"

// Paths of requests for secrets.
const (
	requestsPath = "/requests"
	sentPath     = "/q/sent"
)

// routesRequests returns the rows for the pages of requests for secrets.
func (s *Server) routesRequests() []route {
	const (
		get     = http.MethodGet
		post    = http.MethodPost
		request = requestsPath + "/:" + tokenParam
		answer  = "/q/:" + tokenParam
	)
	return []route{
		{name: "requests_page", method: get, pattern: requestsPath, access: required, traits: forRequests | isPage | hasList, nav: "requests", action: s.requestsPage},
		{name: "request_form", method: get, pattern: request, word: "new", access: required, traits: forRequests | isPage | compressed, nav: "requests", action: s.requestForm},
		{name: "request_made", method: post, pattern: request, word: "new", access: required, traits: forRequests | isPage, nav: "requests", action: s.withForm(s.makeRequest)},
		{name: "request_page", method: get, pattern: request, access: required, traits: forRequests | isPage | hasLinks, nav: "requests", action: s.requestPage},
		{name: "request_ended", method: post, pattern: request + "/end", access: required, traits: forRequests | isPage, action: s.endOwnRequest},

		{name: "answer_form", method: get, pattern: answer, access: optional, traits: forRequests | isPage | forRecipients, action: s.answerForm},
		{name: "answer", method: post, pattern: answer, access: optional, traits: forRequests | isPage | hasFiles | forRecipients, action: s.makeAnswer},
		{name: "answer_sent", method: get, pattern: answer, word: "sent", access: optional, traits: forRequests | isPage | forRecipients | compressed, action: s.answerSent},
	}
}
