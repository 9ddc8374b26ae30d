package main

import (
	"encoding/json"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"pushbox/internal/testkit/env"
)

// TestTheProvenanceHasEachFileAndModule reads the statement as its specifications say (in-toto
// Statement v1, SLSA provenance v1), and the checksums that cover it.
func TestTheProvenanceHasEachFileAndModule(t *testing.T) {
	t.Parallel()
	j := aJob(t)
	j.targets = []target{"linux/amd64", "windows/amd64"}
	write(t, "an archive", j.dist, "a.tar.gz")
	write(t, "an image", j.dist, "b-oci.tar")
	builds := []build{aBuild(t, "linux/amd64"), aBuild(t, "windows/amd64")}
	env.OK(t, j.provenance(builds))
	text := read(t, j.dist, "pushbox-1.2.3.intoto.json")
	type resource struct {
		Name, URI string
		Digest    map[string]string
	}
	var s struct {
		Type          string `json:"_type"`
		PredicateType string
		Subject       []resource
		Predicate     struct {
			BuildDefinition struct {
				BuildType            string
				ExternalParameters   map[string]any
				ResolvedDependencies []resource
			}
			RunDetails struct{ Builder struct{ ID string } }
		}
	}
	env.OK(t, json.Unmarshal(text, &s))
	env.Equal(t, "the types", s.Type+" "+s.PredicateType, "https://in-toto.io/Statement/v1 https://slsa.dev/provenance/v1")
	env.Equal(t, "the subjects", fmt.Sprint(s.Subject), fmt.Sprint([]resource{
		{Name: "a.tar.gz", Digest: map[string]string{"sha256": digest([]byte("an archive"))}},
		{Name: "b-oci.tar", Digest: map[string]string{"sha256": digest([]byte("an image"))}},
	}))
	d := s.Predicate.BuildDefinition
	if !strings.Contains(d.BuildType, ":") || !strings.Contains(s.Predicate.RunDetails.Builder.ID, ":") || d.ExternalParameters["vulnerabilitiesChecked"] != false {
		t.Errorf("%+v", s.Predicate)
	}
	env.Equal(t, "the source", fmt.Sprint(d.ResolvedDependencies[0]), "{ pkg:generic/pushbox@1.2.3 map[gitCommit:0123456789abcdef]}")
	for _, m := range builds[0].info.Deps {
		i := slices.IndexFunc(d.ResolvedDependencies, func(r resource) bool { return r.URI == "pkg:golang/"+m.Path+"@"+m.Version })
		if i < 0 || len(d.ResolvedDependencies[i].Digest["dirHash"]) != 64 {
			t.Errorf("%s is not in it with its digest", m.Path)
		}
	}
	env.Equal(t, "each module once, the source, and Go", len(d.ResolvedDependencies), len(builds[0].info.Deps)+2)
	env.Contains(t, "the checksums", env.Must(j.sums())(t), digest(text)+"  pushbox-1.2.3.intoto.json\n")

	builds[0].info.Deps = []*debug.Module{{Path: "a.example", Version: "v1.0.0", Sum: "h1:no base64"}}
	if err := j.provenance(builds); err == nil || !strings.Contains(err.Error(), "a.example") {
		t.Errorf("a module without a sum: %v", err)
	}
}
