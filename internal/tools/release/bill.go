package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// fill puts values, encoded as JSON, into the places of a JSON text, and makes the text
// compact. A text that is no JSON is a mistake in this program.
func fill(text string, values ...any) json.RawMessage {
	for i, v := range values {
		encoded, _ := json.Marshal(v)
		values[i] = string(encoded)
	}
	filled, err := json.Marshal(json.RawMessage(fmt.Sprintf(text, values...)))
	if err != nil {
		panic(err)
	}
	return filled
}

const billText = `{
	"$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json",
	"bomFormat": "CycloneDX", "specVersion": "1.5", "serialNumber": %v, "version": 1,
	"metadata": {"timestamp": %v, "component": %v},
	"components": %v,
	"dependencies": [{"ref": %v, "dependsOn": %v}]
}`

type component struct {
	Ref        string   `json:"bom-ref"`
	Type       string   `json:"type"`
	Name       string   `json:"name"`
	Version    string   `json:"version"`
	Hashes     []fields `json:"hashes,omitempty"`
	URL        string   `json:"purl"`
	Properties []fields `json:"properties,omitempty"`
}

type fields map[string]string

// part is a component from a registry; "golang" and "npm" are its names in package URLs.
func part(kind, registry, name, version string, properties ...fields) component {
	url := "pkg:" + registry + "/" + name + "@" + strings.ReplaceAll(version, "+", "%2B")
	return component{Ref: url, Type: kind, Name: name, Version: version, URL: url, Properties: properties}
}

func (j job) bill(b build) error {
	self := part("application", "golang", "pushbox", j.version,
		fields{"name": "platform", "value": string(b.target)}, fields{"name": "commit", "value": j.commit})
	self.Hashes = []fields{{"alg": "SHA-256", "content": digest(b.content)}}
	parts := []component{part("library", "golang", "std", strings.TrimPrefix(b.info.GoVersion, "go"))}
	for _, m := range b.info.Deps {
		parts = append(parts, part("library", "golang", m.Path, m.Version, fields{"name": "go.sum", "value": m.Sum}))
	}
	script, version, _, err := j.script()
	if err != nil {
		return err
	}
	parts = append(parts, part("library", "npm", script, version))
	var needs []string
	for _, p := range parts {
		needs = append(needs, p.Ref)
	}
	filled := fill(billText, serial(b.content), j.time.Format(time.RFC3339), self, parts, self.Ref, needs)
	text, _ := json.MarshalIndent(filled, "", "  ") // it is JSON
	return j.write("pushbox-"+j.version+"-"+b.label()+".cdx.json", append(text, '\n'))
}

// serial names a bill by its program (a UUID of version 8, RFC 9562), so that it is
// the same whenever it is made.
func serial(program []byte) string {
	u := sha256.Sum256(append([]byte("bill of materials\n"), program...))
	u[6], u[8] = u[6]&0x0f|0x80, u[8]&0x3f|0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:16])
}
