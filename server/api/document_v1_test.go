package api_test

import (
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/internal/testkit/env"
	"pushbox/server/servertest"
)

var callsV1 = []call{
	{"v1_version", "GET", "/api/v1/version", ""},
	{"v1_openapi", "GET", "/api/v1/openapi.json", ""},
	{"v1_openapi_30", "GET", "/api/v1/openapi-3.0.json", ""},
	{"v1_create", "POST", "/p.json", `{"password":{"payload":"x"}}`},
	{"v1_create_file", "POST", "/f.json", `{"file_push":{"files":[{"filename":"a","content":"aGk="}]}}`},
	{"v1_create_url", "POST", "/r.json", `{"url":{"payload":"https://a.example/"}}`},
	{"v1_active", "GET", "/p/active.json", ""},
	{"v1_expired", "GET", "/p/expired.json", ""},
	{"v1_show", "GET", "/p/TOKEN.json", ""},
	{"v1_preview", "GET", "/p/TOKEN/preview.json", ""},
	{"v1_audit", "GET", "/p/TOKEN/audit.json", ""},
	{"v1_delete", "DELETE", "/p/TOKEN.json", ""},
}

// documentV1Of fetches the server's document of version 1.
func documentV1Of(a *servertest.Server) *document {
	a.T.Helper()
	return newDocument(a.Get("/api/v1/openapi.json"), callsV1)
}

func TestVersion1HasADocumentOfItsOwn(t *testing.T) {
	t.Parallel()
	schema := official(t)
	for name, change := range settings {
		d := documentV1Of(servertest.New(t, change))
		if err := schema.Validate(d.raw); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		d.walk("#", d.raw)
		for _, c := range callsV1 {
			needless := name == "text alone" && (c.id == "v1_create_file" || c.id == "v1_create_url")
			if op, has := d.byID[c.id]; has == needless || has && !op.Deprecated {
				t.Errorf("%s: %s is there: %v, deprecated: %v", name, c.id, has, op.Deprecated)
			}
		}
		if len(d.byID) > len(callsV1) {
			t.Errorf("%s: it has %d operations", name, len(d.byID))
		}
	}
}

func TestAnswersOfVersion1MatchItsDocument(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	d := documentV1Of(a)
	ann, bob := a.AddTokenUser("ann@example.com"), a.AddTokenUser("bob@example.com")
	kept := "/p/" + a.Create(`"payload":"x","deletable_by_viewer":false`, ann) + ".json"
	d.answers("v1_delete", http.StatusUnauthorized, a.Do("DELETE", kept, "", bob)) // as Password Pusher says it
	p := asked{token: a.PushFiles("ann@example.com", []byte("hello")).Token.Reveal()}
	for _, c := range callsV1 {
		want := http.StatusOK
		if c.method == http.MethodPost {
			want = http.StatusCreated
			d.answers(c.id, http.StatusBadRequest, a.Do("POST", c.path, `{"push":{"payload":"x"}}`, ann))
			d.answers(c.id, http.StatusUnprocessableEntity, a.Do("POST", c.path, strings.NewReplacer("https://a.example/", "", `"x"`, `""`, "aGk=", "?").Replace(c.body), ann))
		}
		d.answers(c.id, want, c.ask(a, p, ann))
	}
	d.commonErrors(a)
	d.tooMany()
	d.failed()
}

// spelled returns an example as a body of a media type, and that type with its parameters.
func spelled(t *testing.T, media string, example any) (string, string) {
	t.Helper()
	if media == "application/json" {
		text, err := json.Marshal(example)
		env.OK(t, err)
		return media, string(text)
	}
	var parts strings.Builder
	form, w := make(url.Values), multipart.NewWriter(&parts)
	for name, v := range example.(map[string]any) {
		if files, ok := v.([]any); ok {
			part, _ := w.CreateFormFile(name, "a.txt")
			_, _ = fmt.Fprint(part, files[0])
			continue
		}
		form.Set(name, fmt.Sprint(v))
		_ = w.WriteField(name, fmt.Sprint(v))
	}
	if _ = w.Close(); media == "multipart/form-data" { // nothing above fails: it is written to memory
		return w.FormDataContentType(), parts.String()
	}
	return media, form.Encode()
}

// What the document shows as examples creates pushes, in each media type.
func TestTheExamplesOfVersion1Work(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, func(c *config.Config) { c.BaseURL = "https://push.example" })
	d := documentV1Of(a)
	ann := a.AddTokenUser("ann@example.com")
	for _, c := range callsV1 {
		for media, content := range d.byID[c.id].RequestBody.Content {
			media, body := spelled(t, media, content.Example)
			d.answers(c.id, http.StatusCreated, a.Do("POST", c.path, body, ann, http.Header{"Content-Type": {media}}))
		}
	}
}
