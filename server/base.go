package server

// errHost answers a request whose Host cannot be made a link of.
const errHost = badRequest("The request's Host is not a valid host name.")

// base returns what links in an answer begin with: base_url where it is set,
// else where the client found the server.
func (s *Server) base(r *request) (string, error) {
	if s.cfg.BaseURL != "" {
		return s.cfg.BaseURL, nil
	}
	return s.found(r)
}

// found returns where the client found the server: the scheme and host that it used,
// which a trusted proxy may tell, and the path that everything lies under.
func (s *Server) found(r *request) (string, error) {
	host, ok := s.proxies.Host(r.Request)
	if !ok {
		return "", errHost
	}
	return s.proxies.Scheme(r.Request) + "://" + host + s.cfg.BasePath, nil
}

// home returns what addresses of the server itself begin with: like links, unless
// those lead to another door than this one.
func (s *Server) home(r *request) string {
	if at, err := s.found(r); err == nil && !r.door.named {
		return at
	}
	return r.base
}
