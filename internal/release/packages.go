package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A recipe is what nfpm makes a package of.
type recipe struct {
	Name        string       `json:"name"`
	Arch        string       `json:"arch"`
	Platform    string       `json:"platform"`
	Version     string       `json:"version"`
	Release     string       `json:"release"`
	Section     string       `json:"section"`
	Priority    string       `json:"priority"`
	Maintainer  string       `json:"maintainer"`
	Description string       `json:"description"`
	License     string       `json:"license,omitempty"`
	MTime       string       `json:"mtime"`
	Depends     []string     `json:"depends"`
	Recommends  []string     `json:"recommends"`
	Contents    []packed     `json:"contents"`
	Scripts     scripts      `json:"scripts"`
	Deb         *debSettings `json:"deb,omitempty"`
	RPM         *rpmSettings `json:"rpm,omitempty"`
}

type packed struct {
	Source string `json:"src"`
	Path   string `json:"dst"`
	Type   string `json:"type,omitempty"`
	Info   struct {
		Mode  int    `json:"mode"`
		MTime string `json:"mtime"`
	} `json:"file_info"`
}

type scripts struct {
	PostInstall string `json:"postinstall"`
	PreRemove   string `json:"preremove"`
	PostRemove  string `json:"postremove"`
}

type debSettings struct {
	Compression string `json:"compression"`
}

type rpmSettings struct {
	Compression string `json:"compression"`
	Summary     string `json:"summary"`
	Group       string `json:"group"`
	BuildHost   string `json:"buildhost"`
}

const (
	maintainer  = "The pushbox authors <pushbox@localhost>"
	summary     = "share secrets that vanish"
	description = summary + `
pushbox is a server for sharing secrets: a text, files, a URL or a QR code
becomes a link that works until its view limit, its time limit, or a hand
ends it. It speaks the JSON API of Password Pusher, version 2, keeps
everything sealed in one file, and needs nothing else to run.`
)

// packages makes a .deb and an .rpm for each target that has such systems.
func (j job) packages(ctx context.Context, builds []build) error {
	nfpm := ""
	for _, b := range builds {
		if b.deb == "" {
			continue
		}
		if nfpm == "" {
			nfpm = filepath.Join(j.work, "nfpm")
			if _, err := run(ctx, filepath.Join(j.root, "internal", "release", "tools"), j.environ,
				"go", "build", "-o", nfpm, "github.com/goreleaser/nfpm/v2/cmd/nfpm"); err != nil {
				return err
			}
		}
		deb := fmt.Sprintf("pushbox_%s-1_%s.deb", j.version, b.deb)
		if err := j.pack(ctx, nfpm, deb, b, j.debian(b), debianFiles()); err != nil {
			return err
		}
		rpm := fmt.Sprintf("pushbox-%s-1.%s.rpm", j.version, b.rpm)
		if err := j.pack(ctx, nfpm, rpm, b, j.redHat(b), redHatFiles()); err != nil {
			return err
		}
	}
	return nil
}

// pack has nfpm make one package of the files.
func (j job) pack(ctx context.Context, nfpm, name string, b build, r recipe, files []installed) error {
	dir, err := os.MkdirTemp(j.work, "package-")
	if err != nil {
		return err
	}
	for i, f := range files {
		content, err := f.content(j, b)
		if err != nil {
			return err
		}
		p := packed{Source: filepath.Join(dir, fmt.Sprint(i)), Path: f.path, Type: f.kind}
		p.Info.Mode, p.Info.MTime = int(f.mode), r.MTime
		if err := os.WriteFile(p.Source, content, fileMode); err != nil {
			return err
		}
		r.Contents = append(r.Contents, p)
	}
	text, err := json.Marshal(r) // which is YAML, too
	if err != nil {
		return err
	}
	config := filepath.Join(dir, "nfpm.yaml")
	if err := os.WriteFile(config, text, fileMode); err != nil {
		return err
	}
	packager := strings.TrimPrefix(filepath.Ext(name), ".")
	epoch := fmt.Sprintf("SOURCE_DATE_EPOCH=%d", j.time.Unix())
	_, err = run(ctx, dir, []string{epoch}, nfpm, "package", "--config", config, "--packager", packager, "--target", filepath.Join(j.dist, name))
	return err
}

// recipe is what the packages of both kinds have in common.
func (j job) recipe(arch, maintained string) recipe {
	script := func(name string) string {
		return filepath.Join(j.root, "deploy", "package", maintained+"-"+name+".sh")
	}
	return recipe{
		Name: "pushbox", Arch: arch, Platform: "linux", Version: j.version, Release: "1",
		Section: "web", Priority: "optional", Maintainer: maintainer, Description: description,
		MTime:      j.time.Format(time.RFC3339),
		Recommends: []string{"ca-certificates"}, // whom to believe: webhooks, mail, certificates
		Scripts:    scripts{PostInstall: script("postinst"), PreRemove: script("prerm"), PostRemove: script("postrm")},
	}
}

func (j job) debian(b build) recipe {
	r := j.recipe(b.deb, "deb")
	r.Depends = []string{"passwd"}
	r.Recommends = append(r.Recommends, "systemd")
	r.Deb = &debSettings{Compression: "xz"}
	return r
}

func (j job) redHat(b build) recipe {
	r := j.recipe(b.rpm, "rpm")
	r.Depends = []string{"shadow-utils"}
	r.License = "MIT"
	r.RPM = &rpmSettings{Compression: "xz", Summary: summary, Group: "System Environment/Daemons", BuildHost: "localhost"}
	return r
}

// An installed is a file of a package.
type installed struct {
	path    string
	mode    fs.FileMode
	kind    string // as nfpm calls it; empty for an ordinary file
	content func(job, build) ([]byte, error)
}
