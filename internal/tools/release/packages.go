package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Modes of the files that are made.
const (
	dirMode     = 0o755
	fileMode    = 0o644
	programMode = 0o755
)

type file struct {
	content []byte
	mode    fs.FileMode // fs.ModeDir for a directory
	owner   int         // uid and gid
}

type files map[string]file

func document(content []byte) file { return file{content: content, mode: fileMode} }

func directory() file { return file{mode: fs.ModeDir | dirMode} }

// tar makes an archive whose bytes do not depend on when, where and by which user it is
// made.
func (all files) tar(made time.Time) ([]byte, error) {
	var out bytes.Buffer
	t := tar.NewWriter(&out)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		f := all[name]
		h := &tar.Header{
			Typeflag: tar.TypeReg, Name: name, Size: int64(len(f.content)), Mode: int64(f.mode.Perm()),
			Uid: f.owner, Gid: f.owner, ModTime: made, Format: tar.FormatUSTAR,
		}
		if f.mode.IsDir() {
			h.Typeflag, h.Name = tar.TypeDir, name+"/"
		}
		if err := t.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := t.Write(f.content); err != nil {
			return nil, err
		}
	}
	err := t.Close()
	return out.Bytes(), err
}

// zipped compresses content with gzip, without a name and a time in the header. A buffer
// takes everything.
func zipped(content []byte, level int) []byte {
	var out bytes.Buffer
	z, _ := gzip.NewWriterLevel(&out, level)
	_, _ = z.Write(content)
	_ = z.Close()
	return out.Bytes()
}

// writeBelow writes the files into a directory, with their modes whatever the umask is.
func (all files) writeBelow(dir string) error {
	for name, f := range all {
		name = filepath.Join(dir, filepath.FromSlash(name))
		err := errors.Join(os.MkdirAll(filepath.Dir(name), dirMode), os.WriteFile(name, f.content, f.mode), os.Chmod(name, f.mode))
		if err != nil {
			return err
		}
	}
	return nil
}

func (j job) write(name string, content []byte) error {
	return os.WriteFile(filepath.Join(j.dist, name), content, fileMode)
}

func (j job) archive(b build) error {
	stem := "pushbox-" + j.version + "-" + b.label()
	all := files{path.Join(stem, b.program()): {content: b.content, mode: programMode}}
	for name, f := range b.files {
		if !forPackages(name) {
			all[path.Join(stem, name)] = f
		}
	}
	packed, err := all.tar(j.time)
	if err != nil {
		return err
	}
	return j.write(stem+".tar.gz", zipped(packed, gzip.BestCompression))
}

const maintainer = "The pushbox authors <pushbox@localhost>"

// packages makes a .deb and an .rpm for Linux, from what deploy/package/nfpm.yaml says of
// them. nfpm knows how both name machines and files.
func (j job) packages(ctx context.Context, b build) error {
	machine, isLinux := strings.CutPrefix(string(b.target), "linux/")
	if !isLinux {
		return nil
	}
	nfpm, err := j.tool(ctx, "tool", "-n", "nfpm")
	if err != nil {
		return err
	}
	dir := filepath.Join(j.work, "package-"+b.label())
	if err := j.staged(b).writeBelow(dir); err != nil {
		return err
	}
	environ := []string{
		"ARCH=" + strings.Replace(machine, "armv", "arm", 1), "VERSION=" + j.version, "MAINTAINER=" + maintainer,
		fmt.Sprintf("SOURCE_DATE_EPOCH=%d", j.time.Unix()),
	}
	for _, kind := range []string{"deb", "rpm"} {
		if _, err := run(ctx, dir, environ, nfpm, "package", "--config", kind+".yaml", "--packager", kind, "--target", j.dist); err != nil {
			return err
		}
	}
	return nil
}

// staged returns the files that packages are made from: those of the archive, the documents
// among them again in a directory doc, and some that Debian wants compressed or in another form.
func (j job) staged(b build) files {
	// The changelog of the package; that of pushbox is a file of its own.
	changelog := fmt.Appendf(nil, "pushbox (%s-1) unstable; urgency=medium\n\n  * See changelog.gz for what is new.\n\n -- %s  %s\n",
		j.version, maintainer, j.time.Format(time.RFC1123Z))
	recipe := b.files["deploy/package/nfpm.yaml"].content
	all := files{
		"pushbox":             {content: b.content, mode: programMode},
		"copyright":           document(b.copyright()),
		"pushbox.1.gz":        document(zipped(b.files["pushbox.1"].content, gzip.BestCompression)),
		"changelog.gz":        document(zipped(b.files["CHANGELOG.md"].content, gzip.BestCompression)),
		"changelog.Debian.gz": document(zipped(changelog, gzip.BestCompression)),
		"deb.yaml":            document(recipe), // Debian's control file has no field for a licence
		"rpm.yaml":            document(slices.Concat(recipe, []byte("license: MIT\n"))),
	}
	for name, f := range b.files {
		all[name] = f
		if forReaders(name) {
			all["doc/"+name] = f
		}
	}
	return all
}

// copyright is the file in which Debian expects the licences of everything in a package.
func (b build) copyright() []byte {
	return slices.Concat(b.files["LICENSE"].content, []byte("\n"), b.files["THIRD-PARTY-LICENSES"].content)
}

const sumsName = "SHA256SUMS" // in the form that sha256sum --check reads

// sums writes the SHA-256 of every file of the release, and returns what it wrote.
func (j job) sums() (string, error) {
	entries, err := os.ReadDir(j.dist)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(j.dist, e.Name()))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&out, "%s  %s\n", digest(b), e.Name())
	}
	return out.String(), j.write(sumsName, []byte(out.String()))
}

func digest(b []byte) string { return fmt.Sprintf("%x", sha256.Sum256(b)) }
