package main

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
	"time"
)

// containerUser is the user and the group that the program in a container runs as, and
// that own its data.
const containerUser = 65532

// The documents of an image, as its specification has them. Durations are in nanoseconds. The
// start may take a while: it checks a large database after a crash.
const (
	imageConfig = `{
		"architecture": %[1]v, "created": %[2]v,
		"history": [{"created": %[2]v, "created_by": "go run ./internal/tools/release"}],
		"os": "linux", "rootfs": {"type": "layers", "diff_ids": [%[3]v]},
		"config": {
			"Cmd": ["serve"],
			"Healthcheck": {
				"Test": ["CMD", "/pushbox", "healthcheck"],
				"Interval": 30000000000, "Timeout": 10000000000, "StartPeriod": 600000000000, "Retries": 3
			},
			"Entrypoint": ["/pushbox"], "Env": ["PUSHBOX_LISTEN=:5100", "PUSHBOX_DATA_DIR=/data"],
			"Labels": %[4]v, "User": %[5]v, "Volumes": {"/data": {}}, "WorkingDir": "/data",
			"ExposedPorts": {"5100/tcp": {}}, "StopSignal": "SIGTERM"
		}
	}`
	imageManifest = `{
		"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
		"config": %v, "layers": [%v], "annotations": %v
	}`
	imageIndex  = `{"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": %v, "annotations": %v}`
	layoutIndex = `{"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": [%v]}`
)

// A descriptor leads from one document to another, or to a layer.
type descriptor struct {
	MediaType   string `json:"mediaType"`
	Size        int    `json:"size"`
	Digest      string `json:"digest"`
	Platform    fields `json:"platform,omitempty"`
	Annotations fields `json:"annotations,omitempty"`
}

// blob adds a document or a layer to an image.
func (all files) blob(kind string, content []byte) descriptor {
	sum := digest(content)
	all["blobs/sha256/"+sum] = document(content)
	return descriptor{MediaType: "application/vnd.oci.image." + kind, Size: len(content), Digest: "sha256:" + sum}
}

// image writes a container image for amd64 and arm64, as an OCI layout in a tar
// archive, which podman, docker, skopeo and containerd load.
func (j job) image(ctx context.Context, builds []build) error {
	created, name, user := j.time.Format(time.RFC3339), "localhost/pushbox:"+j.version, fmt.Sprintf("%d:%[1]d", containerUser)
	labels := fields{
		"org.opencontainers.image.title":    "pushbox",
		"org.opencontainers.image.version":  j.version,
		"org.opencontainers.image.revision": j.commit,
		"org.opencontainers.image.created":  created,
		"org.opencontainers.image.licenses": "MIT",
	}
	layout := files{"blobs": directory(), "blobs/sha256": directory()}
	var manifests []descriptor
	for _, b := range builds {
		machine, isLinux := strings.CutPrefix(string(b.target), "linux/")
		if !isLinux || machine != "amd64" && machine != "arm64" {
			continue
		}
		roots, err := j.tool(ctx, "run", "./roots")
		if err != nil {
			return err
		}
		layer, err := b.layer(roots).tar(j.time)
		if err != nil {
			return err
		}
		config := layout.blob("config.v1+json", fill(imageConfig, machine, created, "sha256:"+digest(layer), labels, user))
		packed := layout.blob("layer.v1.tar+gzip", zipped(layer, gzip.BestSpeed))
		manifest := layout.blob("manifest.v1+json", fill(imageManifest, config, packed, labels))
		manifest.Platform = fields{"architecture": machine, "os": "linux"}
		manifests = append(manifests, manifest)
	}
	if manifests == nil {
		return nil
	}
	index := layout.blob("index.v1+json", fill(imageIndex, manifests, labels))
	index.Annotations = fields{
		"org.opencontainers.image.ref.name": name, // for podman and skopeo
		"io.containerd.image.name":          name, // for containerd and docker
	}
	top, _ := json.MarshalIndent(fill(layoutIndex, index), "", "   ") // it is JSON
	layout["index.json"] = document(top)
	layout["oci-layout"] = document([]byte("{\n    \"imageLayoutVersion\": \"1.0.0\"\n}"))
	image, err := layout.tar(j.time)
	if err != nil {
		return err
	}
	return j.write("pushbox-"+j.version+"-oci.tar", image)
}

// layer returns the only layer of the image: the program, its data directory, a directory
// for a volume with the key, the certificates of the authorities that it trusts, and the
// licences. A new volume takes owner and mode of the directory that it covers.
func (b build) layer(roots string) files {
	private, public := file{mode: fs.ModeDir | 0o700, owner: containerUser}, directory()
	return files{
		"pushbox": {content: b.content, mode: programMode}, "licenses": document(b.copyright()),
		"data": private, "key": private,
		"etc": public, "etc/ssl": public, "etc/ssl/certs": public, "etc/ssl/certs/ca-certificates.crt": document([]byte(roots + "\n")),
	}
}
