package main

import (
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"pushbox/internal/proctest"
	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/pgtest"
)

// A world is the state of a script beside its directory.
type world struct {
	environ []string          // of its servers
	token   string            // that fetch sends; empty: none
	server  *proctest.Process // the one started last
}

type worldKey struct{}

func worldOf(ts *testscript.TestScript) *world { return ts.Value(worldKey{}).(*world) }

// want ends a script with the usage of a command that has wrong arguments.
func want(ts *testscript.TestScript, ok bool, usage string) {
	if !ok {
		ts.Fatalf("usage: %s", usage)
	}
}

// exits runs a command that must end with an exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, !neg && len(args) >= 2, "exits CODE PROGRAM ARGUMENT...")
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
		got = failed.ExitCode()
	} else {
		ts.Check(err)
	}
	if strconv.Itoa(got) != args[0] {
		ts.Fatalf("the exit code is %d, not %s", got, args[0])
	}
}

// mode checks the permissions of files.
func mode(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, !neg && len(args) >= 2, "mode OCTAL FILE...")
	perm, err := strconv.ParseUint(args[0], 8, 32)
	ts.Check(err)
	for _, name := range args[1:] {
		info, err := os.Stat(ts.MkAbs(name))
		ts.Check(err)
		if got := info.Mode().Perm(); got != fs.FileMode(perm) {
			ts.Fatalf("the mode of %s is %04o, not %04o", name, got, perm)
		}
	}
}

// tear cuts a file to a length.
func tear(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, !neg && len(args) == 2, "tear FILE BYTES")
	n, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	ts.Check(os.Truncate(ts.MkAbs(args[0]), n))
}

// age makes a file look as if it was last written so many days ago.
func age(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, !neg && len(args) == 2, "age DAYS FILE")
	days, err := strconv.Atoi(args[0])
	ts.Check(err)
	at := time.Now().AddDate(0, 0, -days)
	ts.Check(os.Chtimes(ts.MkAbs(args[1]), at, at))
}

// gone waits until a file is gone.
func gone(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, !neg && len(args) == 1, "gone FILE")
	for end := time.Now().Add(env.Patience); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Lstat(ts.MkAbs(args[0])); errors.Is(err, fs.ErrNotExist) {
			return
		}
		if time.Now().After(end) {
			ts.Fatalf("%s is still there", args[0])
		}
	}
}

// createdb makes an empty PostgreSQL database. $DB is its address from then on.
func createdb(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, !neg && len(args) == 0, "createdb")
	c, err := pgtest.Shared()
	ts.Check(err)
	url, drop, err := c.NewDatabase()
	ts.Check(err)
	ts.Defer(func() { ts.Check(drop()) })
	ts.Setenv("DB", url.Reveal())
}

// bearer makes fetch send the API token in a file.
func bearer(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, !neg && len(args) == 1, "bearer FILE")
	worldOf(ts).token = strings.TrimSpace(ts.ReadFile(args[0]))
}

// fetch sends a request to the running server, and checks the status. The body becomes
// the standard output.
func fetch(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, !neg && (len(args) == 3 || len(args) == 4), "fetch STATUS METHOD PATH [FORM]")
	form := strings.Join(args[3:], "")
	req, err := http.NewRequest(args[1], ts.Getenv("URL")+args[2], strings.NewReader(form))
	ts.Check(err)
	if form != "" {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if token := worldOf(ts).token; token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	client := http.Client{Timeout: env.Patience, Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(req)
	ts.Check(err)
	_, err = io.Copy(ts.Stdout(), res.Body)
	ts.Check(errors.Join(err, res.Body.Close()))
	if got := strconv.Itoa(res.StatusCode); got != args[0] {
		ts.Fatalf("the status is %s, not %s", got, args[0])
	}
}

// serve starts a server on a free port, and waits until it listens. Then $ADDR is its
// address, and $URL its URL.
func serve(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, !neg, "serve [FLAG...]")
	w := worldOf(ts)
	environ := append(slices.Clone(w.environ), "CREDENTIALS_DIRECTORY="+ts.Getenv("CREDENTIALS_DIRECTORY"))
	p, err := proctest.Start(ts.MkAbs("."), environ, args)
	ts.Check(err)
	ts.Defer(p.Kill)
	ts.Setenv("URL", p.URL)
	ts.Setenv("ADDR", strings.TrimPrefix(p.URL, "http://"))
	w.server = p
}

// log writes the server's standard error so far to a file.
func log(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, !neg && len(args) == 1, "log FILE")
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(worldOf(ts).server.Log()), 0o600))
}

// hang begins a request that lasts until the server ends it.
func hang(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, !neg && len(args) == 0, "hang")
	conn, err := net.DialTimeout("tcp", ts.Getenv("ADDR"), env.Patience)
	ts.Check(err)
	ts.Defer(func() { _ = conn.Close() })
	ts.Check(conn.SetDeadline(time.Now().Add(env.Patience)))
	_, err = io.WriteString(conn, "POST /api/v2/pushes HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"+
		"Content-Length: 100\r\nExpect: 100-continue\r\n\r\n")
	ts.Check(err)
	_, err = conn.Read(make([]byte, 100)) // 100 Continue: it reads the body
	ts.Check(err)
}

// hangup sends the server SIGHUP, and waits until its log has the result.
func hangup(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, !neg && len(args) == 0, "hangup")
	p := worldOf(ts).server
	results := func() int { return strings.Count(p.Log(), `"message":"the configuration `) }
	before := results()
	ts.Check(p.Hangup())
	for end := time.Now().Add(env.Patience); results() == before; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			ts.Fatalf("the server's log has no result:\n%s", p.Log())
		}
	}
}

// halt sends the server signals, and waits for its end. The exit code of a killed
// server is -1. The server's standard error is then in serve.log.
func halt(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, !neg && len(args) >= 2, "halt CODE INT|TERM|KILL...")
	p := worldOf(ts).server
	code, err := p.Signal(args[1:]...)
	ts.Check(err)
	log(ts, false, []string{"serve.log"})
	if got := strconv.Itoa(code); got != args[0] {
		ts.Fatalf("the exit code is %s, not %s\n%s", got, args[0], p.Log())
	}
}
