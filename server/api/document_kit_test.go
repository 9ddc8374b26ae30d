package api_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"pushbox/internal/testkit/env"
	"pushbox/server/servertest"
)

// A document is the OpenAPI document of a server, with its schemas.
type document struct {
	t        *testing.T
	raw      any
	compiler *jsonschema.Compiler
	paths    map[string]map[string]operation
	byID     map[string]operation
	seen     map[string]map[int]bool // statuses of answers, by operation
	calls    []call                  // one of each operation
}

// An operation has the parts of an operation that tests read.
type operation struct {
	OperationID string `json:"operationId"`
	Deprecated  bool
	Security    []map[string][]string
	Parameters  []struct {
		Name, In string
		Required bool
	}
	RequestBody struct {
		Content map[string]struct{ Example any }
	}
	Responses map[string]struct {
		Headers map[string]struct{ Required bool }
		Content map[string]struct {
			Example  any
			Examples map[string]struct {
				Value struct{ Code string }
			}
		}
	}
	pointer string // to its place in the document
}

const documentURL = "https://push.example/openapi.json"

// documentOf fetches the server's document of version 2.
func documentOf(a *servertest.Server, headers ...http.Header) *document {
	a.T.Helper()
	return newDocument(a.Get("/api/v2/openapi.json", headers...), calls)
}

// newDocument reads a document, which calls belong to. It makes the schemas of answers
// refuse unknown keys.
func newDocument(got servertest.Answer, calls []call) *document {
	t := got.T
	t.Helper()
	text := got.Want(http.StatusOK).Body
	d := &document{t: t, raw: parsed(t, text), compiler: jsonschema.NewCompiler(), calls: calls}
	d.byID, d.seen = make(map[string]operation), make(map[string]map[int]bool)
	var doc struct {
		Paths map[string]map[string]operation
	}
	env.OK(t, json.Unmarshal([]byte(text), &doc))
	d.paths = doc.Paths
	for path, item := range doc.Paths {
		for method, op := range item {
			op.pointer = "#/paths/" + strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(path) + "/" + method
			d.byID[op.OperationID], d.seen[op.OperationID] = op, make(map[int]bool)
		}
	}
	strict := parsed(t, text).(map[string]any)
	for name, s := range strict["components"].(map[string]any)["schemas"].(map[string]any) {
		if s := s.(map[string]any); s["properties"] != nil && !strings.HasPrefix(name, "New") {
			s["additionalProperties"] = false
		}
	}
	d.compiler.AssertFormat()
	env.OK(t, d.compiler.AddResource(documentURL, strict))
	return d
}

func parsed(t *testing.T, text string) any {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return v
}

// schema compiles the schema at a place of the document.
func (d *document) schema(pointer string) *jsonschema.Schema {
	d.t.Helper()
	s, err := d.compiler.Compile(documentURL + pointer)
	if err != nil {
		d.t.Fatalf("%s: %v", pointer, err)
	}
	return s
}

// official is the schema of OpenAPI 3.1 documents.
func official(t *testing.T) *jsonschema.Schema {
	t.Helper()
	return schemaOf(t, "3.1")
}

// schemaOf is the schema of the documents of a version of OpenAPI.
func schemaOf(t *testing.T, version string) *jsonschema.Schema {
	t.Helper()
	text, err := os.ReadFile("testdata/openapi-" + version + ".json")
	env.OK(t, err)
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	env.OK(t, c.AddResource("official.json", parsed(t, string(text))))
	return c.MustCompile("official.json")
}

// refused returns why a value is not valid; nil if it is valid.
func refused(s *jsonschema.Schema, v any) error {
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(v); err != nil {
		return err
	}
	again, err := jsonschema.UnmarshalJSON(&b)
	if err != nil {
		return err
	}
	return s.Validate(again)
}

// answers fails the test unless an answer has that status and matches the document of
// the operation.
func (d *document) answers(id string, status int, got servertest.Answer) {
	d.t.Helper()
	op, known := d.byID[id]
	said, documented := op.Responses[strconv.Itoa(got.Status)]
	if got.Status != status || !known || !documented {
		d.t.Errorf("%s: status %d, not %d, documented %v: %s", id, got.Status, status, documented, got.Body)
		return
	}
	d.seen[id][status] = true
	for name, h := range said.Headers {
		if h.Required && got.Header.Get(name) == "" {
			d.t.Errorf("%s: %d has no header %s", id, status, name)
		}
	}
	media, _, _ := strings.Cut(got.Header.Get("Content-Type"), ";")
	switch content, has := said.Content[media]; {
	case strings.HasSuffix(id, "_head"):
		if got.Body != "" || said.Content != nil {
			d.t.Errorf("%s: %d has a body", id, status)
		}
	case !has:
		d.t.Errorf("%s: %d is of type %s", id, status, media)
	case media == "application/json":
		at := op.pointer + "/responses/" + strconv.Itoa(status) + "/content/application~1json/schema"
		if err := d.schema(at).Validate(parsed(d.t, got.Body)); err != nil {
			d.t.Errorf("%s: %d: %v: %s", id, status, err, got.Body)
		}
		if status >= 400 && status != http.StatusUnprocessableEntity {
			code := got.Problem()
			for _, e := range content.Examples {
				if e.Value.Code == code {
					return
				}
			}
			d.t.Errorf("%s: %d has no example of %s", id, status, code)
		}
	}
}
