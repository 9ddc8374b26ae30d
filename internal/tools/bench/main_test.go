package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"pushbox/internal/cli"
	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/pgtest"
)

// TestMain lets the binary of the tests be the bare handler, and pushbox, in
// processes of their own.
func TestMain(m *testing.M) {
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0") // or each of them takes a second longer
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case bareWord:
			os.Exit(run())
		case "serve", "user", "token", "config":
			ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
			defer stop()
			os.Exit(cli.Main(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Environ()))
		}
	}
	os.Exit(pgtest.Main(m))
}

// measure runs the command with small rounds and returns what it prints.
func measure(t *testing.T, args ...string) string {
	t.Helper()
	var out, notes bytes.Buffer
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 5*env.Patience)
	defer cancel()
	args = append(args, "--dir", dir, "--rounds", "2", "--round", "30ms", "--rest", "10ms", "--stored", "5")
	if err := command(ctx, args, &out, &notes); err != nil {
		t.Fatalf("%v\n%s", err, &notes)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	return out.String()
}

// older speaks /p.json as Password Pusher did.
func older(t *testing.T, payload string) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("POST /p.json", func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Password struct {
				Payload string `json:"payload"`
			} `json:"password"`
		}
		if json.NewDecoder(r.Body).Decode(&in) != nil || in.Password.Payload == "" {
			w.WriteHeader(http.StatusUnprocessableEntity)
			return
		}
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"expired": false, "url_token": "abc"}`)
	})
	mux.HandleFunc("DELETE /p/abc.json", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `{"expired": true, "url_token": "abc"}`)
	})
	mux.HandleFunc("GET /p/abc.json", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `{"payload": `+payload+`}`)
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL
}

func TestServersAreMeasuredBesideABareHandler(t *testing.T) {
	t.Parallel()
	for _, client := range []string{"net", "raw"} {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			out := measure(t, "--pushbox", os.Args[0], "--v1-url", "old="+older(t, `"`+payload(200)+`"`),
				"--only", strings.Join(operationNames[:6], ","), "--connections", "1,2", "--client", client, "--json")
			var r report
			if err := json.Unmarshal([]byte(out), &r); err != nil {
				t.Fatal(err)
			}
			want := []string{
				"bare bare", "pushbox last view", "pushbox view", "pushbox create", "pushbox delete", "pushbox last view of a file",
				"pushbox view of a file", "old last view", "old view", "old create", "old delete",
			}
			if len(r.Results) != 2*len(want) || r.Client != client {
				t.Fatalf("it measured %d operations with %s", len(r.Results), r.Client)
			}
			for i, v := range r.Results {
				if name := v.Subject + " " + v.Operation; name != want[i%len(want)] || v.Connections != 1+i/len(want) {
					t.Errorf("result %d is of %s at %d", i, name, v.Connections)
				}
				if len(v.Rates) != 2 || v.Rate != (v.Rates[0]+v.Rates[1])/2 || v.Requests < 2*v.Connections || v.Ratio <= 0 || v.P50 <= 0 || v.P99 < v.P50 {
					t.Errorf("result %d: %+v", i, v)
				}
				if ours := v.Subject != "old"; ours != (v.CPU != nil && *v.Resident > 1<<20) && v.GeneratorCPU != nil {
					t.Errorf("result %d: CPU %v, memory %v", i, v.CPU, v.Resident)
				}
				if compared := strings.Contains(v.Operation, "last") || v.Operation == deletePush; compared != (v.Beside != nil && *v.Beside > 0) {
					t.Errorf("result %d: the ratio to the operation beside it is %v", i, v.Beside)
				}
			}
		})
	}
}

func TestPassphrasesAreMeasuredRightAndWrong(t *testing.T) {
	t.Parallel()
	env.NeedLong(t, "it measures Argon2")
	out := measure(t, "--pushbox", os.Args[0], "--only", wrongWord+","+rightWord, "--connections", "2", "--json")
	var r report
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Results) != 3 || r.Results[1].Operation != wrongWord || r.Results[1].Beside == nil || r.Results[2].Operation != rightWord || r.Results[2].Beside != nil {
		t.Errorf("got %+v", r.Results)
	}
}

func TestTheTableHasALineForEachOperationAndEachMark(t *testing.T) {
	t.Parallel()
	out := measure(t, "--pushbox", "new="+os.Args[0], "--pushbox", "old="+os.Args[0], "--connections", "16", "--only", "last view,view,create,delete")
	for _, want := range []string{
		"\n### Connections: 16\n", "\n| bare | bare | ", "\n| new | last view | ", "\n| new | view | ", "\n| new | create | ", "\n| new | delete | ", "\n| old | view | ",
		"client raw, 5 stored, payload of 200 bytes, 2 rounds of 30ms, then a rest of 10ms",
		"\n| 16 | new | last view | the operation beside it | 0.90 | ", "\n| 16 | new | delete | the operation beside it | 0.90 | ",
		"\n| 16 | new | create | the older server | 0.97 | ", "\n| 16 | new | view | the older server | 0.97 | ",
	} {
		if strings.Count(out, want) != 1 {
			t.Errorf("%q is not there once", want)
		}
	}
	if t.Failed() {
		t.Log(out)
	}
}

func TestOneConnectionIsComparedToBareCommits(t *testing.T) {
	t.Parallel()
	out := measure(t, "bolt", "--pushbox", os.Args[0], "--json")
	var r report
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Results) != 4 {
		t.Fatalf("it has %d results", len(r.Results))
	}
	for i := 0; i < 4; i += 2 {
		bare, box := r.Results[i], r.Results[i+1]
		if bare.Subject != "bbolt" || bare.Operation != "rows of a "+box.Operation || bare.Ratio != 1 || box.Ratio <= 0 {
			t.Errorf("%+v stands beside %+v", bare, box)
		}
	}
}

func TestServersOverPostgreSQLAreComparedWithBareStatements(t *testing.T) {
	t.Parallel()
	env.NeedLong(t, "it measures PostgreSQL")
	database := pgtest.URL(t).Reveal()
	out := measure(t, "postgres", "--pushbox", os.Args[0], "--database", database, "--many", "7", "--connections", "3", "--json")
	var r report
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	found := make(map[string]result)
	for _, v := range r.Results {
		found[v.Subject+" "+v.Operation] = v
		for to, ratio := range v.To {
			if to == v.Subject || ratio <= 0 {
				t.Errorf("%s of %s: %v to %s", v.Operation, v.Subject, ratio, to)
			}
		}
	}
	for _, subject := range []string{pgxWord, oneFile, oneServer, twoServers, oneLarge} {
		for _, operation := range postgresOperations {
			bare := subject == pgxWord && (operation == listPage || operation == auditPage)
			if v, ok := found[subject+" "+operation]; ok == bare || ok && (v.Rate <= 0 || len(v.To) < 3) {
				t.Errorf("%s of %s: %+v", operation, subject, v)
			}
		}
	}
	if len(r.Marks) != len(postgresMarks) {
		t.Errorf("%d marks are judged, not %d", len(r.Marks), len(postgresMarks))
	}
	c, err := pgx.Connect(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	var left int
	err = c.QueryRow(t.Context(), "select count(*) from pg_namespace where nspname like 'bench%'").Scan(&left)
	if err != nil || left > 0 {
		t.Errorf("%d schemas are left, %v", left, err)
	}
	if err := c.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestTheTableOfPostgreSQLHasALineForEachSubject(t *testing.T) {
	t.Parallel()
	out := measure(t, "postgres", "--pushbox", os.Args[0], "--database", pgtest.URL(t).Reveal(), "--connections", "2", "--operations", createPush)
	for _, want := range []string{"\n| create | pgx | ", "\n| create | bbolt | ", "\n| create | postgres | ", "\n| create | postgres, two | ", "\n| 2 | postgres | create | pgx | 0.70 | "} {
		if strings.Count(out, want) != 1 {
			t.Errorf("%q is not there once:\n%s", want, out)
		}
	}
}

func TestStartedServersAreStopped(t *testing.T) {
	t.Parallel()
	b, err := newBench(options{stored: 1, payload: 1, only: boltOnly, dir: t.TempDir(), subjects: []spec{{name: "pushbox", path: os.Args[0], api: apis["v2"]}}}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	for _, s := range b.subjects {
		if err := b.ready(t.Context(), s); err != nil {
			t.Error(err)
		}
		pids = append(pids, s.pids...)
	}
	if err := b.close(); err != nil {
		t.Error(err)
	}
	for _, pid := range pids {
		if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("process %d still runs: %v", pid, err)
		}
	}
	if len(pids) != 2 {
		t.Errorf("%d processes were started", len(pids))
	}
}

func TestAWrongAnswerEndsTheRun(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, payload, want string }{
		{"an expired push", "null", "old: view: connect: " + errNoPayload.Error()},
		{"half a payload", `"` + payload(16) + `"`, "old: view: connect: " + errNoPayload.Error()},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			args := []string{"--v1-url", "old=" + older(t, test.payload), "--only", plainView, "--connections", "1", "--rounds", "1", "--round", "1ms", "--rest", "0s", "--stored", "1", "--dir", t.TempDir()}
			if err := command(t.Context(), args, io.Discard, io.Discard); err == nil || err.Error() != test.want {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestAServerThatRefusesIsQuoted(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusUnprocessableEntity)
		_, _ = io.WriteString(w, `{"expire_after_views":["is too large"]}`)
	}))
	t.Cleanup(s.Close)
	args := []string{"--url", "strict=" + s.URL, "--dir", t.TempDir()}
	err := command(t.Context(), args, io.Discard, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "store pushes in strict: POST was answered 422") || !strings.Contains(err.Error(), "is too large") {
		t.Errorf("got %v", err)
	}
}

func TestAServerThatDoesNotStartIsQuoted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	args := []string{"--pushbox", "odd=" + dir + "/none", "--dir", dir}
	if err := command(t.Context(), args, io.Discard, io.Discard); err == nil || !strings.HasPrefix(err.Error(), "start odd: ") {
		t.Errorf("got %v", err)
	}
	script := dir + "/script"
	// A shell writes it: another test that starts a program may hold what this process writes.
	write := exec.CommandContext(t.Context(), "sh", "-c", `printf '#!/bin/sh\necho no way >&2\nexit 3\n' > "$0" && chmod 700 "$0"`, script)
	if err := write.Run(); err != nil {
		t.Fatal(err)
	}
	args[1] = "odd=" + script
	if err := command(t.Context(), args, io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), "exit status 3\nno way") {
		t.Errorf("got %v", err)
	}
}

func TestAPITokensGoToTheirServerOnly(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	seen := make(map[string]string)
	server := func(name string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			seen[name+" "+r.Method] = r.Header.Get("Authorization")
			if r.Method == http.MethodPost {
				w.WriteHeader(http.StatusCreated)
			}
			_, _ = io.WriteString(w, `{"url_token":"t","payload":"`+payload(200)+`"}`)
		}))
		t.Cleanup(s.Close)
		return name + "=" + s.URL
	}
	file := t.TempDir() + "/token"
	if err := os.WriteFile(file, []byte("s3cret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const token = "Bearer s3cret"
	want := map[string]string{"a POST": token, "a GET": "", "a DELETE": token, "b POST": "", "b GET": "", "b DELETE": ""}
	for _, client := range []string{"net", "raw"} {
		clear(seen)
		measure(t, "--url", server("a"), "--token-file", "a="+file, "--url", server("b"), "--connections", "1", "--client", client)
		if !maps.Equal(seen, want) {
			t.Errorf("%s: the servers saw %v", client, seen)
		}
	}
}
