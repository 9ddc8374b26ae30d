// Image writes a container image for several machines as an OCI layout. It reads a
// request as JSON from standard input.
package main

import (
	"encoding/json"
	"log"
	"os"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// A request describes the image.
type request struct {
	Layout      string // directory to make
	Name        string // by which engines load it
	Time        time.Time
	CreatedBy   string
	User        string
	Annotations map[string]string // and labels
	Machines    []struct {
		v1.Platform
		Layer string // tar archive of all that is in the image
	}
}

func main() {
	var r request
	if err := json.NewDecoder(os.Stdin).Decode(&r); err != nil {
		log.Fatal(err)
	}
	if err := r.write(); err != nil {
		log.Fatal(err)
	}
}

func (r request) write() error {
	machines := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, m := range r.Machines {
		image, err := r.image(m.Platform, m.Layer)
		if err != nil {
			return err
		}
		machines = mutate.AppendManifests(machines, mutate.IndexAddendum{Add: noArtifact{image}, Descriptor: v1.Descriptor{Platform: &m.Platform}})
	}
	machines = mutate.Annotations(machines, r.Annotations).(v1.ImageIndex)
	path, err := layout.Write(r.Layout, empty.Index)
	if err != nil {
		return err
	}
	return path.AppendIndex(machines, layout.WithAnnotations(map[string]string{
		"org.opencontainers.image.ref.name": r.Name, // for podman and skopeo
		"io.containerd.image.name":          r.Name, // for containerd and docker
	}))
}

// noArtifact keeps the library from entering an image into the index as an artifact
// of the type of its configuration.
type noArtifact struct{ v1.Image }

func (noArtifact) ArtifactType() (string, error) { return "", nil }

// image is the image for one machine.
func (r request) image(p v1.Platform, layer string) (v1.Image, error) {
	content, err := tarball.LayerFromFile(layer, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	created, none := v1.Time{Time: r.Time}, struct{}{}
	image, err := mutate.ConfigFile(empty.Image, &v1.ConfigFile{
		OS: p.OS, Architecture: p.Architecture, Created: created, RootFS: v1.RootFS{Type: "layers"},
		Config: v1.Config{
			User: r.User, ExposedPorts: map[string]struct{}{"5100/tcp": none},
			Env:        []string{"PUSHBOX_LISTEN=:5100", "PUSHBOX_DATA_DIR=/data"},
			Entrypoint: []string{"/pushbox"}, Cmd: []string{"serve"},
			Volumes: map[string]struct{}{"/data": none}, WorkingDir: "/data", Labels: r.Annotations, StopSignal: "SIGTERM",
			// The start may take a while: it checks a large database after a crash.
			Healthcheck: &v1.HealthConfig{
				Test:     []string{"CMD", "/pushbox", "healthcheck"},
				Interval: 30 * time.Second, Timeout: 10 * time.Second, StartPeriod: 10 * time.Minute, Retries: 3,
			},
		},
	})
	if err != nil {
		return nil, err
	}
	image = mutate.ConfigMediaType(mutate.MediaType(image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err = mutate.Append(image, mutate.Addendum{Layer: content, History: v1.History{Created: created, CreatedBy: r.CreatedBy}})
	if err != nil {
		return nil, err
	}
	return mutate.Annotations(image, r.Annotations).(v1.Image), nil
}
