package main

import (
	"path"
	"regexp"
	"strings"
	"testing"
)

var link = regexp.MustCompile(`\]\(([^)#\s]+)[^)]*\)`)

// TestLinksLeadToFilesOfTheSamePlace: documents are read where there is no network, too.
func TestLinksLeadToFilesOfTheSamePlace(t *testing.T) {
	t.Parallel()
	documents, err := (job{source: tree(t)}).documents(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for place, in := range map[string]func(string) bool{
		"the archive": func(name string) bool { return !forPackages(name) },
		"a package":   forReaders,
	} {
		there, checked := make(map[string]bool), 0
		for _, f := range documents {
			there[f.name] = in(f.name)
		}
		for _, f := range documents {
			if !there[f.name] || path.Ext(f.name) != ".md" {
				continue
			}
			for _, found := range link.FindAllSubmatch(f.content, -1) {
				to := string(found[1])
				if strings.Contains(to, "://") || strings.HasPrefix(to, "mailto:") {
					continue
				}
				checked++
				if name := path.Join(path.Dir(f.name), to); !there[name] {
					t.Errorf("%s: %s leads to %s, which is not there", place, f.name, name)
				}
			}
		}
		if checked < 50 {
			t.Errorf("%s: only %d links were found", place, checked)
		}
	}
}

func TestWhatOnlyPackagesNeedIsInNoArchive(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"deploy/package/deb-postinst.sh": true, "deploy/pushbox.1": true, "pushbox.1": false, "deploy/nginx.conf": false, "docs/install.md": false,
	} {
		if forPackages(name) != want {
			t.Errorf("%s: %t", name, !want)
		}
	}
}
