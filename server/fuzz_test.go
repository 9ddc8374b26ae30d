package server

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/julienschmidt/httprouter"

	"pushbox/config"
	"pushbox/internal/secret"
	"pushbox/store"
)

// FuzzRoutes holds that routing never panics, that .json changes nothing, and
// that what a path leads to is what a plain reading of the table says.
func FuzzRoutes(f *testing.F) {
	s := &Server{}
	r := newRouter(s.routes(), "")
	for _, row := range s.routes() {
		f.Add(row.method, row.pattern)
		f.Add(row.method, row.pattern+".json")
	}
	f.Add("GET", "/api/v2/pushes/active/audit")
	f.Add("HEAD", "//")
	f.Add("GET", "/api/v2/pushes//audit")
	f.Fuzz(func(t *testing.T, method, path string) {
		if !strings.HasPrefix(path, "/") && path != "*" {
			return // net/http lets nothing else through
		}
		route, key := r.find(method, path)
		want, wantKey := readTable(s.routes(), method, path)
		if (route == nil) != (want == nil) || route != nil && (route.name != want.name || !slices.Equal(key, wantKey)) {
			t.Fatalf("%s %q leads to %+v with %q, not %+v with %q", method, path, route, key, want, wantKey)
		}
		if strings.HasPrefix(path, "/api/") && !strings.HasSuffix(path, ".json") {
			again, keyAgain := r.find(method, path+".json")
			if (again == nil) != (route == nil) || again != nil && (again.name != route.name || !slices.Equal(keyAgain, key)) {
				t.Fatalf("%s %q leads elsewhere with .json", method, path)
			}
		}
		_ = r.allowed(path)
	})
}

// readTable finds a route by going through the table.
func readTable(rows []route, method, path string) (*route, httprouter.Params) {
	path = trimJSON(path, "")
	var other *route
	var params httprouter.Params
	for i, row := range rows {
		got, ok := match(row.pattern, path)
		if row.method != method || !ok {
			continue
		}
		if row.word != "" && row.word == got.ByName(tokenParam) || !hasParam(row.pattern, tokenParam) {
			return &rows[i], got
		}
		if row.word == "" {
			other, params = &rows[i], got
		}
	}
	return other, params
}

func match(pattern, path string) (params httprouter.Params, ok bool) {
	want, got := strings.Split(pattern, "/"), strings.Split(path, "/")
	if len(want) != len(got) {
		return nil, false
	}
	for i, part := range want {
		name, isParam := strings.CutPrefix(part, ":")
		switch {
		case isParam && got[i] != "":
			params = append(params, httprouter.Param{Key: name, Value: got[i]})
		case part != got[i]:
			return nil, false
		}
	}
	return params, true
}

// FuzzAuthorization holds that a bearer token is taken exactly where the header
// is the scheme and one word.
func FuzzAuthorization(f *testing.F) {
	for _, v := range []string{"Bearer x", "bearer  x", "Bearer", "Bearer ", "Basic x", "Bearer x y", "BEARER\tx", ""} {
		f.Add(v)
	}
	f.Fuzz(func(t *testing.T, v string) {
		token, ok := bearer([]string{v})
		words := strings.FieldsFunc(v, func(r rune) bool { return r == ' ' })
		want := len(words) == 2 && strings.EqualFold(words[0], "Bearer") && !strings.HasPrefix(v, " ")
		if ok != want || ok && token.Reveal() != words[1] {
			t.Fatalf("%q: %v", v, ok)
		}
		c, given, err := readCredentials(http.Header{headerAuthorization: {v}})
		if !given || (err == nil) != want || err != nil && !errors.Is(err, store.ErrToken) || err == nil && c.token.Reveal() != words[1] {
			t.Fatalf("%q as a header: %v", v, err)
		}
	})
}

// FuzzCreateBody holds that a body of any type is refused with an error that
// has a status, or gives fields that give a push or a 422; and that a text that
// was sent in JSON is the text that comes out.
func FuzzCreateBody(f *testing.F) {
	f.Add("application/json", `{"push":{"payload":"x","expire_after_days":1,"files":[]}}`)
	f.Add("application/json", `{"push":{"payload":"\ud83d\udd11","kind":"url"}}`)
	f.Add("application/x-www-form-urlencoded", "push[payload]=x&push[files][]=y")
	f.Add("multipart/form-data; boundary=b", "--b\r\nContent-Disposition: form-data; name=\"push[payload]\"\r\n\r\nx\r\n--b--\r\n")
	s := newParser(nil)
	f.Fuzz(func(t *testing.T, contentType, body string) {
		in := s.newIntake(posted(t, s, contentType, body))
		err := in.readPush()
		if err == nil {
			var push store.NewPush
			push, err = in.push()
			if err == nil && push.Payload.Reveal() != in.fields["payload"].text {
				t.Fatal("the payload is not what was sent")
			}
		}
		if err != nil && s.tell(in.r, err).status >= http.StatusInternalServerError {
			t.Fatalf("%v is told as the server's fault", err)
		}
	})
}

// newParser is a server that reads bodies and does no more.
func newParser(s *store.Store) *Server {
	cfg := config.Default()
	return &Server{cfg: cfg, store: s, bodies: newBodies(int64(cfg.Limits.BodyMemory)), uploads: newSlots(100, 100)}
}

// posted is a request with a body, as actions get it.
func posted(t *testing.T, s *Server, contentType, body string) *request {
	t.Helper()
	w := httptest.NewRecorder()
	hr := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/api/v2/pushes", strings.NewReader(body))
	hr.Header.Set("Content-Type", contentType)
	r := &request{Request: hr, door: &door{router: newRouter(nil, "")}, Body: s.limitBody(w, hr), ctx: t.Context(), pace: pacer{control: http.NewResponseController(w)}}
	r.memory = *s.bodies.enter(r)
	return r
}

// FuzzPayloadSurvives holds that any text that can be sent comes back exactly.
func FuzzPayloadSurvives(f *testing.F) {
	f.Add("plain")
	f.Add("\x00\u2028\U0001F511\"\\/<&>")
	f.Fuzz(func(t *testing.T, payload string) {
		if !utf8.ValidString(payload) {
			return // a test cannot put it into JSON; that it is refused is tested elsewhere
		}
		s := newParser(nil)
		in := s.newIntake(posted(t, s, typeJSON, encoded(t, map[string]any{"push": map[string]string{"payload": payload}})))
		if err := in.readPush(); err != nil || in.fields["payload"].text != payload {
			t.Fatalf("%q was read as %q, %v", payload, in.fields["payload"].text, err)
		}
		p := store.PushInfo{Push: store.Push{State: store.Live, Kind: store.Text}, Payload: secret.New(payload)}
		w := httptest.NewRecorder()
		if _, err := s.send(w, new(request), ok(newViewerJSON(p, ""))); err != nil {
			t.Fatal(err)
		}
		var shown struct{ Payload string }
		if err := json.Unmarshal(w.Body.Bytes(), &shown); err != nil || shown.Payload != payload {
			t.Fatalf("%q came back as %q, %v", payload, shown.Payload, err)
		}
	})
}

func encoded(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
