package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"pushbox/internal/proctest"
	"pushbox/internal/testkit/golden"
	"pushbox/internal/testkit/pgtest"
)

// TestMain puts pushbox itself into the PATH: for the scripts, and for other tests that
// need the whole program in a process of its own.
func TestMain(m *testing.M) {
	testscript.Main(withCluster{m}, map[string]func(){"pushbox": main})
}

// withCluster runs tests, and then stops the PostgreSQL that they started.
type withCluster struct{ m *testing.M }

// Run runs the tests and returns the exit code.
func (c withCluster) Run() int { return pgtest.Main(c.m) }

func TestTheProgramDoesWhatTheTranscriptsShow(t *testing.T) {
	t.Parallel()
	testscript.Run(t, params("testdata/script", false))
}

func TestCommandsWorkWithoutAServer(t *testing.T) {
	t.Parallel()
	testscript.Run(t, params("testdata/script/both", false))
}

func TestCommandsWorkWithAServer(t *testing.T) {
	t.Parallel()
	testscript.Run(t, params("testdata/script/both", true))
}

// params are the parameters of scripts that may use the commands of script_test.go. If
// online is set, a server runs from the start, and [online] is true. [postgres] is true where
// PostgreSQL is installed, and [root] if root runs the tests.
func params(dir string, online bool) testscript.Params {
	return testscript.Params{
		Dir:                 dir,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       golden.Update(),
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"age":      age,
			"bearer":   bearer,
			"createdb": createdb,
			"exits":    exits,
			"fetch":    fetch,
			"gone":     gone,
			"halt":     halt,
			"hangup":   hangup,
			"hang":     hang,
			"log":      log,
			"mode":     mode,
			"serve":    serve,
			"tear":     tear,
		},
		Condition: func(name string) (bool, error) {
			switch name {
			case "online":
				return online, nil
			case "root":
				return os.Geteuid() == 0, nil
			case "postgres":
				c, err := pgtest.Shared()
				return c != nil, err
			}
			return false, fmt.Errorf("there is no condition %q", name)
		},
		Setup: func(e *testscript.Env) (err error) {
			golden, err := filepath.Abs("testdata/databases")
			if err != nil {
				return err
			}
			e.Setenv("GOLDEN", golden)
			e.Setenv("GORACE", "atexit_sleep_ms=0") // otherwise each program takes a second longer
			w := &world{environ: e.Vars}
			e.Values[worldKey{}] = w
			if !online {
				return nil
			}
			if w.server, err = proctest.Start(e.WorkDir, e.Vars, nil); err == nil {
				e.Defer(w.server.Kill)
				e.Setenv("URL", w.server.URL)
			}
			return err
		},
	}
}
