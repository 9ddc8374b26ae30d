package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"pushbox/internal/cli"
	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/pgtest"
	"pushbox/internal/tools/tool"
)

// TestMain lets the binary of the tests be the bare handler, and pushbox, in processes of their own.
func TestMain(m *testing.M) {
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0") // or each of them takes a second longer
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case bareWord:
			os.Exit(tool.Run("bench", command))
		case "serve", "user", "token", "config":
			ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
			defer stop()
			os.Exit(cli.Main(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Environ()))
		}
	}
	os.Exit(pgtest.Main(m))
}

// small runs the command with small rounds, and returns what it prints. Nothing may be left behind.
func small(t *testing.T, args ...string) (out string, err error) {
	t.Helper()
	var text, notes bytes.Buffer
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 5*env.Patience)
	defer cancel()
	err = command(ctx, append(args, "--dir", dir, "--rounds", "2", "--round", "30ms", "--rest", "10ms", "--stored", "5"), &text, &notes)
	left, readErr := os.ReadDir(dir)
	if readErr != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, readErr)
	}
	return text.String(), err
}

// measure is small, and returns the rows by connections, server and operation, each by the title of its column.
func measure(t *testing.T, args ...string) map[string]map[string]string {
	t.Helper()
	out, err := small(t, append(args, "--json")...)
	var r report
	env.OK(t, errors.Join(err, json.Unmarshal([]byte(out), &r)))
	rows := make(map[string]map[string]string)
	for _, row := range r.Rows {
		cells := make(map[string]string)
		for i, title := range slices.Backward(r.Columns) { // of those with the same title, the first counts
			cells[title] = row[i]
		}
		rows[strings.Join(row[:3], " ")] = cells
	}
	return rows
}

// known reports whether a cell has a figure, perhaps with a mark.
func known(cell string) bool {
	word, _, _ := strings.Cut(cell, " ")
	_, err := strconv.ParseFloat(strings.ReplaceAll(word, ",", ""), 64)
	return err == nil
}

// older speaks /p.json as Password Pusher did.
func older(t *testing.T, payload string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Method + " " + r.URL.Path {
		case "POST /p.json":
			w.WriteHeader(http.StatusCreated)
		case "GET /p/abc.json", "DELETE /p/abc.json":
		default:
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = io.WriteString(w, `{"expired": false, "url_token": "abc", "payload": `+payload+`}`)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func TestServersAreMeasuredBesideABareHandler(t *testing.T) {
	t.Parallel()
	files := lastFileView + "," + plainFileView
	for client, only := range map[string]string{"net": "last view,view,create,delete", "raw": "last view,view,create,delete," + files} {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			rows := measure(t, "--pushbox", os.Args[0], "--v1-url", "old="+older(t, `"`+payload(200)+`"`), "--pid", "old="+strconv.Itoa(os.Getpid()),
				"--only", only, "--connections", "1,2", "--client", client)
			want := 1 + len(strings.Split(only, ",")) + 4
			for _, conns := range []string{"1", "2"} {
				for _, name := range append(strings.Split(only, ","), lastView) {
					row := rows[conns+" pushbox "+name]
					beside := name == lastView || name == deletePush || name == lastFileView
					if !known(row["per second"]) || !known(row["to bare"]) || known(row["to beside"]) != beside || !known(row["memory MiB"]) {
						t.Errorf("%s: %v", name, row)
					}
				}
				if row := rows[conns+" old "+createPush]; !known(row["to bare"]) || !known(row["memory MiB"]) {
					t.Errorf("another server: %v", row)
				}
			}
			if len(rows) != 2*want {
				t.Errorf("it measured %d operations, not %d", len(rows), 2*want)
			}
		})
	}
}

func TestPassphrasesAreMeasuredRightAndWrong(t *testing.T) {
	t.Parallel()
	env.NeedLong(t, "it measures Argon2")
	rows := measure(t, "--pushbox", os.Args[0], "--only", wrongWord+","+rightWord, "--connections", "2")
	if len(rows) != 3 || !known(rows["2 pushbox "+wrongWord]["to beside"]) || known(rows["2 pushbox "+rightWord]["to beside"]) {
		t.Errorf("got %v", rows)
	}
}

func TestTheTableHasALineForEachOperationAndItsMarks(t *testing.T) {
	t.Parallel()
	out := env.Must(small(t, "--pushbox", "new="+os.Args[0], "--pushbox", "old="+os.Args[0], "--connections", "16", "--only", "view,create"))(t)
	for _, want := range []string{
		"| connections | server | operation | per second | to bare | by CPU | to beside | by CPU | to older | by CPU | p50 ms |",
		"\n| 16 | bare | bare | ", "\n| 16 | new | view | ", "\n| 16 | new | create | ", "\n| 16 | old | view | ", "\n| 16 | old | create | ",
		"client raw, 5 stored, payload of 200 bytes, 2 rounds of 30ms, then a rest of 10ms",
	} {
		if strings.Count(out, want) != 1 {
			t.Errorf("%q is not there once", want)
		}
	}
	if strings.Count(out, " ≥ 0.97 |")+strings.Count(out, " < 0.97 |") != 2 || t.Failed() {
		t.Error(out)
	}
}

func TestTheLongestCommitsAreNamedByTheirWork(t *testing.T) {
	t.Parallel()
	rows := measure(t, "--commits", "--pushbox", os.Args[0], "--connections", "2", "--only", "last view,create")
	for _, name := range []string{createPush, lastView} {
		if cell := rows["2 pushbox "+name]["longest commits ms"]; !strings.Contains(cell, "none ≤ ") {
			t.Errorf("%s: %q", name, cell)
		}
	}
	if cell := rows["2 bare bare"]["longest commits ms"]; cell != "" {
		t.Errorf("the bare handler has commits: %q", cell)
	}
}

func TestOneConnectionIsComparedToBareCommits(t *testing.T) {
	t.Parallel()
	rows := measure(t, "bolt", "--pushbox", os.Args[0])
	for _, name := range []string{createPush, plainView} {
		bare, box := rows["1 bbolt "+name], rows["1 pushbox "+name]
		if !known(bare["handed B"]) || !known(bare["p50 ms"]) || !known(box["times as long as bbolt"]) {
			t.Errorf("%s: %v beside %v", name, box, bare)
		}
	}
	if len(rows) != 4 {
		t.Errorf("it has %d results", len(rows))
	}
}

func TestServersOverPostgreSQLAreComparedWithBareStatements(t *testing.T) {
	t.Parallel()
	database := pgtest.URL(t).Reveal()
	args := []string{"postgres", "--pushbox", os.Args[0], "--database", database, "--connections", "2"}
	subjects, operations := []string{pgxWord, boltWord, oneServer, twoServers}, []string{createPush, hotView}
	if env.Long() {
		args, subjects, operations = append(args, "--many", "7"), append(subjects, oneLarge), operationsOf[postgresCommand]
	} else {
		args = append(args, "--only", strings.Join(operations, ","))
	}
	rows := measure(t, args...)
	for _, subject := range subjects {
		for _, operation := range operations {
			row, bare := rows["2 "+subject+" "+operation], operation == listPage || operation == auditPage
			if (subject == pgxWord && bare) == (row != nil) || row != nil && known(row["to postgres"]) != (subject != oneServer) {
				t.Errorf("%s of %s: %v", operation, subject, row)
			}
		}
	}
	c := env.Must(pgx.Connect(t.Context(), database))(t)
	var left int
	err := c.QueryRow(t.Context(), "select count(*) from pg_namespace where nspname like 'bench%'").Scan(&left)
	if err = errors.Join(err, c.Close(t.Context())); err != nil || left > 0 {
		t.Errorf("%d schemas are left, %v", left, err)
	}
}

func TestAWrongAnswerEndsTheRun(t *testing.T) {
	t.Parallel()
	for _, payload := range []string{"null", `"` + payload(16) + `"`} {
		_, err := small(t, "--v1-url", "old="+older(t, payload), "--only", plainView, "--connections", "1")
		if err == nil || !strings.HasPrefix(err.Error(), "old: view: the answer does not have the payload") {
			t.Errorf("%s: got %v", payload, err)
		}
	}
}

func TestAServerThatRefusesOrDoesNotStartIsQuoted(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, `{"expire_after_views":["is too large"]}`, http.StatusUnprocessableEntity)
	}))
	t.Cleanup(s.Close)
	script := t.TempDir() + "/script"
	// A shell writes it: another test that starts a program may hold what this process writes.
	text := `printf '#!/bin/sh\n[ $1 = config ] || { echo no way >&2; exit 3; }\n' > "$0" && chmod 700 "$0"`
	env.OK(t, exec.CommandContext(t.Context(), "sh", "-c", text, script).Run())
	for _, test := range []struct{ flag, value, want, detail string }{
		{"--url", "strict=" + s.URL, "store pushes in strict: POST was answered 422", "is too large"},
		{"--pushbox", "odd=" + script + "/none", "start odd: ", ""},
		{"--pushbox", "odd=" + script, "start odd: ", "no way"},
	} {
		if _, err := small(t, test.flag, test.value); err == nil || !strings.HasPrefix(err.Error(), test.want) || !strings.Contains(err.Error(), test.detail) {
			t.Errorf("%s: got %v", test.value, err)
		}
	}
}

func TestWrongArgumentsAreRefused(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ args, want string }{
		{"--rounds 0", "must be at least 1"},
		{"--round 0s", "--round at least 1ms"},
		{"--rest -1s", "--rest at least 0"},
		{"--only create,update", "each must be one of last view, view,"},
		{"--connections 1,0", "numbers from 1 on"},
		{"--connections ,", "numbers from 1 on"},
		{"--client curl", "must be raw or net"},
		{"--pushbox a --pushbox b", "give NAME="},
		{"--pushbox bare=a", "give NAME="},
		{"--pushbox ../x=a", "give NAME="},
		{"--url a=ftp://b", "it must be NAME="},
		{"--url a=http://b/c", "it must be NAME="},
		{"--url a=http://u:p@b", "it must be NAME="},
		{"--token-file a=b", "no earlier --url has this NAME"},
		{"--url a=http://b --pid a=0", "numbers from 1 on"},
		{"bolt", "bolt takes one --pushbox"},
		{"bolt --url a=http://b", "bolt takes one --pushbox"},
		{"bolt --pushbox a --connections 1,2", "bolt takes one --pushbox"},
		{"postgres --pushbox a", "postgres takes one --pushbox"},
		{"extra", `unexpected argument "extra"`},
		{"--nonsense", "flag provided but not defined"},
	} {
		_, err := parse(strings.Fields(test.args), io.Discard)
		var bad tool.UsageError
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v", test.args, err)
		}
	}
	_, err := parse([]string{"--help"}, io.Discard)
	env.ErrorIs(t, "a request for help", err, flag.ErrHelp)
}
