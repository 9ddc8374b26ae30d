package main

import (
	"flag"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"pushbox/internal/tool"
)

func misused(format string, args ...any) error { return tool.UsageError(fmt.Sprintf(format, args...)) }

const (
	maxConnections = 10_000
	maxRounds      = 10_000
	maxStored      = 100_000_000
	maxPayload     = 1 << 20 // bytes
	maxRound       = time.Hour
)

// options are what the arguments say.
type options struct {
	bolt        bool // compare to bbolt, not to the bare handler
	subjects    []spec
	connections []int
	rounds      int           // measured ones, beside the one to warm up
	round       time.Duration // of one operation of one subject
	stored      int           // pushes that each subject holds before
	payload     int           // bytes
	raw         bool          // the hand-written client
	dir         string        // where data goes; "": a temporary directory on a disk
	json        bool
}

// A spec says of a subject what the arguments say.
type spec struct {
	name  string
	path  string // the pushbox to start; "": the server runs at url
	url   string
	api   api
	token string // for the API; "": none
	pids  []int  // of a server that runs
}

// parse reads the arguments. What is wrong with them is a tool.UsageError.
func parse(args []string, notes io.Writer) (options, error) {
	o := options{connections: []int{1, 16, 64, 256}}
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.SetOutput(notes)
	f.Func("pushbox", "start the server at `[NAME=]PATH` with a fresh data directory; may be repeated", o.addPushbox)
	f.Func("url", "measure the running server `NAME=URL`, by API v2; may be repeated", o.addURL("v2"))
	f.Func("v1-url", "measure the running server `NAME=URL`, by the older /p.json; may be repeated", o.addURL("v1"))
	f.Func("token-file", "send the API token in a file to the server before: `NAME=FILE`", o.setToken)
	f.Func("pid", "the processes of the server before, for their CPU time: `NAME=PID[,PID]`", o.setPIDs)
	f.Func("connections", "`list` of how many connections to measure with (1,16,64,256)", o.setConnections)
	f.IntVar(&o.rounds, "rounds", 9, "`number` of measured rounds; one more warms up")
	f.DurationVar(&o.round, "round", time.Second, "`time` that a round gives each operation of each server")
	f.IntVar(&o.stored, "stored", 1000, "`number` of pushes stored before")
	f.IntVar(&o.payload, "payload", 32, "`bytes` of each payload")
	f.Func("client", "`net` for net/http's client, raw for a minimal one (net)", o.setClient)
	f.StringVar(&o.dir, "dir", "", "`directory` for the data of the servers that are started (a temporary one, not in memory)")
	f.BoolVar(&o.json, "json", false, "print JSON, not tables")
	if len(args) > 0 && args[0] == "bolt" {
		o.bolt, o.connections, args = true, []int{1}, args[1:]
	}
	if err := f.Parse(args); err != nil {
		if err == flag.ErrHelp {
			return options{}, err
		}
		return options{}, tool.UsageError(err.Error())
	}
	if f.NArg() > 0 {
		return options{}, misused("unexpected argument %q", f.Arg(0))
	}
	return o, o.check()
}

// check refuses what cannot be measured.
func (o *options) check() error {
	for _, n := range []struct {
		name        string
		given, most int
	}{
		{"rounds", o.rounds, maxRounds}, {"stored", o.stored, maxStored}, {"payload", o.payload, maxPayload},
	} {
		if n.given < 1 || n.given > n.most {
			return misused("--%s must be from 1 to %d", n.name, n.most)
		}
	}
	if o.round < time.Millisecond || o.round > maxRound {
		return misused("--round must be from 1ms to %s", maxRound)
	}
	if o.bolt && (len(o.subjects) != 1 || o.subjects[0].path == "" || !slices.Equal(o.connections, []int{1})) {
		return misused("bolt takes one --pushbox, nothing else to measure, and one connection")
	}
	for _, s := range o.subjects {
		if o.raw && strings.HasPrefix(s.url, "https:") {
			return misused("%s: the raw client speaks http only", s.name)
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
		return misused("no path is given")
	}
	return o.add(spec{name: name, path: path, api: apis["v2"]})
}

func (o *options) addURL(version string) func(string) error {
	return func(value string) error {
		name, address, _ := strings.Cut(value, "=")
		u, err := url.Parse(address)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || strings.Trim(u.Path, "/")+u.RawQuery != "" {
			return misused("it must be NAME=http://HOST:PORT")
		}
		return o.add(spec{name: name, url: u.Scheme + "://" + u.Host, api: apis[version]})
	}
}

func (o *options) add(s spec) error {
	if s.name == "" || strings.ContainsAny(s.name, `/\|`) || s.name == "." || s.name == ".." {
		return misused("the name must be a plain word")
	}
	if s.name == bareWord || slices.ContainsFunc(o.subjects, func(other spec) bool { return other.name == s.name }) {
		return misused("two servers are called %s: give NAME=", s.name)
	}
	o.subjects = append(o.subjects, s)
	return nil
}

// named finds a running server that an argument before was about.
func (o *options) named(value string) (s *spec, rest string, err error) {
	name, rest, _ := strings.Cut(value, "=")
	i := slices.IndexFunc(o.subjects, func(s spec) bool { return s.name == name && s.url != "" })
	if i < 0 {
		return nil, "", misused("no --url before has this NAME")
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
		return misused("%s does not hold one token", path)
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
		return misused("it must be net or raw")
	}
	o.raw = value == "raw"
	return nil
}

// numbers reads a list such as 1,16,64.
func numbers(list string, most int) (all []int, err error) {
	for word := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 || n > most {
			return nil, misused("each must be from 1 to %d", most)
		}
		all = append(all, n)
	}
	return all, nil
}
