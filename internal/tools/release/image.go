package main

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// containerUser is the user and the group that the program in a container runs as, and
// that own its data.
const containerUser = 65532

// An imageRequest is the input of tools/image.
type imageRequest struct {
	Layout, Name    string
	Time            time.Time
	CreatedBy, User string
	Annotations     map[string]string
	Machines        []machine
}

type machine struct {
	OS           string `json:"os"`
	Architecture string `json:"architecture"`
	Layer        string
}

// image writes a container image for amd64 and arm64, as an OCI layout in a tar
// archive, which podman, docker, skopeo and containerd load.
func (j job) image(ctx context.Context, builds []build) error {
	dir, err := os.MkdirTemp(j.work, "image-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	r := imageRequest{
		Layout: filepath.Join(dir, "layout"), Name: "localhost/pushbox:" + j.version,
		Time: j.time, CreatedBy: "go run ./internal/tools/release", User: fmt.Sprintf("%d:%[1]d", containerUser),
		Annotations: map[string]string{
			"org.opencontainers.image.title":    "pushbox",
			"org.opencontainers.image.version":  j.version,
			"org.opencontainers.image.revision": j.commit,
			"org.opencontainers.image.created":  j.time.Format(time.RFC3339),
			"org.opencontainers.image.licenses": "MIT",
		},
	}
	roots, err := run(ctx, j.tools(), j.environ, "go", "run", "./roots")
	if err != nil {
		return err
	}
	for _, b := range builds {
		if !b.inImage() {
			continue
		}
		m := machine{b.goos, b.goarch, filepath.Join(dir, b.label()+".tar")}
		if err := j.layer(m.Layer, b, []byte(roots+"\n")); err != nil {
			return err
		}
		r.Machines = append(r.Machines, m)
	}
	if len(r.Machines) == 0 {
		return nil
	}
	if err := j.tool(ctx, "image", r); err != nil {
		return err
	}
	files, err := filesBelow(r.Layout)
	if err != nil {
		return err
	}
	return writeFile(filepath.Join(j.dist, "pushbox-"+j.version+"-oci.tar"), func(w io.Writer) error {
		return writeTar(w, files, j.time)
	})
}

// layer writes the only layer of the image: the program, its data directory, a directory
// for a volume with the key, the certificates of the authorities that it trusts, and the
// licences. A new volume takes owner and mode of the directory that it covers.
func (j job) layer(name string, b build, roots []byte) error {
	program, err := os.ReadFile(b.path)
	if err != nil {
		return err
	}
	licences, err := b.copyright()
	if err != nil {
		return err
	}
	return writeFile(name, func(w io.Writer) error {
		return writeTar(w, []file{
			{name: "pushbox", content: program, mode: programMode},
			{name: "data", mode: fs.ModeDir | 0o700, owner: containerUser},
			{name: "key", mode: fs.ModeDir | 0o700, owner: containerUser},
			{name: "etc", mode: fs.ModeDir | dirMode},
			{name: "etc/ssl", mode: fs.ModeDir | dirMode},
			{name: "etc/ssl/certs", mode: fs.ModeDir | dirMode},
			{name: "etc/ssl/certs/ca-certificates.crt", content: roots, mode: fileMode},
			{name: "licenses", content: licences, mode: fileMode},
		}, j.time)
	})
}

// filesBelow returns the files and directories below dir.
func filesBelow(dir string) (all []file, err error) {
	err = fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		if d.IsDir() {
			all = append(all, file{name: name, mode: fs.ModeDir | dirMode})
			return nil
		}
		content, err := os.ReadFile(filepath.Join(dir, name))
		all = append(all, file{name: name, content: content, mode: fileMode})
		return err
	})
	return all, err
}
