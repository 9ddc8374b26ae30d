package api_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pushbox/internal/testkit/env"
	"pushbox/server/servertest"
)

// newWords are words of OpenAPI 3.1 that a document of 3.0 cannot have, where they are no names of fields.
var newWords = []string{"$schema", "$id", "const", "if", "then", "else", "unevaluatedProperties", "contentEncoding", "contentMediaType", "identifier", "webhooks", "patternProperties", "prefixItems"}

// checkOlder fails the test if a value has what only OpenAPI 3.1 has.
func checkOlder(t *testing.T, at string, v any) {
	t.Helper()
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			checkOlder(t, at, item)
		}
	case map[string]any:
		for key, item := range v {
			inner := at + "/" + key
			if key == "example" || key == "examples" {
				continue
			}
			if !strings.HasSuffix(at, "/properties") && (slices.Contains(newWords, key) || key == "type" && (reflect.TypeOf(item).Kind() != reflect.String || item == "null") || key == "$ref" && len(v) > 1) {
				t.Errorf("%s is of OpenAPI 3.1: %v", inner, item)
			}
			checkOlder(t, inner, item)
		}
	}
}

func TestTheOlderDocumentsAreOfOpenAPI30(t *testing.T) {
	t.Parallel()
	schema := schemaOf(t, "3.0")
	for name, a := range map[string]*servertest.Server{"default": servertest.New(t), "all": servertest.New(t, servertest.SendsMail, sellsRequests)} {
		for _, version := range []string{"v2", "v1"} {
			var older, newer map[string]any
			got := a.Get("/api/" + version + "/openapi-3.0.json").Want(http.StatusOK)
			env.OK(t, json.Unmarshal([]byte(got.Body), &older))
			env.OK(t, json.Unmarshal([]byte(a.Get("/api/"+version+"/openapi.json").Want(http.StatusOK).Body), &newer))
			if err := schema.Validate(parsed(t, got.Body)); err != nil || older["openapi"] != "3.0.3" {
				t.Errorf("%s, %s: %v", name, version, err)
			}
			checkOlder(t, "", older)
			paths, all := older["paths"].(map[string]any), newer["paths"].(map[string]any)
			if !slices.Equal(slices.Sorted(maps.Keys(paths)), slices.Sorted(maps.Keys(all))) {
				t.Errorf("%s, %s: it has the paths %v", name, version, slices.Sorted(maps.Keys(paths)))
			}
			schemas := older["components"].(map[string]any)["schemas"].(map[string]any)
			push := schemas["Push"]
			if version == "v1" {
				push = schemas["CreatedPush"]
			}
			on := push.(map[string]any)["properties"].(map[string]any)["expired_on"].(map[string]any)
			if on["type"] != "string" || on["nullable"] != true || on["format"] != "date-time" {
				t.Errorf("%s, %s: expired_on is %v", name, version, on)
			}
		}
	}
}

// The check must notice what is not of OpenAPI 3.0.
func TestABrokenOlderDocumentIsNoticed(t *testing.T) {
	t.Parallel()
	schema := schemaOf(t, "3.0")
	if schema.Validate(documentOf(servertest.New(t)).raw) == nil {
		t.Error("a document of OpenAPI 3.1 passed")
	}
}
