package server_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pushbox/config"
)

// settings are servers whose documents differ.
var settings = map[string]func(*config.Config){
	"as it comes":  func(*config.Config) {},
	"members only": func(c *config.Config) { c.AllowAnonymous, c.BaseURL = false, "https://push.example" },
	"text alone": func(c *config.Config) {
		c.EnableFilePushes, c.EnableURLPushes, c.EnableQRPushes = false, false, false
	},
	"other bounds": func(c *config.Config) {
		c.URL.ExpireAfterDaysMax, c.QR.ExpireAfterViewsDefault, c.PW.EnableRetrievalStep = 30, 1, false
	},
}

func TestTheDocumentIsOpenAPI(t *testing.T) {
	t.Parallel()
	schema := official(t)
	for name, change := range settings {
		d := newAPI(t, change).document()
		if err := schema.Validate(d.raw); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		d.walk("#", d.raw)
	}
}

// walk compiles every schema below a place, and follows every reference.
func (d *document) walk(pointer string, v any) {
	d.t.Helper()
	escape := strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D")
	switch v := v.(type) {
	case []any:
		for i, item := range v {
			d.walk(fmt.Sprint(pointer, "/", i), item)
		}
	case map[string]any:
		for key, item := range v {
			at := pointer + "/" + escape.Replace(key)
			_, isObject := item.(map[string]any)
			if isObject && (key == "schema" || strings.HasSuffix(pointer, "/schemas")) {
				d.schema(at)
			}
			if ref, ok := item.(string); ok && key == "$ref" {
				d.schema(ref)
			}
			d.walk(at, item)
		}
	}
}

// A schema that is broken must not pass for one that is not looked at.
func TestABrokenDocumentIsNoticed(t *testing.T) {
	t.Parallel()
	schema := official(t)
	for _, breakage := range []func(doc map[string]any){
		func(doc map[string]any) { delete(doc, "info") },
		func(doc map[string]any) { doc["openapi"] = "2.0" },
		func(doc map[string]any) { doc["unknown"] = true },
		func(doc map[string]any) {
			get := doc["paths"].(map[string]any)["/api/v2/version"].(map[string]any)["get"].(map[string]any)
			get["responses"].(map[string]any)["200"].(map[string]any)["description"] = 1
		},
	} {
		doc := newAPI(t).document().raw.(map[string]any)
		breakage(doc)
		if schema.Validate(doc) == nil {
			t.Error("it was not noticed")
		}
	}
}

func TestTheDocumentHasEveryOperationOnce(t *testing.T) {
	t.Parallel()
	d := newAPI(t).document()
	var got []string
	for path, item := range d.paths {
		for method, op := range item {
			got = append(got, strings.ToUpper(method)+" "+path+" "+op.OperationID)
		}
	}
	slices.Sort(got)
	want := []string{
		"DELETE /api/v2/pushes/{url_token} delete",
		"GET /api/v2/openapi.json openapi",
		"GET /api/v2/pushes/active active",
		"GET /api/v2/pushes/expired expired",
		"GET /api/v2/pushes/{url_token} show",
		"GET /api/v2/pushes/{url_token}/audit audit",
		"GET /api/v2/pushes/{url_token}/preview preview",
		"GET /api/v2/version version",
		"GET /d/{grant}/{file} download",
		"HEAD /d/{grant}/{file} download_head",
		"POST /api/v2/pushes create",
		"POST /api/v2/pushes/{url_token}/notify_emails notify_emails",
	}
	if !slices.Equal(got, want) {
		t.Errorf("it has\n%s", strings.Join(got, "\n"))
	}
}

func TestParametersOfAPathAreDescribed(t *testing.T) {
	t.Parallel()
	d := newAPI(t).document()
	for path, item := range d.paths {
		for method, op := range item {
			var want, got []string
			for _, m := range regexp.MustCompile(`{(\w+)}`).FindAllStringSubmatch(path, -1) {
				want = append(want, m[1])
			}
			for _, p := range op.Parameters {
				if p.Required != (p.In == "path") {
					t.Errorf("%s %s: %+v", method, path, p)
				}
				if p.In == "path" {
					got = append(got, p.Name)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s %s: %q, not %q", method, path, got, want)
			}
		}
	}
}

func TestTheDocumentSaysWhoMayCall(t *testing.T) {
	t.Parallel()
	token := `{"bearer":[]},{"email":[],"token":[]}]`
	for name, want := range map[string]map[string]string{
		"as it comes":  {"version": `[]`, "openapi": `[]`, "download": `[]`, "create": `[{},` + token, "show": `[{},` + token, "active": `[` + token, "audit": `[` + token},
		"members only": {"version": `[]`, "download": `[]`, "create": `[` + token, "show": `[` + token, "active": `[` + token},
	} {
		d := newAPI(t, settings[name]).document()
		for id, want := range want {
			if got, _ := json.Marshal(d.byID[id].Security); string(got) != want {
				t.Errorf("%s: %s is for %s, not %s", name, id, got, want)
			}
		}
	}
}

func TestLinksInTheDocumentAreThoseOfTheServer(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	body := a.get("/api/v2/openapi.json", http.Header{"Host": {"box.lan:8080"}}).want(http.StatusOK).body
	for _, want := range []string{`"servers":[{"url":"http://box.lan:8080"}]`, `"html_url":"http://box.lan:8080/p/`} {
		if !strings.Contains(body, want) {
			t.Errorf("there is no %s", want)
		}
	}
	if body := newAPI(t, settings["members only"]).get("/api/v2/openapi.json").body; !strings.Contains(body, `"servers":[{"url":"https://push.example"}]`) {
		t.Error("base_url is not the server's address")
	}
}

func TestExamplesAreValid(t *testing.T) {
	t.Parallel()
	for name, change := range settings {
		d := newAPI(t, change).document()
		checked := 0
		check := func(pointer string, example any) {
			if checked++; example == nil {
				t.Errorf("%s: %s has no example", name, pointer)
			} else if err := refused(d.schema(pointer+"/schema"), example); err != nil {
				t.Errorf("%s: %s: %v", name, pointer, err)
			}
		}
		for id, op := range d.byID {
			for media, content := range op.RequestBody.Content {
				check(op.pointer+"/requestBody/content/"+strings.Replace(media, "/", "~1", 1), content.Example)
			}
			for status := range op.Responses {
				content, has := op.Responses[status].Content["application/json"]
				at := op.pointer + "/responses/" + status + "/content/application~1json"
				switch {
				case !has || id == "openapi" && status == "200":
				case status < "400":
					check(at, content.Example)
				default:
					for key := range content.Examples {
						check(at, d.at(at+"/examples/"+key+"/value"))
					}
				}
			}
		}
		if checked < 60 {
			t.Errorf("%s: only %d examples", name, checked)
		}
	}
}

// at is what stands at a place of the document.
func (d *document) at(pointer string) (v any) {
	v = d.raw
	for part := range strings.SplitSeq(strings.TrimPrefix(pointer, "#/"), "/") {
		v = v.(map[string]any)[strings.NewReplacer("~1", "/", "~0", "~", "%7B", "{", "%7D", "}").Replace(part)]
	}
	return v
}

func TestExamplesOfRequestsAreTaken(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	content := a.document().byID["create"].RequestBody.Content
	if got := slices.Sorted(maps.Keys(content)); len(got) != 3 {
		t.Fatalf("bodies are %q", got)
	}
	body, err := json.Marshal(content["application/json"].Example)
	if err != nil {
		t.Fatal(err)
	}
	a.do("POST", pushes, string(body)).want(http.StatusCreated).has(map[string]string{"name": "wifi"})
	var form []string
	var parts string
	for name, v := range content["multipart/form-data"].Example.(map[string]any) {
		form = append(form, name+"="+fmt.Sprint(v))
		parts += textPart(name, fmt.Sprint(v))
	}
	a.post("application/x-www-form-urlencoded", strings.ReplaceAll(strings.Join(form, "&"), " ", "+"), nil).want(http.StatusCreated)
	a.do("POST", pushes, parts+"--b--\r\n", multi).want(http.StatusCreated)
}
