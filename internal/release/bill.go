package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A bill is a bill of materials in the form of CycloneDX 1.5: what a program is
// made of, as the program itself tells it.
type bill struct {
	BOMFormat    string       `json:"bomFormat"`
	SpecVersion  string       `json:"specVersion"`
	SerialNumber string       `json:"serialNumber"`
	Version      int          `json:"version"`
	Metadata     billMetadata `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type billMetadata struct {
	Timestamp string    `json:"timestamp"`
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	PURL       string     `json:"purl"`
	Hashes     []hash     `json:"hashes,omitempty"`
	Properties []property `json:"properties,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn"`
}

// bills writes one for each program.
func (j job) bills(_ context.Context, builds []build) error {
	for _, b := range builds {
		program, err := os.ReadFile(b.path)
		if err != nil {
			return err
		}
		text, err := json.MarshalIndent(j.bill(b, program), "", "  ")
		if err != nil {
			return err
		}
		name := fmt.Sprintf("pushbox-%s-%s.cdx.json", j.version, b.label())
		if err := writeFile(filepath.Join(j.dist, name), content(append(text, '\n'))); err != nil {
			return err
		}
	}
	return nil
}

func (j job) bill(b build, program []byte) bill {
	self := module("application", "pushbox", j.version)
	self.Hashes = []hash{{Algorithm: "SHA-256", Content: digest(program)}}
	self.Properties = []property{{"platform", b.target.String()}, {"commit", b.setting("vcs.revision")}}
	whole := bill{
		BOMFormat: "CycloneDX", SpecVersion: "1.5", SerialNumber: serial(program), Version: 1,
		Metadata:   billMetadata{Timestamp: j.time.Format(time.RFC3339), Component: self},
		Components: []component{module("library", "std", strings.TrimPrefix(b.info.GoVersion, "go"))},
	}
	for _, m := range b.info.Deps {
		c := module("library", used(m).Path, used(m).Version)
		c.Properties = []property{{"go.sum", used(m).Sum}}
		whole.Components = append(whole.Components, c)
	}
	edges := dependency{Ref: self.Ref}
	for _, c := range whole.Components {
		edges.DependsOn = append(edges.DependsOn, c.Ref)
	}
	whole.Dependencies = []dependency{edges}
	return whole
}

func module(kind, path, version string) component {
	purl := "pkg:golang/" + path + "@" + strings.ReplaceAll(version, "+", "%2B")
	return component{Type: kind, Ref: purl, Name: path, Version: version, PURL: purl}
}

// serial names a bill by what it is about (a UUID of version 8, RFC 9562), so that
// it is the same whenever it is made.
func serial(program []byte) string {
	u := sha256.Sum256(append([]byte("bill of materials\n"), program...))
	u[6], u[8] = u[6]&0x0f|0x80, u[8]&0x3f|0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:16])
}
