package action

// ErrHost refuses a request whose Host cannot be part of a link.
const ErrHost = BadRequest("The request's Host is not a valid host name.")

// RequestBase returns the address at which the client reached the server: the scheme
// and the host, which a trusted proxy may pass on, and the base path.
func (r *Request) RequestBase() (string, error) {
	host, ok := r.Entry.Proxies.Host(r.Request)
	if !ok {
		return "", ErrHost
	}
	return r.Entry.Proxies.Scheme(r.Request) + "://" + host + r.Entry.BasePath, nil
}

// Home returns the beginning of addresses of this entry point. It is that of links,
// unless links lead to the other entry point.
func (r *Request) Home() string {
	if at, err := r.RequestBase(); err == nil && !r.Entry.Named {
		return at
	}
	return r.Base
}
