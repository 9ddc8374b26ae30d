package main

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// provenanceText is an in-toto Statement v1 with SLSA provenance v1. It has no time and no number of the run:
// the same commit gives the same bytes. The checksums have a line for it, so their signature covers it.
const provenanceText = `{
	"_type": "https://in-toto.io/Statement/v1",
	"subject": %v,
	"predicateType": "https://slsa.dev/provenance/v1",
	"predicate": {
		"buildDefinition": {
			"buildType": "urn:pushbox:release:1",
			"externalParameters": {"version": %v, "targets": %v, "allowChanges": %v, "vulnerabilitiesChecked": %v},
			"resolvedDependencies": %v
		},
		"runDetails": {"builder": {"id": "urn:pushbox:any-machine:1"}}
	}
}`

// A resource is a ResourceDescriptor of in-toto: a subject by its name, a dependency by its URI.
type resource struct {
	Name   string `json:"name,omitempty"`
	URI    string `json:"uri,omitempty"`
	Digest fields `json:"digest,omitempty"`
}

// provenance writes how the files of the release, which are all there but the checksums, were made: from which
// commit, with which Go and which modules.
func (j job) provenance(builds []build) error {
	entries, err := os.ReadDir(j.dist)
	if err != nil {
		return err
	}
	var subjects []resource
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(j.dist, e.Name()))
		if err != nil {
			return err
		}
		subjects = append(subjects, resource{Name: e.Name(), Digest: fields{"sha256": digest(b)}})
	}
	source := resource{URI: "pkg:generic/pushbox@" + j.version, Digest: fields{"gitCommit": j.commit}}
	modules := make(map[string]resource)
	for _, b := range builds {
		compiler := part("application", "generic", "go", strings.TrimPrefix(b.info.GoVersion, "go")).URL
		modules[compiler] = resource{URI: compiler}
		for _, m := range b.info.Deps {
			sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.Sum, "h1:"))
			if err != nil {
				return fmt.Errorf("the sum of %s: %w", m.Path, err)
			}
			uri := part("library", "golang", m.Path, m.Version).URL
			modules[uri] = resource{URI: uri, Digest: fields{"dirHash": fmt.Sprintf("%x", sum)}}
		}
	}
	needs := append([]resource{source}, slices.SortedFunc(maps.Values(modules), func(a, b resource) int { return cmp.Compare(a.URI, b.URI) })...)
	filled := fill(provenanceText, subjects, j.version, j.targets, j.allowChanges, j.vulnDB != "", needs)
	text, _ := json.MarshalIndent(filled, "", "  ") // it is JSON
	return j.write("pushbox-"+j.version+".intoto.json", append(text, '\n'))
}
