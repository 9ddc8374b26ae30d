// Bill writes bills of materials (CycloneDX 1.5) from the build information of
// programs, which it reads as JSON from standard input.
package main

import (
	"encoding/json"
	"errors"
	"io"
	"log"
	"os"
	"runtime/debug"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// A subject is a program, and the file to write its bill to.
type subject struct {
	File, Serial, Version, Platform, Commit, Digest, Time string
	Info                                                  *debug.BuildInfo
	Script                                                struct{ Name, Version string } // a package of npm
}

func main() {
	for d := json.NewDecoder(os.Stdin); ; {
		var s subject
		if err := d.Decode(&s); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			log.Fatal(err)
		}
		if err := s.write(); err != nil {
			log.Fatal(err)
		}
	}
}

func (s subject) write() error {
	f, err := os.Create(s.File)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := cdx.NewBOMEncoder(f, cdx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(s.bill(), cdx.SpecVersion1_5); err != nil {
		return err
	}
	return f.Close()
}

func (s subject) bill() *cdx.BOM {
	self := component(cdx.ComponentTypeApplication, "pushbox", s.Version)
	self.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: s.Digest}}
	self.Properties = &[]cdx.Property{{Name: "platform", Value: s.Platform}, {Name: "commit", Value: s.Commit}}
	parts := []cdx.Component{component(cdx.ComponentTypeLibrary, "std", strings.TrimPrefix(s.Info.GoVersion, "go"))}
	for _, m := range s.Info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		c := component(cdx.ComponentTypeLibrary, m.Path, m.Version)
		c.Properties = &[]cdx.Property{{Name: "go.sum", Value: m.Sum}}
		parts = append(parts, c)
	}
	npm := component(cdx.ComponentTypeLibrary, s.Script.Name, s.Script.Version)
	npm.PackageURL = "pkg:npm/" + s.Script.Name + "@" + s.Script.Version
	npm.BOMRef = npm.PackageURL
	parts = append(parts, npm)
	needs := make([]string, len(parts))
	for i, c := range parts {
		needs[i] = c.BOMRef
	}
	bom := cdx.NewBOM()
	bom.SerialNumber = s.Serial
	bom.Metadata = &cdx.Metadata{Timestamp: s.Time, Component: &self}
	bom.Components = &parts
	bom.Dependencies = &[]cdx.Dependency{{Ref: self.BOMRef, Dependencies: &needs}}
	return bom
}

func component(kind cdx.ComponentType, path, version string) cdx.Component {
	purl := "pkg:golang/" + path + "@" + strings.ReplaceAll(version, "+", "%2B")
	return cdx.Component{Type: kind, BOMRef: purl, Name: path, Version: version, PackageURL: purl}
}
