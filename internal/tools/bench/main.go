// Bench measures the creates and views per second of servers that speak Password Pusher's JSON API, as ratios to a
// bare net/http handler on the same machine:
//
//	go run ./internal/tools/bench --pushbox ./pushbox
//	go run ./internal/tools/bench --pushbox new=./pushbox --pushbox old=/tmp/pushbox
//	go run ./internal/tools/bench bolt --pushbox ./pushbox
//	go run ./internal/tools/bench postgres --pushbox ./pushbox --database 'postgres:///bench?host=/run/postgresql'
//
// It is a process of its own, and so is each server that it starts. Servers and operations take turns in short rounds,
// so that other load on the machine affects them alike. With bolt it compares a create and a view with a bare bbolt
// commit of the same rows in a file like that of the server. With postgres it compares servers over that database with
// bare statements, each in a schema of its own, which it makes and drops.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"pushbox/internal/tools/tool"
)

func main() {
	// The value that pushbox sets for itself. The bare handler has it, too, for fair ratios, and the load generator,
	// to take less CPU.
	debug.SetGCPercent(400)
	os.Exit(tool.Run("bench", command))
}

// command runs the tool with the arguments. Figures go to out, everything else to notes.
func command(ctx context.Context, args []string, out, notes io.Writer) error {
	if len(args) > 0 && args[0] == bareWord {
		return serveBare(ctx, notes)
	}
	b, err := parse(args, notes)
	if err != nil {
		return err
	}
	err = b.compare(ctx, out)
	for _, end := range slices.Backward(b.ends) {
		err = errors.Join(err, end())
	}
	return err
}

// compare measures all subjects in turns and prints the report. Each round begins with another operation, so that no
// operation always follows the same one. The first round is a warm-up and does not count.
func (b *bench) compare(ctx context.Context, out io.Writer) (err error) {
	if b.dir, err = os.MkdirTemp(b.dir, "pushbox-bench-"); err != nil {
		return err
	}
	b.ends = append(b.ends, func() error { return os.RemoveAll(b.dir) })
	r := newReport(b)
	var ops []operation
	for _, s := range b.subjects {
		if err := b.ready(ctx, s); err != nil {
			return err
		}
		ops = append(ops, s.operations(b.only)...)
	}
	for _, conns := range b.connections {
		fmt.Fprintf(b.notes, "%d connections\n", conns)
		laps := make([][]lap, len(ops))
		for round := range 1 + b.rounds {
			for turn := range ops {
				i := (round + turn) % len(ops)
				l, err := ops[i].lap(ctx, b, conns)
				if err != nil {
					return fmt.Errorf("%s: %s: %w", ops[i].subject.name, ops[i].name, err)
				}
				if round > 0 {
					laps[i] = append(laps[i], l)
				}
			}
		}
		r.add(conns, ops, laps)
	}
	return r.write(out)
}

// serveBare answers every request with the same JSON of 300 bytes until ctx ends. It announces its address on notes
// as pushbox does. The server has no timeouts, because they would cost time at each request, and only the load
// generator connects to it.
func serveBare(ctx context.Context, notes io.Writer) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	answer := []byte(`{"a":"` + payload(292) + `"}`)
	fmt.Fprintf(notes, `{"address":%q,"message":"listening"}`+"\n", l.Addr())
	defer context.AfterFunc(ctx, func() { _ = l.Close() })()
	err = http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_, _ = w.Write(answer)
	}))
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// A bench is one run, with the arguments.
type bench struct {
	command     string // "": compare with the bare handler
	database    string // of the command postgres
	many        int    // pushes of a further server over it; 0: none
	subjects    []*subject
	connections []int
	rounds      int           // without the warm-up
	round       time.Duration // of one operation of one subject
	rest        time.Duration // after it
	only        []string      // the operations to measure
	stored      int           // pushes in each subject before it is measured
	payload     int           // bytes
	client      string        // raw or net
	dir         string        // for data; the run makes its own in it
	json        bool
	commits     bool // report the longest commits of the servers that are started

	notes io.Writer
	ends  []func() error // to call at the end of the run, the last one first
}

func parse(args []string, notes io.Writer) (b *bench, err error) {
	b = &bench{notes: notes}
	if len(args) > 0 && operationsOf[args[0]] != nil {
		b.command, args = args[0], args[1:]
	}
	connections := map[string]string{"": "16,64,256", boltCommand: "1", postgresCommand: "64,256"}[b.command]
	only := strings.Join(operationsOf[b.command], ",")
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.SetOutput(notes)
	f.Func("pushbox", "start the server at `[NAME=]PATH` with a fresh data directory; may be repeated", func(value string) error {
		name, path, ok := strings.Cut(value, "=")
		if !ok {
			name, path = "pushbox", value
		}
		return b.add(&subject{name: name, path: path, api: apis["v2"], start: startPushbox})
	})
	f.Func("url", "measure the running server `NAME=URL`, by API v2; may be repeated", b.addURL("v2"))
	f.Func("v1-url", "measure the running server `NAME=URL`, by the older API, /p.json; may be repeated", b.addURL("v1"))
	f.Func("ots-url", "measure the running server of Luzifer/ots `NAME=URL`; may be repeated", b.addURL("ots"))
	f.Func("yopass-url", "measure the running server of yopass `NAME=URL`; may be repeated", b.addURL("yopass"))
	f.Func("token-file", "send the API token in a file to the server NAME of an earlier --url: `NAME=FILE`", b.of(func(s *subject, path string) error {
		text, err := os.ReadFile(path)
		s.token = strings.TrimSpace(string(text))
		return err
	}))
	f.Func("pid", "measure these processes of the server NAME of an earlier --url: `NAME=PID[,PID]`", b.of(func(s *subject, list string) (err error) {
		s.pids, err = numbers(list)
		return err
	}))
	f.StringVar(&connections, "connections", connections, "`list` of numbers of connections")
	f.IntVar(&b.rounds, "rounds", 9, "`number` of measured rounds, after one warm-up")
	f.DurationVar(&b.round, "round", time.Second, "`time` of each operation of each server in a round")
	// A server may write ended pushes to their places for a second, and erase them when there is no load.
	f.DurationVar(&b.rest, "rest", 1500*time.Millisecond, "`time` after it, in which a server finishes what it put off; its CPU time and bytes count")
	f.StringVar(&only, "only", only, "`list` of operations")
	f.IntVar(&b.stored, "stored", 1000, "`number` of pushes to store before measuring")
	f.IntVar(&b.payload, "payload", 200, "`bytes` of each payload")
	f.StringVar(&b.client, "client", "raw", "`raw` for a minimal client, net for net/http's")
	f.StringVar(&b.dir, "dir", "/var/tmp", "`directory` for the data of the servers that are started: in memory a sync would cost nothing")
	f.BoolVar(&b.commits, "commits", false, "add the longest commits of the servers that are started, by what these did beside their operations; turns on their metrics")
	f.BoolVar(&b.json, "json", false, "print JSON, not tables")
	f.StringVar(&b.database, "database", "", "with postgres: `URL` of a PostgreSQL database in which to make schemas")
	f.IntVar(&b.many, "many", 0, "with postgres: `number` of pushes to store in a further server over it (0: none)")
	switch err := f.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return b, err
	case err != nil:
		return b, tool.Usagef("%v", err)
	case f.NArg() > 0:
		return b, tool.Usagef("unexpected argument %q", f.Arg(0))
	}
	b.only = strings.Split(only, ",")
	if b.connections, err = numbers(connections); err != nil {
		return b, tool.Usagef("--connections: %v", err)
	}
	return b, b.complete()
}

// complete refuses options that cannot be measured, and adds what they are compared with.
func (b *bench) complete() error {
	can := operationsOf[b.command]
	one := len(b.subjects) == 1 && b.subjects[0].path != "" && (b.database != "") == (b.command == postgresCommand)
	switch {
	case slices.ContainsFunc(b.only, func(name string) bool { return !slices.Contains(can, name) }):
		return tool.Usagef("--only: each must be one of %s", strings.Join(can, ", "))
	case b.rounds < 1 || b.stored < 1 || b.payload < 1 || b.many < 0 || b.round < time.Millisecond || b.rest < 0:
		return tool.Usagef("--rounds, --stored and --payload must be at least 1, --round at least 1ms, and --many and --rest at least 0")
	case b.client != "raw" && b.client != "net":
		return tool.Usagef("--client must be raw or net")
	case b.command == "":
		bare := &subject{name: bareWord, api: apis[bareWord], start: func(ctx context.Context, b *bench, s *subject) error {
			self, _ := os.Executable() // without it the start fails
			return b.launch(ctx, s, s.name, tool.Environ(), self, bareWord)
		}}
		b.subjects = append([]*subject{bare}, b.subjects...)
	case !one || b.command == boltCommand && !slices.Equal(b.connections, []int{1}):
		return tool.Usagef("%s takes one --pushbox and no other server; bolt one connection, postgres --database URL", b.command)
	case b.command == boltCommand:
		b.subjects = append(b.subjects, bareBolt(b.subjects[0]))
	default:
		b.subjects = postgresSubjects(b.subjects[0].path, b.many)
	}
	for _, s := range b.subjects {
		s.payload, s.stored = payload(b.payload), cmp.Or(s.stored, b.stored)
	}
	return nil
}

func (b *bench) addURL(version string) func(string) error {
	return func(value string) error {
		name, address, _ := strings.Cut(value, "=")
		address = strings.TrimSuffix(address, "/")
		if ok, _ := regexp.MatchString(`^https?://[^/?#@]+$`, address); !ok {
			return tool.Usagef("it must be NAME=http://HOST:PORT")
		}
		return b.add(&subject{name: name, api: apis[version], urls: []string{address}})
	}
}

func (b *bench) add(s *subject) error {
	taken := slices.ContainsFunc(b.subjects, func(other *subject) bool { return other.name == s.name })
	usable, _ := regexp.MatchString(`^\w[\w.-]*$`, s.name) // as a part of a path, and of a table
	if !usable || s.name == bareWord || taken {
		return tool.Usagef("%q is no name, or that of another server: give NAME=", s.name)
	}
	b.subjects = append(b.subjects, s)
	return nil
}

// of calls set with the server of an earlier argument.
func (b *bench) of(set func(s *subject, value string) error) func(string) error {
	return func(value string) error {
		name, value, _ := strings.Cut(value, "=")
		for _, s := range b.subjects {
			if s.name == name {
				return set(s, value)
			}
		}
		return tool.Usagef("no earlier --url has this NAME")
	}
}

func numbers(list string) (all []int, err error) {
	if json.Unmarshal([]byte("["+list+"]"), &all) != nil || len(all) == 0 || slices.Min(all) < 1 {
		return nil, tool.Usagef("it must be a list of numbers from 1 on")
	}
	return all, nil
}
