package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

const maintainer = "The pushbox authors <pushbox@localhost>"

// packages makes a .deb and an .rpm for each target that has such systems, from what
// deploy/package/nfpm.yaml says of them.
func (j job) packages(ctx context.Context, builds []build) error {
	nfpm := ""
	for _, b := range builds {
		if b.deb == "" {
			continue
		}
		if nfpm == "" {
			nfpm = filepath.Join(j.work, "nfpm")
			if _, err := run(ctx, j.tools(), j.environ, "go", "build", "-o", nfpm, "github.com/goreleaser/nfpm/v2/cmd/nfpm"); err != nil {
				return err
			}
		}
		dir := filepath.Join(j.work, "package-"+b.label())
		if err := j.stage(dir, b); err != nil {
			return err
		}
		recipe, err := b.named("deploy/package/nfpm.yaml")
		if err != nil {
			return err
		}
		for _, p := range []struct{ kind, arch, name, more string }{
			{"deb", b.deb, fmt.Sprintf("pushbox_%s-1_%s.deb", j.version, b.deb), ""}, // Debian's control file has no field for a licence
			{"rpm", b.rpm, fmt.Sprintf("pushbox-%s-1.%s.rpm", j.version, b.rpm), "license: MIT\n"},
		} {
			config := filepath.Join(dir, p.kind+".yaml")
			if err := os.WriteFile(config, append(recipe[:len(recipe):len(recipe)], p.more...), fileMode); err != nil {
				return err
			}
			environ := []string{"ARCH=" + p.arch, "VERSION=" + j.version, "MAINTAINER=" + maintainer, fmt.Sprintf("SOURCE_DATE_EPOCH=%d", j.time.Unix())}
			if _, err := run(ctx, dir, environ, nfpm, "package", "--config", config, "--packager", p.kind, "--target", filepath.Join(j.dist, p.name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// stage writes the files that packages are made from into a new directory: those of the
// archive, the documents among them again in a directory doc, and some that Debian wants
// compressed or in another form.
func (j job) stage(dir string, b build) error {
	program, err := os.ReadFile(b.path)
	if err != nil {
		return err
	}
	licences, err := b.copyright()
	if err != nil {
		return err
	}
	files := b.files[:len(b.files):len(b.files)]
	for _, f := range b.files {
		if forReaders(f.name) {
			f.name = "doc/" + f.name
			files = append(files, f)
		}
	}
	files = append(files,
		file{name: "pushbox", content: program, mode: programMode},
		file{name: "copyright", content: licences, mode: fileMode})
	for name, from := range map[string]string{"pushbox.1.gz": "pushbox.1", "changelog.gz": "CHANGELOG.md", "changelog.Debian.gz": ""} {
		content := j.debianChangelog()
		if from != "" {
			if content, err = b.named(from); err != nil {
				return err
			}
		}
		if content, err = zipped(content); err != nil {
			return err
		}
		files = append(files, file{name: name, content: content, mode: fileMode})
	}
	for _, f := range files {
		name := filepath.Join(dir, filepath.FromSlash(f.name))
		if err := os.MkdirAll(filepath.Dir(name), dirMode); err != nil {
			return err
		}
		if err := os.WriteFile(name, f.content, f.mode); err != nil {
			return err
		}
		if err := os.Chmod(name, f.mode); err != nil { // whatever the umask is
			return err
		}
	}
	return nil
}

// copyright is the file in which Debian expects the licences of everything in a package.
func (b build) copyright() ([]byte, error) {
	own, err := b.named("LICENSE")
	if err != nil {
		return nil, err
	}
	others, err := b.named("THIRD-PARTY-LICENSES")
	return fmt.Appendf(nil, "%s\n%s", own, others), err
}

// debianChangelog is the changelog of the package; that of pushbox is a file of its own.
func (j job) debianChangelog() []byte {
	const form = "pushbox (%s-1) unstable; urgency=medium\n\n  * See changelog.gz for what is new.\n\n -- %s  %s\n"
	return fmt.Appendf(nil, form, j.version, maintainer, j.time.Format(time.RFC1123Z))
}
