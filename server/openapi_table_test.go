package server

import (
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/internal/instance"
	"pushbox/internal/openid"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

// docServer returns a server that only makes its documentation.
func docServer(t *testing.T, change func(*config.Config)) *Server {
	t.Helper()
	cfg := config.Default()
	cfg.EnableRequests = true
	if change != nil {
		change(&cfg)
	}
	f := storetest.New(t, func(o *storetest.Setup) { o.Terms = instance.StoreOptions(cfg).Terms })
	return &Server{cfg: cfg, release: "3.0.0", store: f.Store}
}

func TestEveryRouteOfTheAPIIsDescribed(t *testing.T) {
	t.Parallel()
	known := make(map[string]bool)
	s := docServer(t, nil)
	for _, row := range s.routesV1() {
		if how := spellingsV1[row.name]; !row.has(unlisted) && (routeTexts[sameInV2(row.name)].summary == "" || how.v1 != row.has(hasFiles)) {
			t.Errorf("%s is not documented, or its body is not", row.name)
		}
	}
	for _, row := range s.routes() {
		text, described := routeTexts[row.name]
		if inAPI(row.pattern) {
			known[row.name] = true
			if !described || text.summary == "" || text.text == "" || text.done == "" {
				t.Errorf("routeTexts says nothing, or too little, of the route %s", row.name)
			}
		}
		if described && row.has(hasFiles) && row.method == http.MethodPost != text.push {
			t.Errorf("%s: whether it takes a push is not said right", row.name)
		}
	}
	for name := range routeTexts {
		if !known[name] {
			t.Errorf("routeTexts has %s, which is no route of the API", name)
		}
	}
}

func TestPagesAndHealthChecksAreNotDocumentedAsTheAPI(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]bool{
		"/api/v2/version": true, "/d/:grant/:file": true,
		"/": false, "/healthz": false, "/readyz": false, "/metrics": false, "/p/:url_token": false, "/help/api": false, "/data": false, "/api": false,
	} {
		if inAPI(pattern) != want {
			t.Errorf("%s: %v", pattern, !want)
		}
	}
}

func TestEveryParameterIsDocumentedAndUsed(t *testing.T) {
	t.Parallel()
	used := make(map[string]bool)
	for _, e := range docServer(t, nil).endpoints("") {
		for _, f := range e.fields {
			used[f.name] = true
			if f.text == "" || f.in == "" || f.schema == nil {
				t.Errorf("%s: %s is not described", e.id, f.name)
			}
		}
	}
	for name := range paramFields {
		if !used[name] {
			t.Errorf("no endpoint has the parameter %s", name)
		}
	}
}

// keysOf collects the keys of a type of answers and of the types in it.
func keysOf(t reflect.Type, types, keys map[string]bool) {
	switch t.Kind() {
	case reflect.Slice, reflect.Pointer:
		keysOf(t.Elem(), types, keys)
	case reflect.Struct:
		types[t.Name()] = true
		if typeTexts[t.Name()].Opaque {
			return
		}
		for i := range t.NumField() {
			f := t.Field(i)
			if key, _, _ := strings.Cut(f.Tag.Get("json"), ","); key != "" {
				keys[t.Name()+"."+key] = true
			}
			keysOf(f.Type, types, keys)
		}
	}
}

func TestEveryKeyOfAnAnswerIsDescribed(t *testing.T) {
	t.Parallel()
	types, keys := make(map[string]bool), make(map[string]bool)
	keysOf(reflect.TypeFor[errorBody](), types, keys)
	for _, text := range routeTexts {
		if text.answer != nil {
			keysOf(text.answer, types, keys)
		}
	}
	for _, e := range docServer(t, nil).endpointsV1("") {
		keysOf(e.answer, types, keys)
	}
	for key := range keys {
		if keyTexts[key].Text == "" {
			t.Errorf("keyTexts says nothing of %s", key)
		}
	}
	for key := range keyTexts {
		if !keys[key] {
			t.Errorf("keyTexts has %s, which no answer has", key)
		}
	}
	names := make(map[string]bool)
	for name := range types {
		said := typeTexts[name]
		if said.Name == "" || said.Text == "" || names[said.Name] {
			t.Errorf("typeTexts says nothing of %s, or what it says of another", name)
		}
		names[said.Name] = true
	}
	if len(typeTexts) != len(types) || len(keys) < 50 {
		t.Errorf("%d types are described, there are %d, with %d keys", len(typeTexts), len(types), len(keys))
	}
}

// Every problem of the table is documented for an operation.
func TestEveryProblemIsDocumentedSomewhere(t *testing.T) {
	t.Parallel()
	s := docServer(t, func(c *config.Config) { c.RequireMFA, c.AllowedHosts = true, []string{"push.example.com"} })
	said := make(map[errorBody]bool)
	for _, e := range slices.Concat(s.endpoints(""), s.endpointsV1("")) {
		for _, f := range e.errorResponses {
			if statusTexts[f.status] == "" {
				t.Errorf("%s: nothing is said of the status %d", e.id, f.status)
			}
			for _, rep := range f.replies {
				if body, ok := rep.body.(errorBody); ok {
					said[body] = true
				}
				for _, kv := range rep.header {
					if headerSpecs[kv[0]].Description == "" {
						t.Errorf("%s: nothing is said of the header %s", e.id, kv[0])
					}
				}
			}
		}
	}
	for _, p := range problems {
		given := p.message == "The request was cancelled." // the client that could read it has gone
		onPages := errors.Is(p.err, errFirst) || errors.Is(p.err, errLink) || errors.Is(p.err, errRequestOver) || errors.Is(p.err, ErrAway) || errors.Is(p.err, record.ErrNoAnswers) || errors.Is(p.err, record.ErrCredentials) || errors.Is(p.err, openid.ErrDown) || errors.Is(p.err, record.ErrSession)
		watching := errors.Is(p.err, errScrape) || errors.Is(p.err, record.ErrLost) || errors.Is(p.err, ErrStarting) || errors.Is(p.err, ErrStopping)
		off := errors.Is(p.err, errNoV1) // what is off has no document
		if documented := said[p.body()]; documented == (given || onPages || watching || off) && p.message != "" {
			t.Errorf("documented %v: %s", documented, p.message)
		}
	}
}

func TestTheHelpHasWhatTheDocumentHas(t *testing.T) {
	t.Parallel()
	s := docServer(t, nil)
	const base = "https://push.example"
	help, doc := s.apiHelp(base), s.openAPI(base)
	if help.Document != base+"/api/v2/openapi.json" || help.Base != base || help.Text == "" {
		t.Errorf("it is %q %q %q", help.Document, help.Base, help.Text)
	}
	operations := 0
	for _, path := range doc.Paths {
		operations += len(path.Value)
	}
	if len(help.Endpoints) != operations {
		t.Errorf("%d endpoints, %d operations", len(help.Endpoints), operations)
	}
	for _, e := range help.Endpoints {
		op := (*doc.Paths.Get(e.Path)).Get(strings.ToLower(e.Method))
		responses := 0
		for _, r := range op.Responses {
			if status, _ := strconv.Atoi(r.Name); !slices.Contains(help.Common, status) {
				responses++
			}
		}
		own := slices.DeleteFunc(slices.Clone(e.Statuses), func(f statusHelp) bool { return slices.Contains(help.Common, f.Status) })
		if op.OperationID != e.ID || responses != len(own) {
			t.Fatalf("%s is not as in the document", e.ID)
		}
		if e.Summary == "" || e.Description == "" || e.Access == "" || !strings.Contains(e.Curl, base) {
			t.Errorf("%s lacks something: %+v", e.ID, e)
		}
		for _, f := range e.Statuses {
			if f.Name == "" || f.Text == "" || f.Status >= 400 && len(f.Errors) == 0 && f.Status != http.StatusUnprocessableEntity {
				t.Errorf("%s: %d lacks something: %+v", e.ID, f.Status, f)
			}
		}
		for _, f := range e.Fields {
			if f.Name == "" || f.Type == "" || f.Text == "" || f.Required != (f.In == "path") {
				t.Errorf("%s: %+v lacks something", e.ID, f)
			}
		}
	}
	for id, want := range map[string][]string{
		"version": nil, "notify_emails": {problemOf(&request{}, record.ErrQuota).message, quotaOfAddressee}, "show": {problemOf(&request{}, record.ErrLocked).message},
	} {
		var got []string
		for _, f := range help.Endpoints[slices.IndexFunc(help.Endpoints, func(e endpointHelp) bool { return e.ID == id })].Statuses {
			for _, e := range f.Errors {
				if f.Status == http.StatusTooManyRequests {
					got = append(got, e.Error)
				}
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s has the errors %q with 429, not %q", id, got, want)
		}
	}
	var statuses []int
	for _, f := range help.Statuses {
		statuses = append(statuses, f.Status)
	}
	if want := []int{400, 401, 403, 404, 405, 409, 413, 415, 416, 422, 429, 500, 503, 507}; !slices.Equal(statuses, want) {
		t.Errorf("statuses are %v", statuses)
	}
}

func TestTheHelpSaysWhoMayCallAndWhatToSend(t *testing.T) {
	t.Parallel()
	const everyone, holders = "everyone, with a valid API token or without one", "callers with a valid API token"
	for name, test := range map[string]struct {
		change                func(*config.Config)
		create, active, kinds string
	}{
		"as it comes":  {nil, everyone, holders, "one of text, url, qr, file"},
		"members only": {func(c *config.Config) { c.AllowAnonymous = false }, holders, holders, "one of text, url, qr, file"},
		"no files":     {func(c *config.Config) { c.EnableFilePushes = false }, everyone, holders, "one of text, url, qr"},
	} {
		for _, e := range docServer(t, test.change).apiHelp("").Endpoints {
			if strings.HasPrefix(e.ID, "admin_") {
				if !strings.HasPrefix(e.Access, "administrators") || !strings.Contains(e.Curl, "$API_TOKEN") {
					t.Errorf("%s: %s is for %s: %s", name, e.ID, e.Access, e.Curl)
				}
				continue
			}
			want := map[string]string{"create": test.create, "active": test.active, "version": "everyone; API tokens are ignored"}[e.ID]
			if want != "" && e.Access != want {
				t.Errorf("%s: %s is for %s", name, e.ID, e.Access)
			}
			if strings.Contains(e.Curl, "$API_TOKEN") != (e.Access == holders) {
				t.Errorf("%s: %s: %s", name, e.ID, e.Curl)
			}
			for _, f := range e.Fields {
				if f.Name == "kind" && (f.Bounds != test.kinds || f.In != "body" || f.Type != "text") {
					t.Errorf("%s: %+v", name, f)
				}
			}
		}
	}
}

func TestTypesInWords(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"payload": "text", "expire_after_days": "whole number", "retrieval_step": "true or false", "files": "list",
		"file": "whole number", "page": "whole number", "Range": "text",
	}
	for _, e := range docServer(t, nil).apiHelp("").Endpoints {
		for _, f := range e.Fields {
			if w := want[f.Name]; w != "" && f.Type != w {
				t.Errorf("%s of %s is %s", f.Name, e.ID, f.Type)
			}
		}
	}
}
