package main

import (
	"flag"
	"io"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"pushbox/internal/tools/tool"
)

const (
	maxConnections = 10_000
	maxRounds      = 10_000
	maxStored      = 100_000_000
	maxPayload     = 1 << 20 // bytes
	maxRound       = time.Hour

	// A server may write ended pushes to their places for a second, and erase them when
	// there is no load.
	defaultRest = 1500 * time.Millisecond
)

// options are the arguments, parsed.
type options struct {
	bolt         bool     // compare with bbolt, not with the bare handler
	database     string   // compare with bare statements in this database, not with the bare handler
	many         int      // pushes of a further server over it; 0: none
	postgresOnly []string // the operations to measure over it; empty: all
	subjects     []spec
	connections  []int
	rounds       int           // without the warm-up
	round        time.Duration // of one operation of one subject
	rest         time.Duration // after it
	only         []string      // the operations to measure; empty: all
	stored       int           // pushes in each subject before it is measured
	payload      int           // bytes
	raw          bool          // the hand-written client
	dir          string        // for data; "": a temporary directory on a disk
	json         bool
}

// A spec is the part of the arguments that is about one subject.
type spec struct {
	name  string
	path  string // of the pushbox to start; "": the server runs at url
	url   string
	api   *api
	token string // for the API; "": none
	pids  []int  // of a running server
}

// parse reads the arguments. Its errors are of type tool.UsageError.
func parse(args []string, notes io.Writer) (options, error) {
	o := options{connections: []int{16, 64, 256}, raw: true}
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.SetOutput(notes)
	f.Func("pushbox", "start the server at `[NAME=]PATH` with a fresh data directory; may be repeated", o.addPushbox)
	f.Func("url", "measure the running server `NAME=URL`, by API v2; may be repeated", o.addURL("v2"))
	f.Func("v1-url", "measure the running server `NAME=URL`, by the older API, /p.json; may be repeated", o.addURL("v1"))
	f.Func("ots-url", "measure the running server of Luzifer/ots `NAME=URL`; may be repeated", o.addURL("ots"))
	f.Func("yopass-url", "measure the running server of yopass `NAME=URL`; may be repeated", o.addURL("yopass"))
	f.Func("token-file", "send the API token in a file to the server NAME of an earlier --url: `NAME=FILE`", o.setToken)
	f.Func("pid", "measure these processes of the server NAME of an earlier --url: `NAME=PID[,PID]`", o.setPIDs)
	f.Func("connections", "`list` of numbers of connections (16,64,256)", o.setConnections)
	f.IntVar(&o.rounds, "rounds", 9, "`number` of measured rounds, after one warm-up")
	f.DurationVar(&o.round, "round", time.Second, "`time` of each operation of each server in a round")
	f.DurationVar(&o.rest, "rest", defaultRest, "`time` after it, in which a server finishes what it put off; its CPU time and bytes count")
	f.Func("only", "`list` of operations: "+strings.Join(operationNames, ","), o.setOnly)
	f.IntVar(&o.stored, "stored", 1000, "`number` of pushes to store before measuring")
	f.IntVar(&o.payload, "payload", 200, "`bytes` of each payload")
	f.Func("client", "`raw` for a minimal client, net for net/http's (default raw)", o.setClient)
	f.StringVar(&o.dir, "dir", "", "`directory` for the data of the servers that are started (a temporary one, not in memory)")
	f.BoolVar(&o.json, "json", false, "print JSON, not tables")
	word := ""
	if len(args) > 0 && (args[0] == "bolt" || args[0] == "postgres") {
		word, args = args[0], args[1:]
	}
	switch word {
	case "bolt":
		o.bolt, o.connections, o.only = true, []int{1}, slices.Clone(boltOnly)
	case "postgres":
		o.connections = []int{64, 256}
		f.StringVar(&o.database, "database", "", "`URL` of a PostgreSQL database in which to make schemas")
		f.IntVar(&o.many, "many", 0, "`number` of pushes to store in a further server over it (0: none)")
		f.Func("operations", "`list` of operations: "+strings.Join(postgresOperations, ","), o.setPostgresOnly)
	}
	if err := f.Parse(args); err != nil {
		if err == flag.ErrHelp {
			return options{}, err
		}
		return options{}, tool.Usagef("%v", err)
	}
	if f.NArg() > 0 {
		return options{}, tool.Usagef("unexpected argument %q", f.Arg(0))
	}
	if word == "postgres" && o.database == "" {
		return options{}, tool.Usagef("postgres takes --database URL")
	}
	return o, o.check()
}

// check refuses options that cannot be measured.
func (o *options) check() error {
	for _, n := range []struct {
		name        string
		given, most int
	}{
		{"rounds", o.rounds, maxRounds}, {"stored", o.stored, maxStored}, {"payload", o.payload, maxPayload},
	} {
		if n.given < 1 || n.given > n.most {
			return tool.Usagef("--%s must be from 1 to %d", n.name, n.most)
		}
	}
	if o.round < time.Millisecond || o.round > maxRound {
		return tool.Usagef("--round must be from 1ms to %s", maxRound)
	}
	if o.rest < 0 || o.rest > maxRound {
		return tool.Usagef("--rest must be from 0s to %s", maxRound)
	}
	if o.database != "" && (len(o.subjects) != 1 || o.subjects[0].path == "" || len(o.only) > 0 || o.many < 0 || o.many > maxStored) {
		return tool.Usagef("postgres takes one --pushbox, no other server, --database URL, --many from 0 to %d, and --operations, not --only", maxStored)
	}
	if o.bolt && (len(o.subjects) != 1 || o.subjects[0].path == "" || !slices.Equal(o.connections, []int{1}) || !slices.Equal(o.only, boltOnly)) {
		return tool.Usagef("bolt takes one --pushbox, no other server, one connection, and no --only")
	}
	for _, s := range o.subjects {
		if o.raw && strings.HasPrefix(s.url, "https:") {
			return tool.Usagef("%s: the raw client speaks http only", s.name)
		}
	}
	return nil
}

func (o *options) addPushbox(value string) error {
	name, path, ok := strings.Cut(value, "=")
	if !ok {
		name, path = "pushbox", value
	}
	if path == "" {
		return tool.Usagef("no path is given")
	}
	return o.add(spec{name: name, path: path, api: apis["v2"]})
}

func (o *options) addURL(version string) func(string) error {
	return func(value string) error {
		name, address, _ := strings.Cut(value, "=")
		u, err := url.Parse(address)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || strings.Trim(u.Path, "/")+u.RawQuery != "" {
			return tool.Usagef("it must be NAME=http://HOST:PORT")
		}
		return o.add(spec{name: name, url: u.Scheme + "://" + u.Host, api: apis[version]})
	}
}

func (o *options) add(s spec) error {
	if s.name == "" || strings.ContainsAny(s.name, `/\|`) || s.name == "." || s.name == ".." {
		return tool.Usagef("the name must not be empty, . or .., and must not contain / \\ or |")
	}
	if s.name == bareWord || slices.ContainsFunc(o.subjects, func(other spec) bool { return other.name == s.name }) {
		return tool.Usagef("two servers are called %s: give NAME=", s.name)
	}
	o.subjects = append(o.subjects, s)
	return nil
}

// named finds the running server of an earlier argument.
func (o *options) named(value string) (s *spec, rest string, err error) {
	name, rest, _ := strings.Cut(value, "=")
	i := slices.IndexFunc(o.subjects, func(s spec) bool { return s.name == name && s.url != "" })
	if i < 0 {
		return nil, "", tool.Usagef("no earlier --url has this NAME")
	}
	return &o.subjects[i], rest, nil
}

func (o *options) setToken(value string) error {
	s, path, err := o.named(value)
	if err != nil {
		return err
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	s.token = strings.TrimSpace(string(b))
	if s.token == "" || strings.ContainsAny(s.token, "\r\n") {
		return tool.Usagef("%s does not hold one token", path)
	}
	return nil
}

func (o *options) setPIDs(value string) error {
	s, list, err := o.named(value)
	if err == nil {
		s.pids, err = numbers(list, 1<<30)
	}
	return err
}

func (o *options) setConnections(value string) (err error) {
	o.connections, err = numbers(value, maxConnections)
	return err
}

func (o *options) setClient(value string) error {
	if value != "net" && value != "raw" {
		return tool.Usagef("it must be raw or net")
	}
	o.raw = value == "raw"
	return nil
}

// setOnly reads a list of operations.
func (o *options) setOnly(list string) error {
	for name := range strings.SplitSeq(list, ",") {
		if !slices.Contains(operationNames, name) {
			return tool.Usagef("each must be one of %s", strings.Join(operationNames, ", "))
		}
		o.only = append(o.only, name)
	}
	return nil
}

// boltOnly are the operations that the command bolt compares.
var boltOnly = []string{createPush, plainView}

// measures reports whether the arguments ask for an operation.
func (o *options) measures(operation string) bool {
	return len(o.only) == 0 || slices.Contains(o.only, operation)
}

// numbers reads a list such as 1,16,64.
func numbers(list string, most int) (all []int, err error) {
	for word := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 || n > most {
			return nil, tool.Usagef("each must be from 1 to %d", most)
		}
		all = append(all, n)
	}
	return all, nil
}
