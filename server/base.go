package server

// errHost answers a request whose Host cannot be made a link of.
const errHost = badRequest("The request's Host is not a valid host name.")

// base returns what links in an answer begin with: base_url where it is set,
// else the scheme and host that the client used, which a trusted proxy may tell.
func (s *Server) base(r *request) (string, error) {
	if s.cfg.BaseURL != "" {
		return s.cfg.BaseURL, nil
	}
	host, ok := s.proxies.Host(r.Request)
	if !ok {
		return "", errHost
	}
	return s.proxies.Scheme(r.Request) + "://" + host, nil
}
