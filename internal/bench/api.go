package main

import (
	"bytes"
	"errors"
	"net/http"
	"strconv"
)

// A request is one call of an API.
type request struct {
	method string
	path   string
	body   []byte // JSON; nil for none
	status int    // of the answer that is expected
}

// An api is what servers that speak one version of it have in common.
type api struct {
	createPath string
	object     string // that holds the fields of a push
	created    int    // the status of an answer to a create
	viewBefore string // the token
	viewAfter  string
}

// apis are the versions there are. bare takes the creates of v2.
var apis = map[string]api{
	"v2":     {createPath: "/api/v2/pushes", object: "push", created: http.StatusCreated, viewBefore: "/api/v2/pushes/"},
	"v1":     {createPath: "/p.json", object: "password", created: http.StatusCreated, viewBefore: "/p/", viewAfter: ".json"},
	bareWord: {createPath: "/api/v2/pushes", object: "push", created: http.StatusOK},
}

// create is the request for a push with that payload, which has nothing in it
// that JSON escapes, and that view limit.
func (a api) create(payload string, views int) request {
	body := `{"` + a.object + `":{"payload":"` + payload + `","expire_after_days":7,"expire_after_views":` + strconv.Itoa(views) + `}}`
	return request{method: http.MethodPost, path: a.createPath, body: []byte(body), status: a.created}
}

// view is the request that retrieves a push.
func (a api) view(token string) request {
	return request{method: http.MethodGet, path: a.viewBefore + token + a.viewAfter, status: http.StatusOK}
}

var (
	errNoToken   = errors.New("the answer has no url_token")
	errNoPayload = errors.New("the answer does not have the payload: the push has expired, or is another's")
)

// token is the url_token in the answer to a create.
func (a api) token(answer []byte) (string, error) {
	t, ok := member(answer, `"url_token"`)
	if !ok || len(t) == 0 {
		return "", errNoToken
	}
	return string(t), nil
}

// checkView refuses an answer to a view that has no payload of that length.
func (a api) checkView(answer []byte, length int) error {
	if p, ok := member(answer, `"payload"`); !ok || len(p) != length {
		return errNoPayload
	}
	return nil
}

// member finds, in a JSON object, the text of a member whose name is given with
// its quotes. It reads no more than it must, so as to leave the machine to the
// server; that is enough for texts without escapes.
func member(object []byte, name string) ([]byte, bool) {
	_, rest, ok := bytes.Cut(object, []byte(name))
	if !ok {
		return nil, false
	}
	rest, ok = bytes.CutPrefix(bytes.TrimLeft(rest, " \t\r\n"), []byte(":"))
	if !ok {
		return nil, false
	}
	rest, ok = bytes.CutPrefix(bytes.TrimLeft(rest, " \t\r\n"), []byte(`"`))
	if !ok {
		return nil, false
	}
	text, _, ok := bytes.Cut(rest, []byte(`"`))
	return text, ok
}
