package main

import (
	"bytes"
	"encoding/base64"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// A request is one call of an API.
type request struct {
	method     string
	path       string
	body       []byte // JSON; nil for none
	status     int    // that the answer must have
	authorized bool   // with the API token of the subject, if it has one
}

// A push is what a create asks for.
type push struct {
	payload    string // letters alone, so that neither JSON nor a query escapes them
	views      int    // that it allows
	passphrase string // letters alone; "": none
	file       bool   // with a file, whose content is the payload
}

// An api describes the HTTP API of a server.
type api struct {
	createPath string
	created    int               // the status of an answer to a create
	body       func(push) string // of a create
	token      string            // the member of an answer to a create that names the push, in quotes
	before     string            // the path of a push, before its token
	after      string            // and behind it
	payload    string            // the member of an answer to a view that has the payload, in quotes
	wire       func(payload string) string
	plain      bool // a push may allow more than one view
	deletes    bool // a push can be deleted through its path
}

// apis are the APIs that the tool speaks. The bare handler takes the creates of v2.
var apis = map[string]*api{
	"v2":     passwordPusher(api{createPath: "/api/v2/pushes", before: "/api/v2/pushes/"}, "push", http.StatusCreated),
	"v1":     passwordPusher(api{createPath: "/p.json", before: "/p/", after: ".json"}, "password", http.StatusCreated),
	bareWord: passwordPusher(api{createPath: "/api/v2/pushes"}, "push", http.StatusOK),
	// Luzifer/ots. A secret allows one view, and nothing else ends it.
	"ots": {
		createPath: "/api/create", created: http.StatusCreated, token: `"secret_id"`, before: "/api/get/", payload: `"secret"`, wire: asItIs,
		body: func(p push) string { return `{"secret":"` + p.payload + `"}` },
	},
	// yopass stores what its clients have encrypted, and refuses what does not have the
	// form of OpenPGP.
	"yopass": {
		createPath: "/create/secret", created: http.StatusOK, token: `"message"`, before: "/secret/", payload: `"message"`, wire: armored,
		body: func(p push) string {
			return `{"message":"` + armored(p.payload) + `","expiration":86400,"one_time":` + strconv.FormatBool(p.views == 1) + `}`
		},
		plain: true,
	},
}

// passwordPusher completes a version of Password Pusher's API. The create has the fields
// of a push in that object.
func passwordPusher(a api, object string, created int) *api {
	a.created, a.token, a.payload, a.wire, a.plain, a.deletes = created, `"url_token"`, `"payload"`, asItIs, true, true
	a.body = func(p push) string {
		b := `{"` + object + `":{"payload":"` + p.payload + `","expire_after_days":7,"expire_after_views":` + strconv.Itoa(p.views)
		if p.passphrase != "" {
			b += `,"passphrase":"` + p.passphrase + `"`
		}
		if p.file {
			b += `,"files":[{"filename":"a.txt","content_type":"text/plain","content":"` + base64.StdEncoding.EncodeToString([]byte(p.payload)) + `"}]`
		}
		return b + `}}`
	}
	return &a
}

// asItIs is the payload as JSON has it.
func asItIs(payload string) string { return payload }

// armored is the payload in the form of an OpenPGP message, within a JSON text. Its
// letters represent the encrypted bytes; the server cannot know more about them.
func armored(payload string) string {
	const line, group = 64, 4 // characters that base64 and OpenPGP put together
	text := "-----BEGIN PGP MESSAGE-----\\n"
	payload += strings.Repeat("A", (group-len(payload)%group)%group)
	for part := range slices.Chunk([]byte(payload), line) {
		text += "\\n" + string(part)
	}
	return text + "\\n-----END PGP MESSAGE-----"
}

// create is the request that creates a push.
func (a *api) create(p push) request {
	return request{method: http.MethodPost, path: a.createPath, body: []byte(a.body(p)), status: a.created}
}

// view is the request that retrieves a push.
func (a *api) view(token string) request {
	return request{method: http.MethodGet, path: a.before + token + a.after, status: http.StatusOK}
}

// viewWith makes requests that retrieve a push with a query.
func (a *api) viewWith(query string, status int) func(token string) request {
	return func(token string) request {
		return request{method: http.MethodGet, path: a.before + token + a.after + query, status: status}
	}
}

// remove is the request that deletes a push.
func (a *api) remove(token string) request {
	return request{method: http.MethodDelete, path: a.before + token + a.after, status: http.StatusOK}
}

var (
	errNoToken   = errors.New("the answer does not name the push")
	errNoPayload = errors.New("the answer does not have the payload: the push has expired, or it is another push")
)

// tokenIn is the token of the push in the answer to a create.
func (a *api) tokenIn(answer []byte) (string, error) {
	t, ok := member(answer, a.token)
	if !ok || len(t) == 0 {
		return "", errNoToken
	}
	return string(t), nil
}

// checkView fails unless the answer to a view has a payload as long as this one.
func (a *api) checkView(answer []byte, payload string) error {
	if p, ok := member(answer, a.payload); !ok || len(p) != len(a.wire(payload)) {
		return errNoPayload
	}
	return nil
}

// member finds the text of a member in a JSON object; the name includes its quotes. It
// does not parse the object, to leave the CPU to the server: texts must have no escaped
// quotes, and escapes stay as they are.
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
