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

	"pushbox/internal/testkit/env"
	"pushbox/server/action"
	"pushbox/server/api"
	"pushbox/server/pages"
	"pushbox/store/record"
)

// FuzzRoutes checks that routing never panics, that .json changes nothing, and that a
// path leads to the same route as a plain reading of the table.
func FuzzRoutes(f *testing.F) {
	s := &Server{pages: new(pages.Set), api: new(api.Service)}
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

// FuzzPayloadSurvives checks that any text that was kept comes back exactly.
func FuzzPayloadSurvives(f *testing.F) {
	f.Add("plain")
	f.Add("\x00\u2028\U0001F511\"\\/<&>")
	f.Fuzz(func(t *testing.T, payload string) {
		if !utf8.ValidString(payload) {
			return // a test cannot put it into JSON; that it is refused is tested elsewhere
		}
		w := httptest.NewRecorder()
		s, rep := new(Server), answer{Reply: action.OK(map[string]string{"payload": payload})}
		env.OK(t, s.render(new(action.Request), &rep))
		if _, err := s.send(w, new(action.Request), rep); err != nil {
			t.Fatal(err)
		}
		var shown struct{ Payload string }
		if err := json.Unmarshal(w.Body.Bytes(), &shown); err != nil || shown.Payload != payload {
			t.Fatalf("%q came back as %q, %v", payload, shown.Payload, err)
		}
	})
}
