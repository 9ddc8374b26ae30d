// Package doctor looks over an installation, and says of each thing that is not as
// it should be what to do about it. It changes no setting, no file and no push.
//
// A check is a row of a table and a small function that returns findings; it never
// fails itself: what it cannot look at is a finding, too.
package doctor

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"pushbox/config"
	"pushbox/internal/admin"
)

// A Grade is how bad a Finding is.
type Grade string

// The grades.
const (
	OK      Grade = "ok"
	Warning Grade = "warning" // it works, and might work better or longer
	Problem Grade = "problem" // something does not work, or secrets are in danger
	Skipped Grade = "skipped" // it could not be looked at, and why
)

// A Finding is what a check found of one thing.
type Finding struct {
	Check string `json:"check"`
	Grade Grade  `json:"grade"`
	Text  string `json:"text"`
	Cure  string `json:"cure,omitempty"` // what to do; empty where nothing is to be done
}

// A Subject is the installation to look over, and how to ask it.
type Subject struct {
	File     string        // the configuration; empty: there is none
	Config   config.Config // that is in it
	ConfigIs error         // why there is no Config; nil: there is
	Database string        // path of the database
	Socket   string        // path of the control socket
	Version  string        // of this program
	Clock    func() time.Time
	SizeOf   func(bytes int64) string // writes a number of bytes for people
	Hint     func(error) string       // what to do about an error of opening the store

	Running  bool         // a server has the store open
	Facts    *admin.Facts // nil: there are none, for FactsAre
	FactsAre error

	Probe   func(context.Context) (path string, err error) // asks the server for one
	URL     *url.URL                                       // under which clients reach the server; nil: not told
	CAFile  string                                         // has certificates of who may vouch for it, beside those whom the system trusts
	Mail    func(context.Context) error                    // connects to the mail server and signs in; nil: no mail is sent
	Network bool                                           // the address that the configuration names may be asked for the time
}

// A check looks at one thing.
type check struct {
	name string
	look func(ctx context.Context, s *Subject) []Finding
	bare bool // it needs no configuration
}

// checks is the table.
func checks() []check {
	return []check{
		{name: "configuration", look: checkConfig, bare: true},
		{name: "data directory", look: checkDataDir},
		{name: "database", look: checkDatabase},
		{name: "master key", look: checkKey},
		{name: "control socket", look: checkSocket},
		{name: "server", look: checkServer},
		{name: "clock", look: checkClock},
		{name: "sweeper", look: checkSweeper},
		{name: "free space", look: checkSpace},
		{name: "file system", look: checkFileSystem},
		{name: "writing to the disk", look: checkSync},
		{name: "core dumps", look: checkCores},
		{name: "swap", look: checkSwap},
		{name: "backups", look: checkBackups},
		{name: "files of secrets", look: checkSecrets},
		{name: "metrics", look: checkMetrics},
		{name: "mail", look: checkMail},
		{name: "certificate", look: checkCertificate},
		{name: "proxy", look: checkProxy},
		{name: "time of the network", look: checkNetworkTime},
	}
}

// longest is how long one check may take.
const longest = 20 * time.Second

// Run looks at everything, in the order of the table, until ctx ends. Each check has
// twenty seconds at most.
func Run(ctx context.Context, s *Subject) (all []Finding) {
	for _, c := range checks() {
		if ctx.Err() != nil {
			return all
		}
		if s.ConfigIs != nil && !c.bare {
			continue // it would look at something else
		}
		for _, f := range within(ctx, c, s) {
			f.Check = c.name
			all = append(all, f)
		}
	}
	return all
}

func within(ctx context.Context, c check, s *Subject) []Finding {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	return c.look(ctx, s)
}

// Count is how many findings are of a grade.
func Count(all []Finding, g Grade) (n int) {
	for _, f := range all {
		if f.Grade == g {
			n++
		}
	}
	return n
}

// one is a single finding.
func one(f Finding) []Finding { return []Finding{f} }

func fine(format string, args ...any) Finding {
	return Finding{Grade: OK, Text: fmt.Sprintf(format, args...)}
}

func skipped(format string, args ...any) Finding {
	return Finding{Grade: Skipped, Text: fmt.Sprintf(format, args...)}
}

func warning(cure, format string, args ...any) Finding {
	return Finding{Grade: Warning, Text: fmt.Sprintf(format, args...), Cure: cure}
}

func problem(cure, format string, args ...any) Finding {
	return Finding{Grade: Problem, Text: fmt.Sprintf(format, args...), Cure: cure}
}
