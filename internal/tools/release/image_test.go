package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"pushbox/internal/testkit/env"
)

// These are the parts of an OCI image's documents that the test follows.
type (
	platform struct {
		OS           string `json:"os"`
		Architecture string `json:"architecture"`
	}
	index struct {
		Manifests []descriptor `json:"manifests"`
	}
	manifest struct {
		MediaType string       `json:"mediaType"`
		Config    descriptor   `json:"config"`
		Layers    []descriptor `json:"layers"`
	}
	settings struct {
		platform
		Config struct {
			User        string `json:"User"`
			Healthcheck struct {
				Test []string `json:"Test"`
			} `json:"Healthcheck"`
		} `json:"config"`
		RootFS struct {
			DiffIDs []string `json:"diff_ids"`
		} `json:"rootfs"`
	}
)

// TestAnImageIsAConsistentLayout follows an image as a container engine does: from the
// index by digest and size to each machine's manifest, settings and layer.
func TestAnImageIsAConsistentLayout(t *testing.T) {
	t.Parallel()
	j := aJob(t)
	var builds []build
	for _, of := range []target{"linux/amd64", "linux/arm64", "linux/armv7", "darwin/arm64"} {
		builds = append(builds, aBuild(t, of))
	}
	env.OK(t, j.image(t.Context(), builds))
	l := unpacked{t, untar(t, read(t, j.dist, "pushbox-1.2.3-oci.tar"))}
	var version struct {
		Layout string `json:"imageLayoutVersion"`
	}
	if decode(t, l.files["oci-layout"], &version); version.Layout != "1.0.0" {
		t.Errorf("oci-layout is %s", l.files["oci-layout"])
	}
	var top, machines index
	decode(t, l.files["index.json"], &top)
	if len(top.Manifests) != 1 || top.Manifests[0].Annotations["org.opencontainers.image.ref.name"] != "localhost/pushbox:1.2.3" {
		t.Fatalf("%+v", top)
	}
	decode(t, l.blob(top.Manifests[0]), &machines)
	if len(machines.Manifests) != 2 {
		t.Fatalf("%+v", machines)
	}
	for i, want := range []platform{{"linux", "amd64"}, {"linux", "arm64"}} {
		l.machine(machines.Manifests[i], want)
	}
	const directories, indexes, each = 2, 2, 3
	if n := len(l.files); n != 1+directories+indexes+2*each { // one is oci-layout
		t.Errorf("%d files: no document names some of them", n)
	}
}

// machine follows one machine's manifest.
func (l unpacked) machine(d descriptor, want platform) {
	l.t.Helper()
	if (platform{d.Platform["os"], d.Platform["architecture"]}) != want {
		l.t.Fatalf("%+v, not %+v", d.Platform, want)
	}
	var m manifest
	decode(l.t, l.blob(d), &m)
	var c settings
	decode(l.t, l.blob(m.Config), &c)
	if c.platform != want || c.Config.User != "65532:65532" || m.MediaType != "application/vnd.oci.image.manifest.v1+json" || len(m.Layers) != 1 || len(c.RootFS.DiffIDs) != 1 {
		l.t.Fatalf("%+v, %+v", m, c)
	}
	env.Equal(l.t, "the image is checked by", strings.Join(c.Config.Healthcheck.Test, " "), "CMD /pushbox healthcheck")
	z := env.Must(gzip.NewReader(bytes.NewReader([]byte(l.blob(m.Layers[0])))))(l.t)
	layer, err := io.ReadAll(z)
	if err != nil || "sha256:"+digest(layer) != c.RootFS.DiffIDs[0] {
		l.t.Fatalf("the layer is not the one that the configuration names: %v", err)
	}
	files := untar(l.t, layer)
	if got := files["pushbox"]; got != "the program for "+want.OS+"/"+want.Architecture {
		l.t.Errorf("%+v: the program is %q", want, got)
	}
	if _, ok := files["key/"]; !ok {
		l.t.Error("a volume for the key would belong to root")
	}
	if _, ok := files["data/"]; !ok || !bytes.Contains([]byte(files["etc/ssl/certs/ca-certificates.crt"]), []byte("BEGIN CERTIFICATE")) {
		l.t.Error("the data directory or the certificates are missing")
	}
}

// An unpacked layout is its files by name.
type unpacked struct {
	t     *testing.T
	files map[string]string
}

// blob returns the content that a descriptor names, and checks its size and digest.
func (l unpacked) blob(d descriptor) string {
	l.t.Helper()
	b, ok := l.files["blobs/sha256/"+d.Digest[len("sha256:"):]]
	if !ok || len(b) != d.Size || "sha256:"+digest([]byte(b)) != d.Digest {
		l.t.Fatalf("%+v describes %d bytes", d, len(b))
	}
	return b
}

func untar(t *testing.T, archive []byte) map[string]string {
	t.Helper()
	files := make(map[string]string)
	for r := tar.NewReader(bytes.NewReader(archive)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		} else if err != nil {
			t.Fatal(err)
		}
		content := env.Must(io.ReadAll(r))(t)
		if owned := h.Name == "data/" || h.Name == "key/"; owned != (h.Uid == containerUser && h.Mode == 0o700) {
			t.Errorf("%s: %d, mode %o", h.Name, h.Uid, h.Mode)
		}
		files[h.Name] = string(content)
	}
}

func decode(t *testing.T, text string, into any) {
	t.Helper()
	env.OK(t, json.Unmarshal([]byte(text), into))
}

// TestABillOfMaterialsIsCycloneDX checks a bill against the schemas of a library.
func TestABillOfMaterialsIsCycloneDX(t *testing.T) {
	t.Parallel()
	j, b := aJob(t), aBuild(t, "linux/arm64")
	env.OK(t, j.bill(b))
	text := read(t, j.dist, "pushbox-1.2.3-linux-arm64.cdx.json")
	const library = "github.com/CycloneDX/cyclonedx-go"
	env.Must(j.tool(t.Context(), "mod", "download", library))(t)
	dir := env.Must(j.tool(t.Context(), "list", "-m", "-f", "{{.Dir}}", library))(t)
	c := jsonschema.NewCompiler()
	for name, file := range map[string]string{
		"bom-1.5.schema.json":  "bom-1.5.schema.json",
		"spdx.schema.json":     "spdx.schema.json",
		"jsf-0.82.schema.json": "jsf-0.82.schemax.json",
	} {
		doc := env.Must(jsonschema.UnmarshalJSON(bytes.NewReader(read(t, dir, "schema", file))))(t)
		env.OK(t, c.AddResource("http://cyclonedx.org/schema/"+name, doc))
	}
	schema := env.Must(c.Compile("http://cyclonedx.org/schema/bom-1.5.schema.json"))(t)
	doc := env.Must(jsonschema.UnmarshalJSON(bytes.NewReader(text)))(t)
	env.OK(t, schema.Validate(doc))
	for _, m := range b.info.Deps {
		if !strings.Contains(string(text), `"pkg:golang/`+m.Path+"@") {
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
