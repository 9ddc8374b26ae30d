package main

import (
	"debug/buildinfo"
	"os"
	"runtime"
	"strings"
)

const unknown = "unknown"

// A machine describes where the figures were measured.
type machine struct {
	CPU    string `json:"cpu"`
	Cores  int    `json:"cores"`
	System string `json:"system"`
	Kernel string `json:"kernel"`
	Go     string `json:"go"`   // that built the load generator and the bare handler
	Disk   string `json:"disk"` // the file system of the data
	Load   string `json:"load"` // average of the minute before the run
}

func thisMachine(dir string) machine {
	load, _, _ := strings.Cut(line("/proc/loadavg"), " ")
	m := machine{CPU: unknown, Cores: runtime.NumCPU(), System: runtime.GOOS + "/" + runtime.GOARCH, Kernel: line("/proc/sys/kernel/osrelease"), Go: runtime.Version(), Disk: fileSystem(dir), Load: load}
	text, _ := os.ReadFile("/proc/cpuinfo") // other systems do not have it
	for l := range strings.Lines(string(text)) {
		if name, value, _ := strings.Cut(l, ":"); strings.TrimSpace(name) == "model name" {
			m.CPU = strings.TrimSpace(value)
			break
		}
	}
	return m
}

// line returns the content of a file of one line.
func line(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return unknown
	}
	return strings.TrimSpace(string(b))
}

// A built program has the commit and the Go version in its build information.
type built struct {
	Name    string `json:"name"`
	Go      string `json:"go"`
	Commit  string `json:"commit"`
	Changed bool   `json:"changed"` // built from a tree with uncommitted changes
}

func buildOf(name, path string) built {
	b := built{Name: name, Go: unknown, Commit: unknown}
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return b // a script, perhaps
	}
	b.Go = info.GoVersion
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.modified":
			b.Changed = s.Value == "true"
		}
	}
	return b
}

// String describes the build for the report.
func (b built) String() string {
	const short = 12 // characters that name a commit
	text := "commit " + b.Commit[:min(short, len(b.Commit))]
	if b.Changed {
		text += " and changes"
	}
	return text + ", " + b.Go
}
