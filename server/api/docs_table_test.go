package api

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/internal/certificate"
	"pushbox/internal/instance"
	"pushbox/internal/openid"
	"pushbox/internal/testkit/env"
	"pushbox/server/action"
	"pushbox/server/openapi"
	"pushbox/store"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

// docServer returns a server that only makes its documentation.
func docServer(t *testing.T, change func(*config.Config)) *Service {
	t.Helper()
	cfg := config.Default()
	cfg.EnableRequests, cfg.Compat.Edition = true, "commercial" // all routes
	if change != nil {
		change(&cfg)
	}
	f := storetest.New(t, func(o *storetest.Setup) { o.Terms = instance.StoreOptions(cfg).Terms })
	return New(Options{Config: cfg, Release: "3.0.0", Store: f.Store, NamesHosts: len(cfg.AllowedHosts) > 0 || cfg.BaseURL != ""})
}

// read returns the data of a version, and its endpoints.
func (d apiDocs) read(t *testing.T, s *Service, v1 bool) (*openapi.API, []endpoint) {
	t.Helper()
	api, err := d.api()
	env.OK(t, err)
	return api, s.endpoints(api, v1)
}

func TestEveryRouteOfTheAPIIsDescribed(t *testing.T) {
	t.Parallel()
	known := make(map[string]bool)
	s := docServer(t, nil)
	api, _ := s.docs[0].read(t, s, false)
	for _, row := range s.routesV1() {
		if how := spellingsV1[row.Name]; !row.Has(action.Unlisted) && (api.Operations[sameInV2(row.Name)].Summary == "" || how.V1 != row.Has(action.HasFiles)) {
			t.Errorf("%s is not documented, or its body is not", row.Name)
		}
	}
	for _, row := range action.WithHead(s.Routes()) {
		op, described := api.Operations[row.Name]
		if inAPI(row.Pattern) {
			known[row.Name] = true
			if !described || op.Summary == "" || op.Description == "" || op.Done == "" || op.Answer == "" && op.Type == "" {
				t.Errorf("api.yaml says nothing, or too little, of the route %s", row.Name)
			}
		}
		if described && row.Has(action.HasFiles) && row.Method == http.MethodPost != (op.Body == "push") {
			t.Errorf("%s: whether it takes a push is not said right", row.Name)
		}
	}
	for name := range api.Operations {
		if !known[name] {
			t.Errorf("api.yaml has %s, which is no route of the API", name)
		}
	}
	for name := range routeErrors {
		if !known[name] {
			t.Errorf("routeErrors has %s, which is no route of the API", name)
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
	s := docServer(t, nil)
	api, all := s.docs[0].read(t, s, false)
	for _, e := range all {
		for _, f := range e.fieldsOf(api) {
			used[f.Name] = true
			if f.Description == "" || f.In == "" || f.Schema == nil {
				t.Errorf("%s: %s is not described", e.ID, f.Name)
			}
		}
	}
	for name := range api.Parameters {
		if !used[name] {
			t.Errorf("no endpoint has the parameter %s", name)
		}
	}
}

// answerTypes are the types of answers, by the names of their schemas.
var answerTypes = map[string]reflect.Type{
	"Version": reflect.TypeFor[versionJSON](), "Features": reflect.TypeFor[featuresJSON](), "PushFeatures": reflect.TypeFor[pushFeaturesJSON](),
	"AttachmentFeature": reflect.TypeFor[attachmentJSON](), "Feature": reflect.TypeFor[switchJSON](), "VersionV1": reflect.TypeFor[versionV1JSON](),
	"Push": reflect.TypeFor[pushJSON](), "SentPush": reflect.TypeFor[senderJSON](), "CreatedPush": reflect.TypeFor[createdJSON](),
	"MailedPush": reflect.TypeFor[mailedJSON](), "RetrievedPush": reflect.TypeFor[viewerJSON](), "File": reflect.TypeFor[fileJSON](),
	"Preview": reflect.TypeFor[previewJSON](), "AuditLog": reflect.TypeFor[auditJSON](), "AuditLogV1": reflect.TypeFor[auditV1JSON](),
	"AuditEntry": reflect.TypeFor[entryJSON](), "Request": reflect.TypeFor[requestJSON](), "AnsweredRequest": reflect.TypeFor[answeredJSON](),
	"Answer": reflect.TypeFor[answerJSON](), "Account": reflect.TypeFor[accountJSON](), "Accounts": reflect.TypeFor[accountsJSON](),
	"RequestFeatures": reflect.TypeFor[requestFeaturesJSON](), "RespondedRequest": reflect.TypeFor[respondedJSON](), "RequestAuditLog": reflect.TypeFor[requestAuditJSON](),
	"RequestEntry": reflect.TypeFor[requestEntryJSON](), "Workspace": reflect.TypeFor[workspaceJSON](), "ChangedAccount": reflect.TypeFor[changedAccountJSON](), "Room": reflect.TypeFor[record.Room](), "InstanceLog": reflect.TypeFor[logJSON](),
	"InstanceEvent": reflect.TypeFor[store.AdminLine](), "Health": reflect.TypeFor[findingsJSON](), "Finding": reflect.TypeFor[findingJSON](),
	"Settings": reflect.TypeFor[settingsJSON](), "Setting": reflect.TypeFor[settingJSON](), "Error": reflect.TypeFor[action.ErrorBody](), "Certificate": reflect.TypeFor[certificate.File](),
}

// shape is what JSON has for a type: the name of a schema, or the JSON types.
func shape(t *testing.T, of reflect.Type) string {
	switch of.Kind() {
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Int, reflect.Int64, reflect.Uint64:
		return "integer"
	case reflect.Pointer:
		return shape(t, of.Elem()) + " or null"
	case reflect.Slice:
		return "array of " + shape(t, of.Elem())
	}
	for name, known := range answerTypes {
		if known == of {
			return name
		}
	}
	t.Errorf("answerTypes lacks %v", of)
	return ""
}

// said is the shape that a schema says.
func said(schema map[string]any) string {
	if items, isList := schema["items"].(map[string]any); isList {
		return "array of " + said(items)
	}
	switch types := schema["type"].(type) {
	case string:
		return types
	case []any:
		return types[0].(string) + " or " + types[1].(string)
	}
	ref, _ := schema["$ref"].(string)
	return strings.TrimPrefix(ref, "#/components/schemas/")
}

// keysOf collects the keys of an answer as encoding/json writes them: those of an embedded
// struct are the struct's own.
func keysOf(t *testing.T, of reflect.Type, keys map[string]string) {
	for i := range of.NumField() {
		f := of.Field(i)
		if f.Anonymous {
			keysOf(t, f.Type, keys)
			continue
		}
		key, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if keys[key] = shape(t, f.Type); options == "omitempty" {
			keys[key] += ", optional"
		}
	}
}

func TestTheSchemasOfAnswersAreThoseOfTheirTypes(t *testing.T) {
	t.Parallel()
	s := docServer(t, nil)
	checked := make(map[string]bool)
	for _, docs := range s.docs {
		text, err := docs.document()
		env.OK(t, err)
		var doc struct {
			Components struct {
				Schemas map[string]struct {
					Description string
					Properties  map[string]map[string]any
					Required    []string
				}
			}
		}
		env.OK(t, json.Unmarshal(text, &doc))
		for name, schema := range doc.Components.Schemas {
			of, isAnswer := answerTypes[name]
			if input := strings.HasPrefix(name, "New") || name == "InvalidFields" || name == "OpenAPI"; input || !isAnswer {
				if input == isAnswer {
					t.Errorf("answerTypes lacks %s, or should", name)
				}
				continue
			}
			want, got := make(map[string]string), make(map[string]string)
			keysOf(t, of, want)
			for key, property := range schema.Properties {
				if got[key] = said(property); !slices.Contains(schema.Required, key) {
					got[key] += ", optional"
				}
				if property["description"] == nil {
					t.Errorf("api.yaml does not describe %s of %s", key, name)
				}
			}
			if want["passphrase"] == "string or null" {
				want["passphrase"] = "null" // which it always is
			}
			if checked[name] = true; !maps.Equal(got, want) || schema.Description == "" {
				t.Errorf("%s is %v, not %v", name, got, want)
			}
		}
	}
	if len(checked) != len(answerTypes) {
		t.Errorf("%d schemas were checked, there are %d types", len(checked), len(answerTypes))
	}
}

// Every problem of the table is documented for an operation.
func TestEveryProblemIsDocumentedSomewhere(t *testing.T) {
	t.Parallel()
	s := docServer(t, func(c *config.Config) { c.RequireMFA, c.AllowedHosts = true, []string{"push.example.com"} })
	said := make(map[action.ErrorBody]bool)
	api, all := s.docs[0].read(t, s, false)
	_, old := s.docs[1].read(t, s, true)
	for _, e := range slices.Concat(all, old) {
		for _, f := range e.replies {
			if api.Statuses[f.status] == "" {
				t.Errorf("%s: nothing is said of the status %d", e.ID, f.status)
			}
			for _, rep := range f.replies {
				if body, ok := rep.Body.(action.ErrorBody); ok {
					said[body] = true
				}
				for _, kv := range rep.Header {
					if api.Headers[kv[0]].Text("description") == "" {
						t.Errorf("%s: nothing is said of the header %s", e.ID, kv[0])
					}
				}
			}
		}
	}
	for _, err := range action.Errors() {
		given := errors.Is(err, context.Canceled) // the client that could read it has gone
		onPages := errors.Is(err, action.ErrFirst) || errors.Is(err, action.ErrLink) || errors.Is(err, action.ErrRequestOver) || errors.Is(err, action.ErrAway) || errors.Is(err, record.ErrCredentials) || errors.Is(err, openid.ErrDown) || errors.Is(err, record.ErrSession)
		watching := errors.Is(err, action.ErrScrape) || errors.Is(err, record.ErrLost) || errors.Is(err, action.ErrStarting) || errors.Is(err, action.ErrStopping)
		timed := errors.Is(err, record.ErrEarly) // it comes with its time
		off := errors.Is(err, action.ErrNoV1)    // what is off has no document
		of := repliesTo([]error{err})[0]
		body := of.replies[0].Body.(action.ErrorBody)
		if documented := said[body]; documented == (given || onPages || watching || timed || off) && of.status != http.StatusInternalServerError {
			t.Errorf("documented %v: %s", documented, body)
		}
	}
}

func TestTheHelpHasWhatTheDocumentHas(t *testing.T) {
	t.Parallel()
	s := docServer(t, nil)
	const base = "https://push.example"
	help, err := s.apiHelp(base)
	env.OK(t, err)
	if help.Document != base+"/api/v2/openapi.json" || help.Base != base || help.Text == "" {
		t.Errorf("it is %q %q %q", help.Document, help.Base, help.Text)
	}
	_, all := s.docs[0].read(t, s, false)
	if len(help.Endpoints) != len(all) {
		t.Errorf("%d endpoints, %d operations", len(help.Endpoints), len(all))
	}
	for i, e := range help.Endpoints {
		if e.ID != all[i].ID || e.Path != all[i].Path || e.Method != all[i].Endpoint.Method {
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
			if f.Name == "" || f.Type == "" || f.Description == "" || f.Required != (f.In == "path") {
				t.Errorf("%s: %+v lacks something", e.ID, f)
			}
		}
	}
	message := func(err error) string { return repliesTo([]error{err})[0].replies[0].Body.(action.ErrorBody).Error }
	for id, want := range map[string][]string{
		"version": nil, "notify_emails": {message(record.ErrQuota), message(errAddresseeFull)}, "show": {message(record.ErrLocked)},
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

// endpointsOfHelp are the endpoints on the help page of a server.
func endpointsOfHelp(t *testing.T, change func(*config.Config)) []endpointHelp {
	t.Helper()
	help, err := docServer(t, change).apiHelp("")
	env.OK(t, err)
	return help.Endpoints
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
		for _, e := range endpointsOfHelp(t, test.change) {
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
	for _, e := range endpointsOfHelp(t, nil) {
		for _, f := range e.Fields {
			if w := want[f.Name]; w != "" && f.Type != w {
				t.Errorf("%s of %s is %s", f.Name, e.ID, f.Type)
			}
		}
	}
}
