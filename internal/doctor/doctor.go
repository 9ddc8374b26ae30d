// Package doctor examines an installation, and gives a cure for each problem. It changes neither
// settings nor files nor pushes.
//
// A check is a row of a table and a small function that returns findings. It never fails: something
// that it cannot examine is a finding, too.
package doctor

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"pushbox/config"
	"pushbox/internal/admin"
	"pushbox/store/postgres"
)

// A Grade is the severity of a Finding.
type Grade string

// The grades.
const (
	OK      Grade = "ok"
	Warning Grade = "warning" // it works, but could work better or longer
	Problem Grade = "problem" // something does not work, or secrets are in danger
	Skipped Grade = "skipped" // it could not be examined, and why
)

// A Finding is the result of a check for one thing.
type Finding struct {
	Check string `json:"check"`
	Grade Grade  `json:"grade"`
	Text  string `json:"text"`
	Cure  string `json:"cure,omitempty"` // the cure; empty: none
}

// A Subject is the installation to examine, with the ways to ask it.
type Subject struct {
	File     string        // the configuration; empty: there is none
	Config   config.Config // the settings of File
	ConfigIs error         // why there is no Config; nil: there is
	Database string        // path of the database; empty: it is PostgreSQL
	Socket   string        // path of the control socket
	Version  string        // of this program
	Clock    func() time.Time
	Hint     func(error) string // returns a hint for an error of opening the store

	Gone     error        // why the former database cannot be examined; nil: the database is here, or there never was one
	Running  bool         // a server has the store open
	Facts    *admin.Facts // nil: there are none, for FactsAre
	FactsAre error
	Upgrade  *Upgrade // that the next start makes, so that there are no Facts; nil: none

	MovedFile  string               // the database file that was moved to PostgreSQL; empty: there is none
	Postgres   *postgres.Inspection // of the database, where that is PostgreSQL; nil: there is none, for PostgresIs
	PostgresIs error                // nil: the database is a file, or was inspected

	Probe        func(context.Context) (path string, err error) // gets a probe path from the server
	URL          *url.URL                                       // at which clients reach the server; nil: not given
	CAFile       string                                         // certificate authorities to trust, beside those of the system
	Mail         func(context.Context) error                    // connects to the mail server and signs in; nil: no mail is sent
	People       func(context.Context) error                    // asks the directory; nil: there is none
	Hook         error                                          // why nothing can be sent to webhooks.url; nil: it can, as far as is known
	Providers    []Provider                                     // of sign-ins
	ProvidersAre error                                          // why there are no Providers; nil: they are those of the settings
	Network      bool                                           // base_url may be asked for the time
	Inside       bool                                           // the server itself runs the checks, without those that ask other servers
}

// An Upgrade is the upgrade of a database of an older schema at the next start.
type Upgrade struct {
	From, To uint32 // schemas
	Room     int64  // bytes that it needs free
	Days     int    // how long the old database stays
}

// inPostgres reports whether the database is PostgreSQL.
func (s *Subject) inPostgres() bool { return s.Postgres != nil || s.PostgresIs != nil }

type check struct {
	name string
	look func(ctx context.Context, s *Subject) []Finding
	bare bool // it needs no configuration
	asks bool // it needs the database
	away bool // it asks another server, or asks as a client
	of   engine
}

type engine int

const (
	anyEngine engine = iota
	inFile
	inPostgres
)

func checks() []check {
	return []check{
		{name: "configuration", look: checkConfig, bare: true},
		{name: "data directory", look: checkDataDir},
		{name: "database", look: checkDatabase},
		{name: "master key", look: checkKey, asks: true},
		{name: "control socket", look: checkSocket},
		{name: "server", look: checkServer, asks: true},
		{name: "clock", look: checkClock, asks: true},
		{name: "sweeper", look: checkSweeper, asks: true},
		{name: "free space", look: checkSpace, of: inFile},
		{name: "file system", look: checkFileSystem, of: inFile},
		{name: "writing to the disk", look: checkSync, of: inFile},
		{name: "database server", look: checkPostgres, asks: true, of: inPostgres},
		{name: "durability", look: checkDurability, asks: true, of: inPostgres},
		{name: "clock of the database", look: checkDatabaseClock, asks: true, of: inPostgres},
		{name: "connection to the database", look: checkWay, asks: true, of: inPostgres},
		{name: "role in the database", look: checkRole, asks: true, of: inPostgres},
		{name: "size of the database", look: checkRoom, asks: true, of: inPostgres},
		{name: "core dumps", look: checkCores, asks: true},
		{name: "swap", look: checkSwap},
		{name: "backups", look: checkBackups},
		{name: "secret files", look: checkSecrets},
		{name: "metrics", look: checkMetrics},
		{name: "mail", look: checkMail, away: true},
		{name: "directory", look: checkDirectory, away: true},
		{name: "users of the directory", look: checkPeople, asks: true},
		{name: "sign-in providers", look: checkProviders, away: true},
		{name: "administrators", look: checkAdministrators, asks: true},
		{name: "policies", look: checkPolicies, asks: true},
		{name: "messages", look: checkMessages, asks: true},
		{name: "webhook of the server", look: checkHook},
		{name: "certificate", look: checkCertificate},
		{name: "proxy", look: checkProxy, away: true},
		{name: "network time", look: checkNetworkTime, away: true},
	}
}

const longest = 20 * time.Second

// Run runs the checks in the order of the table, until ctx ends. Each check may take
// twenty seconds.
func Run(ctx context.Context, s *Subject) (all []Finding) {
	for _, c := range checks() {
		if ctx.Err() != nil {
			return all
		}
		if s.ConfigIs != nil && !c.bare || s.Inside && c.away || c.of == inFile && s.inPostgres() || c.of == inPostgres && !s.inPostgres() {
			continue // it would examine something else
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
	if c.asks && s.Gone != nil {
		return one(skipped("it needs the database"))
	}
	return c.look(ctx, s)
}

// Count returns how many findings have a grade.
func Count(all []Finding, g Grade) (n int) {
	for _, f := range all {
		if f.Grade == g {
			n++
		}
	}
	return n
}

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
