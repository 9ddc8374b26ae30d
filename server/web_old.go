package server

import (
	"cmp"
	"net/http"
	"regexp"

	"pushbox/server/display"
	"pushbox/store"
)

// moved returns a permanent redirect to a path, with a query. Like every answer with a
// link, it must not be stored.
func moved(path, query string) reply {
	if query != "" {
		path += "?" + query
	}
	return reply{status: http.StatusMovedPermanently, to: path}
}

// movedTo returns an action that redirects to a path.
func movedTo(path string) action {
	return func(r *request) (reply, error) { return moved(path, r.URL.RawQuery), nil }
}

// oldToken matches what may be a url_token of Password Pusher. They are shorter than
// those of pushbox, and have upper and lower case.
var oldToken = regexp.MustCompile(`\A[0-9A-Za-z_-]{1,64}\z`)

// oldPush returns an action that redirects to a push, whether or not it exists, or to a
// page below it. A language in the old path goes on in the query.
func (s *Server) oldPush(tail string) action {
	return func(r *request) (reply, error) {
		token := cmp.Or(r.urlToken.Reveal(), r.sentToken.Reveal())
		if !oldToken.MatchString(token) {
			return reply{}, store.ErrNotFound
		}
		query := r.URL.RawQuery
		if tag := s.words.Near(r.name.Reveal()); tag != "" {
			query = localeName + "=" + tag
			if r.URL.RawQuery != "" {
				query = r.URL.RawQuery + "&" + query
			}
		}
		return moved("/p/"+token+tail, query), nil
	}
}

// A linkQRView is the page with the QR code of a link. Programs for browsers take the
// code from it.
type linkQRView struct {
	Link string
	QR   *display.QR // nil: the link is too long for one, or lacks its key
}

// linkQRPage shows the link of a push as a QR code. It opens nothing and leaves no trace.
func (s *Server) linkQRPage(r *request) (reply, error) {
	v, err := s.look(r)
	if err != nil {
		return reply{}, err
	}
	link := htmlURL(v.PushInfo, r.base)
	page := linkQRView{Link: link}
	if !v.ClientEncrypted { // the code would lack the key
		page.QR = display.LinkQR(link)
	}
	return show(http.StatusOK, "link_qr", page), nil
}
