package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
)

// The operations. The first is all that happens to most secrets after their create.
const (
	lastView      = "last view" // the one view of a push: it ends the push
	plainView     = "view"      // of a push that allows more
	createPush    = "create"
	deletePush    = "delete"
	lastFileView  = "last view of a file"
	plainFileView = "view of a file"
	wrongWord     = "wrong passphrase"
	rightWord     = "right passphrase"
	hotView       = "view of one push" // by all connections at once, with few views left
	listPage      = "list page"        // the first page of an account's pushes
	auditPage     = "audit page"       // of a push
	bareWord      = "bare"             // a request to the bare handler, which is the subject bare
)

// The commands that compare with something other than the bare handler.
const (
	boltCommand     = "bolt"
	postgresCommand = "postgres"
)

// operationsOf are the operations that each command measures.
var operationsOf = map[string][]string{
	"":              {lastView, plainView, createPush, deletePush, lastFileView, plainFileView, wrongWord, rightWord},
	boltCommand:     {createPush, plainView},
	postgresCommand: {createPush, plainView, hotView, listPage, auditPage},
}

const (
	manyViews  = 100_000 // the view limit of pushes that are measured by views: the greatest that pushbox allows
	hotLimit   = 100     // the view limit of the push that all ask for
	hotReaders = 256     // requests of all connections together for it: some find that it has ended
	fewViews   = 5       // the view limit of other pushes
	kept       = 100     // file pushes, and pushes with a passphrase, that are viewed again and again
	mostSlow   = 16      // connections that check passphrases
)

// More members of a push: a passphrase, and a file of 201 bytes.
var (
	withPhrase = `,"passphrase":"right"`
	withFile   = `,"files":[{"filename":"a.txt","content_type":"text/plain","content":"` + strings.Repeat("YWJj", 67) + `"}]`
)

type operation struct {
	subject *subject
	name    string
	beside  string // the operation with which a report compares it; "": none
	call    func(token string) request
	tokens  []string // of the pushes that it takes at random; nil: it takes none
	stock   *stock   // the pushes that it ends; nil: it ends none
	check   func(answer []byte) error
}

// next is the next request; false when the stock is empty.
func (op operation) next() (request, bool) {
	switch s := op.stock; {
	case s != nil:
		i := int(s.taken.Add(1)-1) / s.each
		if i >= len(s.tokens) {
			return request{}, false
		}
		return op.call(s.tokens[i]), true
	case op.tokens != nil:
		return op.call(op.tokens[rand.IntN(len(op.tokens))]), true
	default:
		return op.call(""), true
	}
}

func (s *subject) operations(only []string) (measured []operation) {
	created := func(answer []byte) error { _, err := s.api.tokenIn(answer); return err }
	viewed := func(answer []byte) error { return s.api.checkView(answer, s.payload) }
	answered := func([]byte) error { return nil } // the status says it
	stocked := func(requests, views int, more string) *stock {
		return &stock{each: requests, create: s.create(views, more)}
	}
	always := func(r request) func(string) request { return func(string) request { return r } }
	create := always(s.create(fewViews, ""))
	view := s.api.call(http.MethodGet, http.StatusOK, "", false)
	wrong := s.api.call(http.MethodGet, http.StatusUnauthorized, "?passphrase=wrong", false)
	right := s.api.call(http.MethodGet, http.StatusOK, "?passphrase=right", false)
	remove := s.api.call(http.MethodDelete, http.StatusOK, "", s.path == "")
	audit := s.api.call(http.MethodGet, http.StatusOK, "/audit", true)
	list := always(request{method: http.MethodGet, path: "/api/v2/pushes/active", status: http.StatusOK, authorized: true})
	for _, op := range []operation{
		{name: bareWord, call: create, check: answered},
		{name: lastView, beside: plainView, call: view, stock: stocked(1, 1, ""), check: viewed},
		{name: plainView, call: view, tokens: s.tokens, check: viewed},
		{name: createPush, call: create, check: created},
		{name: deletePush, beside: plainView, call: remove, stock: stocked(1, manyViews, ""), check: created},
		{name: lastFileView, beside: plainFileView, call: view, stock: stocked(1, 1, withFile), check: viewed},
		{name: plainFileView, call: view, tokens: s.files, check: viewed},
		{name: wrongWord, beside: rightWord, call: wrong, tokens: s.locked, check: answered},
		{name: rightWord, call: right, tokens: s.locked, check: viewed},
		{name: hotView, call: view, stock: stocked(hotReaders, hotLimit, ""), check: answered},
		{name: listPage, call: list, check: answered},
		{name: auditPage, call: audit, tokens: s.tokens[:min(len(s.tokens), kept)], check: answered},
	} {
		if op.subject = s; s.can(op.name) && (op.name == bareWord || slices.Contains(only, op.name)) {
			measured = append(measured, op)
		}
	}
	return measured
}

func payload(n int) string { return strings.Repeat("abcdefghijklmnopqrstuvwxyz", n/26+1)[:n] }

// A stock holds pushes for an operation that ends each push with its requests. It is filled before each lap. What a
// lap leaves is used by the next.
type stock struct {
	create request
	each   int // requests for a push
	tokens []string
	taken  atomic.Int64 // requests
	size   int          // to which it is filled
}

// fill fills the stock for a lap: the first has 1000 pushes, and does not count. The first request of each connection
// does not count, either, so each has at least four.
func (s *stock) fill(ctx context.Context, b *bench, of *subject, conns int) error {
	s.size = max(s.size, 1000, 4*conns)
	begun := (int(s.taken.Swap(0)) + s.each - 1) / s.each // pushes
	s.tokens = s.tokens[min(begun, len(s.tokens)):]
	more, err := of.store(ctx, b, s.size-len(s.tokens), s.create)
	s.tokens = append(more, s.tokens...)
	return err
}

type request struct {
	method     string
	path       string
	body       []byte // JSON; nil for none
	status     int    // that the answer must have
	authorized bool   // with the API token of the subject, if it has one
}

// A body is that of a create: the payload has letters alone, so that JSON does not escape them, and may be viewed so many
// times. More are members of the object.
type body func(payload string, views int, more string) string

type api struct {
	can        []string            // the operations that can be measured by it
	createPath string              // the path of a create
	created    int                 // the status of an answer to a create
	body       body                // of a create
	token      string              // the member of an answer to a create that names the push, in quotes; "": all of the answer
	before     string              // the path of a push, before its token
	after      string              // and behind it
	payload    string              // the member of an answer to a view that has the payload, in quotes; "": none
	wire       func(string) string // the payload as the answer has it; nil: as it is
}

// apis are the APIs that the tool speaks. The bare handler takes the creates of v2. Luzifer/ots allows one view of a
// secret, and nothing else ends it. yopass stores what its clients have encrypted, and refuses what does not have the
// form of OpenPGP.
var apis = map[string]*api{
	"v2": {
		can: []string{lastView, plainView, createPush, deletePush}, createPath: "/api/v2/pushes", created: http.StatusCreated,
		body: pushIn("push"), token: `"url_token"`, before: "/api/v2/pushes/", payload: `"payload"`,
	},
	"v1": {
		can: []string{lastView, plainView, createPush, deletePush}, createPath: "/p.json", created: http.StatusCreated,
		body: pushIn("password"), token: `"url_token"`, before: "/p/", after: ".json", payload: `"payload"`,
	},
	bareWord: {can: []string{bareWord}, createPath: "/api/v2/pushes", created: http.StatusOK, body: pushIn("push")},
	"ots": {
		can: []string{lastView, createPush}, createPath: "/api/create", created: http.StatusCreated,
		body:  func(payload string, _ int, _ string) string { return `{"secret":"` + payload + `"}` },
		token: `"secret_id"`, before: "/api/get/", payload: `"secret"`,
	},
	"yopass": {
		can: []string{lastView, plainView, createPush}, createPath: "/create/secret", created: http.StatusOK,
		body: func(payload string, views int, _ string) string {
			return `{"message":"` + armored(payload) + `","expiration":86400,"one_time":` + strconv.FormatBool(views == 1) + `}`
		},
		token: `"message"`, before: "/secret/", payload: `"message"`, wire: armored,
	},
}

// pushIn is the body in Password Pusher's API, with the members of a push in that object.
func pushIn(object string) body {
	return func(payload string, views int, more string) string {
		return fmt.Sprintf(`{"%s":{"payload":"%s","expire_after_days":7,"expire_after_views":%d%s}}`, object, payload, views, more)
	}
}

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

func (a *api) call(method string, status int, end string, authorized bool) func(token string) request {
	return func(token string) request {
		return request{method: method, path: a.before + token + a.after + end, status: status, authorized: authorized}
	}
}

func (a *api) tokenIn(answer []byte) (string, error) {
	if a.token == "" {
		return string(answer), nil
	}
	if t, ok := member(answer, a.token); ok && len(t) > 0 {
		return string(t), nil
	}
	return "", errors.New("the answer does not name the push")
}

// checkView fails unless the answer to a view has a payload as long as this one.
func (a *api) checkView(answer []byte, payload string) error {
	if a.wire != nil {
		payload = a.wire(payload)
	}
	if p, ok := member(answer, a.payload); a.payload == "" || ok && len(p) == len(payload) {
		return nil
	}
	return errors.New("the answer does not have the payload: the push has expired, or it is another push")
}

// member finds the text of a member in a JSON object; the name includes its quotes. It
// does not parse the object, to leave the CPU to the server: texts must have no escaped
// quotes, and escapes stay as they are.
func member(object []byte, name string) (text []byte, ok bool) {
	_, rest, _ := bytes.Cut(object, []byte(name))
	between, rest, _ := bytes.Cut(rest, []byte(`"`))
	text, _, ok = bytes.Cut(rest, []byte(`"`))
	return text, ok && string(bytes.TrimSpace(between)) == ":"
}
