package api_test

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
	"pushbox/internal/testkit/env"
	"pushbox/server/servertest"
)

// settings are the settings of servers whose documents differ.
var settings = map[string]func(*config.Config){
	"as it comes":  func(*config.Config) {},
	"members only": func(c *config.Config) { c.AllowAnonymous, c.BaseURL = false, "https://push.example" },
	"text alone": func(c *config.Config) {
		c.EnableFilePushes, c.EnableURLPushes, c.EnableQRPushes = false, false, false
	},
	"requests": func(c *config.Config) { c.EnableRequests = true },
	"other bounds": func(c *config.Config) {
		c.URL.ExpireAfterDaysMax, c.QR.ExpireAfterViewsDefault, c.PW.EnableRetrievalStep = 30, 1, false
	},
}

func TestTheDocumentIsOpenAPI(t *testing.T) {
	t.Parallel()
	schema := official(t)
	for name, change := range settings {
		d := documentOf(servertest.New(t, change))
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

// The check must notice a broken schema.
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
		doc := documentOf(servertest.New(t)).raw.(map[string]any)
		breakage(doc)
		if schema.Validate(doc) == nil {
			t.Error("it was not noticed")
		}
	}
}

func TestTheDocumentHasEveryOperationOnce(t *testing.T) {
	t.Parallel()
	d := documentOf(servertest.New(t))
	var got []string
	for path, item := range d.paths {
		for method, op := range item {
			got = append(got, strings.ToUpper(method)+" "+path+" "+op.OperationID)
		}
	}
	slices.Sort(got)
	want := []string{
		"DELETE /api/v2/admin/accounts/{account_id} admin_remove",
		"DELETE /api/v2/pushes/{url_token} delete",
		"GET /api/v2/admin/accounts admin_accounts",
		"GET /api/v2/admin/accounts/{account_id} admin_account",
		"GET /api/v2/admin/health admin_health",
		"GET /api/v2/admin/log admin_log",
		"GET /api/v2/admin/log.jsonl admin_log_lines",
		"GET /api/v2/admin/settings admin_settings",
		"GET /api/v2/openapi-3.0.json openapi_30",
		"GET /api/v2/openapi.json openapi",
		"GET /api/v2/pushes/active active",
		"GET /api/v2/pushes/expired expired",
		"GET /api/v2/pushes/{url_token} show",
		"GET /api/v2/pushes/{url_token}/audit audit",
		"GET /api/v2/pushes/{url_token}/certificate certificate",
		"GET /api/v2/pushes/{url_token}/preview preview",
		"GET /api/v2/version version",
		"GET /d/{grant}/{file} download",
		"HEAD /d/{grant}/{file} download_head",
		"POST /api/v2/admin/accounts admin_invite",
		"POST /api/v2/admin/accounts/{account_id}/{act} admin_act",
		"POST /api/v2/pushes create",
		"POST /api/v2/pushes/{url_token}/notify_emails notify_emails",
		"POST /api/v2/pushes/{url_token}/thaw thaw",
		"PUT /api/v2/admin/accounts/{account_id}/policy/{policy} admin_policy",
	}
	if !slices.Equal(got, want) {
		t.Errorf("it has\n%s", strings.Join(got, "\n"))
	}
}

func TestParametersOfAPathAreDescribed(t *testing.T) {
	t.Parallel()
	d := documentOf(servertest.New(t))
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
	token := `{"bearer":[]},{"token":[]}]`
	for name, want := range map[string]map[string]string{
		"as it comes":  {"version": `[]`, "openapi": `[]`, "download": `[]`, "create": `[{},` + token, "show": `[{},` + token, "active": `[` + token, "audit": `[` + token},
		"members only": {"version": `[]`, "download": `[]`, "create": `[` + token, "show": `[` + token, "active": `[` + token},
	} {
		d := documentOf(servertest.New(t, settings[name]))
		for id, want := range want {
			if got, _ := json.Marshal(d.byID[id].Security); string(got) != want {
				t.Errorf("%s: %s is for %s, not %s", name, id, got, want)
			}
		}
	}
}

func TestLinksInTheDocumentAreThoseOfTheServer(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	body := a.Get("/api/v2/openapi.json", http.Header{"Host": {"box.lan:8080"}}).Want(http.StatusOK).Body
	for _, want := range []string{`"servers":[{"url":"http://box.lan:8080"}]`, `"html_url":"http://box.lan:8080/p/`} {
		if !strings.Contains(body, want) {
			t.Errorf("there is no %s", want)
		}
	}
	if body := servertest.New(t, settings["members only"]).Get("/api/v2/openapi.json").Body; !strings.Contains(body, `"servers":[{"url":"https://push.example"}]`) {
		t.Error("base_url is not the server's address")
	}
}

func TestOperationsAreGrouped(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	doc := a.Get("/api/v2/openapi.json").Want(http.StatusOK).Object()
	known := make(map[string]int)
	for _, tag := range doc["tags"].([]any) {
		if known[tag.(map[string]any)["name"].(string)] = 0; tag.(map[string]any)["description"] == "" {
			t.Errorf("%v says nothing", tag)
		}
	}
	for _, item := range doc["paths"].(map[string]any) {
		for _, op := range item.(map[string]any) {
			tags := op.(map[string]any)["tags"].([]any)
			if _, has := known[tags[0].(string)]; len(tags) != 1 || !has {
				t.Errorf("%v is of the groups %v", op.(map[string]any)["operationId"], tags)
			}
			known[tags[0].(string)]++
		}
	}
	for tag, n := range known {
		if n == 0 {
			t.Errorf("nothing is of the group %s", tag)
		}
	}
	info := doc["info"].(map[string]any)
	if got, _ := json.Marshal([]any{info["license"], info["contact"]}); string(got) != `[{"identifier":"MIT","name":"MIT"},{"name":"The administrator of this server","url":"`+a.URL+`"}]` {
		t.Errorf("they are %s", got)
	}
}

func TestExamplesAreValid(t *testing.T) {
	t.Parallel()
	for name, change := range settings {
		d := documentOf(servertest.New(t, change))
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
				case !has || strings.HasPrefix(id, "openapi") && status == "200":
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

// at returns the value at a place of the document.
func (d *document) at(pointer string) (v any) {
	v = d.raw
	for part := range strings.SplitSeq(strings.TrimPrefix(pointer, "#/"), "/") {
		v = v.(map[string]any)[strings.NewReplacer("~1", "/", "~0", "~", "%7B", "{", "%7D", "}").Replace(part)]
	}
	return v
}

func TestExamplesOfRequestsAreAccepted(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	content := documentOf(a).byID["create"].RequestBody.Content
	if got := slices.Sorted(maps.Keys(content)); len(got) != 3 {
		t.Fatalf("bodies are %q", got)
	}
	body, err := json.Marshal(content["application/json"].Example)
	env.OK(t, err)
	a.Do("POST", pushes, string(body)).Want(http.StatusCreated).Has(map[string]string{"name": "wifi"})
	var form []string
	var parts string
	for name, v := range content["multipart/form-data"].Example.(map[string]any) {
		form = append(form, name+"="+fmt.Sprint(v))
		parts += servertest.TextPart(name, fmt.Sprint(v))
	}
	a.Post("application/x-www-form-urlencoded", strings.ReplaceAll(strings.Join(form, "&"), " ", "+"), nil).Want(http.StatusCreated)
	a.Do("POST", pushes, parts+"--b--\r\n", servertest.Multi).Want(http.StatusCreated)
}
