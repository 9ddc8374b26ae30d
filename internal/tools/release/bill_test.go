package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// TestABillOfMaterialsIsCycloneDX checks a bill against the schemas that the library
// brings along.
func TestABillOfMaterialsIsCycloneDX(t *testing.T) {
	t.Parallel()
	j := job{source: tree(t), dist: t.TempDir()}
	b := aBuild(t, targets(t, "linux/arm64")[0])
	var made [2][]byte
	for i := range made {
		if err := j.bills(t.Context(), []build{b}); err != nil {
			t.Fatal(err)
		}
		made[i] = read(t, filepath.Join(j.dist, "pushbox-1.2.3-linux-arm64.cdx.json"))
	}
	text := made[0]
	if !bytes.Equal(text, made[1]) {
		t.Error("the same program made two bills")
	}
	library, err := run(t.Context(), j.tools(), nil, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/CycloneDX/cyclonedx-go")
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	for name, file := range map[string]string{
		"bom-1.5.schema.json":  "bom-1.5.schema.json",
		"spdx.schema.json":     "spdx.schema.json",
		"jsf-0.82.schema.json": "jsf-0.82.schemax.json",
	} {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(read(t, filepath.Join(library, "schema", file))))
		if err != nil {
			t.Fatal(err)
		}
		if err := c.AddResource("http://cyclonedx.org/schema/"+name, doc); err != nil {
			t.Fatal(err)
		}
	}
	schema, err := c.Compile("http://cyclonedx.org/schema/bom-1.5.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(doc); err != nil {
		t.Error(err)
	}
	for _, m := range b.info.Deps {
		if !strings.Contains(string(text), `"pkg:golang/`+used(m).Path+"@") {
			t.Errorf("%s is not in it", m.Path)
		}
	}
	if !strings.Contains(string(text), `"pkg:npm/uqr@`) {
		t.Error("the script of npm is not in it")
	}
	if len(b.info.Deps) == 0 || !strings.Contains(string(text), digest([]byte("the program for linux/arm64"))) {
		t.Error("it lacks the digest of the program, or has no dependencies")
	}
}

func TestWithoutALicenceNothingIsPublished(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := addLicences(&out, "example.com/m v1", "testdata"); err == nil || !strings.Contains(err.Error(), "example.com/m v1") {
		t.Errorf("%v", err)
	}
	if err := addLicences(&out, "pushbox", "../../.."); err != nil || !strings.Contains(out.String(), "MIT License") {
		t.Errorf("%v, %q", err, &out)
	}
	if s, err := readScript("../../.."); err != nil || !strings.Contains(string(s.licence), "MIT License") {
		t.Errorf("%v, %q", err, s.licence)
	}
	if _, err := readScript("testdata"); err == nil {
		t.Error("a source without the script has its licence")
	}
	for name, want := range map[string]bool{"LICENSE": true, "License.md": true, "COPYING": true, "LICENCE-MIT": true, "NOTICE": true, "licenses.go": false, "README": false} {
		if licenceName.MatchString(name) != want {
			t.Errorf("%s is taken for a licence: %t", name, !want)
		}
	}
}
