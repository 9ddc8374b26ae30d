package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"time"
)

// What the OCI image specification (1.1) calls things.
const (
	typeIndex    = "application/vnd.oci.image.index.v1+json"
	typeManifest = "application/vnd.oci.image.manifest.v1+json"
	typeConfig   = "application/vnd.oci.image.config.v1+json"
	typeLayer    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

// nobody is whom the program in a container runs as, and who owns its data.
const nobody = 65532

type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Platform    *platform         `json:"platform,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

type platform struct {
	OS           string `json:"os"`
	Architecture string `json:"architecture"`
}

type index struct {
	SchemaVersion int               `json:"schemaVersion"`
	MediaType     string            `json:"mediaType"`
	Manifests     []descriptor      `json:"manifests"`
	Annotations   map[string]string `json:"annotations,omitempty"`
}

type manifest struct {
	SchemaVersion int               `json:"schemaVersion"`
	MediaType     string            `json:"mediaType"`
	Config        descriptor        `json:"config"`
	Layers        []descriptor      `json:"layers"`
	Annotations   map[string]string `json:"annotations"`
}

type imageConfig struct {
	Created string `json:"created"`
	platform
	Config  imageDefaults `json:"config"`
	RootFS  rootFS        `json:"rootfs"`
	History []history     `json:"history"`
}

type imageDefaults struct {
	User       string              `json:"User"`
	Ports      map[string]struct{} `json:"ExposedPorts"`
	Env        []string            `json:"Env"`
	Entrypoint []string            `json:"Entrypoint"`
	Cmd        []string            `json:"Cmd"`
	Volumes    map[string]struct{} `json:"Volumes"`
	WorkingDir string              `json:"WorkingDir"`
	Labels     map[string]string   `json:"Labels"`
	StopSignal string              `json:"StopSignal"`
}

type rootFS struct {
	Type    string   `json:"type"`
	DiffIDs []string `json:"diff_ids"`
}

type history struct {
	Created   string `json:"created"`
	CreatedBy string `json:"created_by"`
}

// image writes a container image for every machine that has one, as an OCI layout
// in a tar archive: podman, docker, skopeo and containerd load it.
func (j job) image(ctx context.Context, builds []build) error {
	roots, err := j.roots(ctx)
	if err != nil {
		return err
	}
	l := layout{job: j, roots: roots, notes: map[string]string{
		"org.opencontainers.image.title":    "pushbox",
		"org.opencontainers.image.version":  j.version,
		"org.opencontainers.image.revision": j.commit,
		"org.opencontainers.image.created":  j.time.Format(time.RFC3339),
		"org.opencontainers.image.licenses": "MIT",
	}}
	var all []descriptor
	for _, b := range builds {
		if !b.inImage() {
			continue
		}
		d, err := l.add(b)
		if err != nil {
			return err
		}
		all = append(all, d)
	}
	if len(all) == 0 {
		return nil
	}
	return l.write(all)
}

// A layout is one that is being made.
type layout struct {
	job
	roots []byte            // certificates, as PEM
	notes map[string]string // annotations and labels
	files []file
}

// roots are the certificates of the authorities that a system without its own has
// to believe.
func (j job) roots(ctx context.Context) ([]byte, error) {
	text, err := run(ctx, filepath.Join(j.root, "internal", "release", "tools"), j.environ, "go", "run", "./roots")
	return []byte(text + "\n"), err
}

// add puts the image for one machine into the layout.
func (l *layout) add(b build) (descriptor, error) {
	layer, err := l.layer(b)
	if err != nil {
		return descriptor{}, err
	}
	packed, err := zipped(layer)
	if err != nil {
		return descriptor{}, err
	}
	p, created := platform{OS: b.goos, Architecture: b.goarch}, l.time.Format(time.RFC3339)
	config, err := l.document(typeConfig, imageConfig{
		Created: created, platform: p, Config: defaults(l.notes),
		RootFS:  rootFS{Type: "layers", DiffIDs: []string{"sha256:" + digest(layer)}},
		History: []history{{Created: created, CreatedBy: "go run ./internal/release"}},
	})
	if err != nil {
		return descriptor{}, err
	}
	d, err := l.document(typeManifest, manifest{
		SchemaVersion: 2, MediaType: typeManifest, Config: config,
		Layers: []descriptor{l.blob(typeLayer, packed)}, Annotations: l.notes,
	})
	d.Platform = &p
	return d, err
}

// defaults are how the image is run, if nothing else is said.
func defaults(labels map[string]string) imageDefaults {
	none := struct{}{}
	return imageDefaults{
		User: fmt.Sprintf("%d:%[1]d", nobody), Ports: map[string]struct{}{"5100/tcp": none},
		Env:        []string{"PUSHBOX_LISTEN=:5100", "PUSHBOX_DATA_DIR=/data"},
		Entrypoint: []string{"/pushbox"}, Cmd: []string{"serve"},
		Volumes: map[string]struct{}{"/data": none}, WorkingDir: "/data", Labels: labels, StopSignal: "SIGTERM",
	}
}

// layer is all that there is in the image: the program, the directory of its data,
// whom to believe, and the conditions of what is in it.
func (l *layout) layer(b build) ([]byte, error) {
	program, err := theProgram(l.job, b)
	if err != nil {
		return nil, err
	}
	licences, err := copyright(l.job, b)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = writeTar(&out, []file{
		{name: "pushbox", content: program, mode: programMode},
		{name: "data", mode: fs.ModeDir | 0o700, owner: nobody},
		{name: "etc", mode: fs.ModeDir | dirMode},
		{name: "etc/ssl", mode: fs.ModeDir | dirMode},
		{name: "etc/ssl/certs", mode: fs.ModeDir | dirMode},
		{name: "etc/ssl/certs/ca-certificates.crt", content: l.roots, mode: fileMode},
		{name: "licenses", content: licences, mode: fileMode},
	}, l.time)
	return out.Bytes(), err
}

func (l *layout) document(mediaType string, v any) (descriptor, error) {
	text, err := json.Marshal(v)
	return l.blob(mediaType, text), err
}

// blob puts bytes into the layout, under their digest.
func (l *layout) blob(mediaType string, b []byte) descriptor {
	sum := digest(b)
	l.files = append(l.files, file{name: "blobs/sha256/" + sum, content: b, mode: fileMode})
	return descriptor{MediaType: mediaType, Digest: "sha256:" + sum, Size: len(b)}
}

// write ends the layout: an index of the machines, and one of the layout, which
// names it.
func (l *layout) write(all []descriptor) error {
	machines, err := l.document(typeIndex, index{SchemaVersion: 2, MediaType: typeIndex, Manifests: all, Annotations: l.notes})
	if err != nil {
		return err
	}
	name := "localhost/pushbox:" + l.version // for podman and skopeo, and for containerd and docker
	machines.Annotations = map[string]string{"org.opencontainers.image.ref.name": name, "io.containerd.image.name": name}
	top, err := json.Marshal(index{SchemaVersion: 2, MediaType: typeIndex, Manifests: []descriptor{machines}})
	if err != nil {
		return err
	}
	l.files = append(l.files,
		file{name: "blobs", mode: fs.ModeDir | dirMode}, file{name: "blobs/sha256", mode: fs.ModeDir | dirMode},
		file{name: "index.json", content: top, mode: fileMode},
		file{name: "oci-layout", content: []byte(`{"imageLayoutVersion":"1.0.0"}`), mode: fileMode})
	return writeFile(filepath.Join(l.dist, "pushbox-"+l.version+"-oci.tar"), func(w io.Writer) error {
		return writeTar(w, l.files, l.time)
	})
}
