package server

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/julienschmidt/httprouter"

	"pushbox/config"
	"pushbox/internal/limit"
	"pushbox/internal/secret"
	"pushbox/server/action"
	"pushbox/server/body"
	"pushbox/server/deadline"
	"pushbox/store"
	"pushbox/store/clock"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

// FuzzRoutes checks that routing never panics, that .json changes nothing, and that a
// path leads to the same route as a plain reading of the table.
func FuzzRoutes(f *testing.F) {
	s := &Server{}
	r := newRouter(s.routes(), "")
	for _, row := range s.routes() {
		f.Add(row.Method, row.Pattern)
		f.Add(row.Method, row.Pattern+".json")
	}
	f.Add("GET", "/api/v2/pushes/active/audit")
	f.Add("HEAD", "//")
	f.Add("GET", "/api/v2/pushes//audit")
	f.Add("GET", "//api///v2/version//")
	f.Add("GET", "/api/v2/pushes/.json")
	f.Fuzz(func(t *testing.T, method, path string) {
		if !strings.HasPrefix(path, "/") && path != "*" {
			return // net/http lets nothing else through
		}
		route, key := r.find(method, path)
		want, wantKey := readTable(s.routes(), method, path)
		if (route == nil) != (want == nil) || route != nil && (route.Name != want.Name || !slices.Equal(key, wantKey)) {
			t.Fatalf("%s %q leads to %+v with %q, not %+v with %q", method, path, route, key, want, wantKey)
		}
		if strings.HasPrefix(path, "/api/") && !strings.HasSuffix(path, ".json") && !strings.HasSuffix(path, "/") {
			again, keyAgain := r.find(method, path+".json")
			if (again == nil) != (route == nil) || again != nil && (again.Name != route.Name || !slices.Equal(keyAgain, key)) {
				t.Fatalf("%s %q leads elsewhere with .json", method, path)
			}
		}
		_ = r.allowed(path)
	})
}

// pathsV1 are the paths of API version 1 beside those of pages.
var pathsV1 = regexp.MustCompile(`\A/[pfr](/(?s:.*))?\.json\z`)

// languages begin paths of older versions of Password Pusher.
var languages = regexp.MustCompile(`\A/[A-Za-z]{2}(-[A-Za-z]{2})?(/|\z)`)

// readTable finds a route by going through the table.
func readTable(rows []action.Route, method, path string) (*action.Route, httprouter.Params) {
	doubled := strings.Contains(path, "//")
	if path != "*" {
		path = "/" + strings.Join(strings.FieldsFunc(path, func(r rune) bool { return r == '/' }), "/")
	}
	v1 := pathsV1.MatchString(path)
	if v1 || strings.HasPrefix(path, "/api/") {
		path = strings.TrimSuffix(path, ".json")
	}
	only := func(r *action.Route, params httprouter.Params) (*action.Route, httprouter.Params) {
		if doubled && r != nil && !takesDoubledSlashes(*r) {
			return nil, nil
		}
		return r, params
	}
	var other *action.Route
	var params httprouter.Params
	for i, row := range rows {
		pattern, isV1 := strings.CutSuffix(row.Pattern, ".json")
		got, ok := match(pattern, path)
		if row.Method != method || !ok || v1 != isV1 || action.HasParam(pattern, action.LanguageParam) && !languages.MatchString(path) {
			continue
		}
		if row.Word != "" && row.Word == got.ByName(action.TokenParam) || !action.HasParam(row.Pattern, action.TokenParam) {
			return only(&rows[i], got)
		}
		if row.Word == "" {
			other, params = &rows[i], got
		}
	}
	return only(other, params)
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

// FuzzAuthorization checks that a token is read exactly if the header is the token
// alone, or behind one of two schemes.
func FuzzAuthorization(f *testing.F) {
	for _, v := range []string{"Bearer x", "bearer  x", "Bearer", "Bearer ", "x", " x ", "token x", "Basic x", "Bearer x y", "BEARER\tx", ""} {
		f.Add(v)
	}
	scheme := regexp.MustCompile(`^ *((?i:bearer|token) +)?([^ ]+) *$`)
	f.Fuzz(func(t *testing.T, v string) {
		want := ""
		if parts := scheme.FindStringSubmatch(v); parts != nil {
			want = parts[2]
		}
		token, given, err := readToken(http.Header{headerAuthorization: {v}})
		if !given || (err == nil) != (want != "") || err != nil && !errors.Is(err, record.ErrToken) || token.Reveal() != want {
			t.Fatalf("%q: %v", v, err)
		}
	})
}

// FuzzCreateBody checks that a body of any type is refused with an error that has a
// status, or gives fields that make a push or a 422; that a text in JSON comes out as
// it was sent; and that no chunk of a file is left if its push is not created.
func FuzzCreateBody(f *testing.F) {
	f.Add("application/json", `{"push":{"payload":"x","expire_after_days":1,"files":[]}}`)
	f.Add("application/json", `{"push":{"payload":"\ud83d\udd11","kind":"url"}}`)
	f.Add("application/json", `{"push":{"files":[{"content":"aGk="},{"content":"?"}]}}`)
	f.Add("application/x-www-form-urlencoded", "push[payload]=x&push[files][]=y")
	f.Add("multipart/form-data; boundary=b", "--b\r\nContent-Disposition: form-data; name=\"push[payload]\"\r\n\r\nx\r\n--b--\r\n")
	f.Add("multipart/form-data; boundary=b", "--b\r\nContent-Disposition: form-data; name=\"push[files][]\"; filename=\"f\"\r\n\r\nx\r\n--b\r\n\r\n")
	fixture := storetest.New(f)
	s := newParser(fixture.Store)
	f.Fuzz(func(t *testing.T, contentType, content string) {
		for account := range record.AccountID(2) { // anonymous, and with an account
			r := posted(t, s, contentType, content)
			r.Actor.Account = account
			c := s.newCreateRequest(r, pushV2)
			err := c.read()
			if err == nil {
				var push store.NewPush
				push, err = c.newPush()
				if err == nil && push.Payload.Reveal() != c.fields.text("payload") {
					t.Fatal("the payload is not what was sent")
				}
			}
			if err != nil && s.errorReply(c.r, err).Status >= http.StatusInternalServerError {
				t.Fatalf("%v is answered as the server's fault", err)
			}
			c.close()
			if ids, err := fixture.Engine().Orphans(t.Context(), record.ID{}, 1); len(ids) > 0 || err != nil {
				t.Fatalf("there are chunks of a push that was not created: %v, %v", ids, err)
			}
		}
	})
}

// newParser returns a server that only reads bodies.
func newParser(s *store.Store) *Server {
	cfg := config.Default()
	return &Server{cfg: cfg, store: s, limits: newLimits(cfg.Limits, clock.NewSystem().Elapsed)}
}

// posted returns a request with a body, as actions get it.
func posted(t *testing.T, s *Server, contentType, content string) *action.Request {
	t.Helper()
	w := httptest.NewRecorder()
	hr := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/api/v2/pushes", strings.NewReader(content))
	hr.Header.Set("Content-Type", contentType)
	r := &action.Request{Request: hr, Entry: &action.Entry{}, Body: body.NewReader(hr, nil), Ctx: t.Context(), Deadlines: deadline.New(w, new(config.Limits))}
	r.Memory = s.limits.requestMemory.Reserve(limit.Holder{})
	return r
}

// FuzzPayloadSurvives checks that any text that can be sent comes back exactly.
func FuzzPayloadSurvives(f *testing.F) {
	f.Add("plain")
	f.Add("\x00\u2028\U0001F511\"\\/<&>")
	f.Fuzz(func(t *testing.T, payload string) {
		if !utf8.ValidString(payload) {
			return // a test cannot put it into JSON; that it is refused is tested elsewhere
		}
		s := newParser(nil)
		c := s.newCreateRequest(posted(t, s, body.TypeJSON, encoded(t, map[string]any{"push": map[string]string{"payload": payload}})), pushV2)
		if err := c.read(); err != nil || c.fields.text("payload") != payload {
			t.Fatalf("%q was read as %q, %v", payload, c.fields.text("payload"), err)
		}
		p := store.PushInfo{Push: record.Push{State: record.Live, Kind: record.Text}, Payload: secret.New(payload)}
		w := httptest.NewRecorder()
		rep := answer{Reply: action.OK(newViewerJSON(p, ""))}
		if err := s.render(new(action.Request), &rep); err != nil {
			t.Fatal(err)
		}
		if _, err := s.send(w, new(action.Request), rep); err != nil {
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
