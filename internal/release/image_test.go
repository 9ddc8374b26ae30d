package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"testing"
)

// TestAnImageIsALayoutThatAddsUp follows an image as an engine does: from the index
// by digest and size to each machine's manifest, settings and layer.
func TestAnImageIsALayoutThatAddsUp(t *testing.T) {
	t.Parallel()
	j := job{source: tree(t), dist: t.TempDir()}
	var builds []build
	for _, of := range targets(t, "linux/amd64", "linux/arm64", "linux/armv7", "darwin/arm64") {
		builds = append(builds, aBuild(t, of))
	}
	if err := j.image(t.Context(), builds); err != nil {
		t.Fatal(err)
	}
	l := unpacked{t, untar(t, read(t, filepath.Join(j.dist, "pushbox-1.2.3-oci.tar")))}
	if got := l.files["oci-layout"]; got != `{"imageLayoutVersion":"1.0.0"}` {
		t.Errorf("oci-layout is %s", got)
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
		t.Errorf("%d files: some are nobody's", n)
	}
}

// machine follows one machine's manifest.
func (l unpacked) machine(d descriptor, want platform) {
	l.t.Helper()
	if d.Platform == nil || *d.Platform != want {
		l.t.Fatalf("%+v, not %+v", d.Platform, want)
	}
	var m manifest
	decode(l.t, l.blob(d), &m)
	var c imageConfig
	decode(l.t, l.blob(m.Config), &c)
	if c.platform != want || c.Config.User != "65532:65532" || m.MediaType != typeManifest || len(m.Layers) != 1 || len(c.RootFS.DiffIDs) != 1 {
		l.t.Fatalf("%+v, %+v", m, c)
	}
	z, err := gzip.NewReader(bytes.NewReader([]byte(l.blob(m.Layers[0]))))
	if err != nil {
		l.t.Fatal(err)
	}
	layer, err := io.ReadAll(z)
	if err != nil || "sha256:"+digest(layer) != c.RootFS.DiffIDs[0] {
		l.t.Fatalf("the layer is not the one that is named: %v", err)
	}
	files := untar(l.t, layer)
	if got := files["pushbox"]; got != "the program for "+want.OS+"/"+want.Architecture {
		l.t.Errorf("%+v: the program is %q", want, got)
	}
	if _, ok := files["data/"]; !ok || !bytes.Contains([]byte(files["etc/ssl/certs/ca-certificates.crt"]), []byte("BEGIN CERTIFICATE")) {
		l.t.Error("there is no place for data, or nobody to believe")
	}
}

// An unpacked is a layout, by names of files.
type unpacked struct {
	t     *testing.T
	files map[string]string
}

// blob finds what is described, and wants it to be that.
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
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if owned := h.Name == "data/"; owned != (h.Uid == nobody && h.Mode == 0o700) {
			t.Errorf("%s: %d, mode %o", h.Name, h.Uid, h.Mode)
		}
		files[h.Name] = string(content)
	}
}

func decode(t *testing.T, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatal(err)
	}
}
