package main

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain puts pushbox itself into the PATH of the tests: for the scripts, and
// for whatever else needs the whole program in a process of its own.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"pushbox": main})
}

func TestTheProgramDoesAsTheTranscriptsSay(t *testing.T) {
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

// params are those of scripts that may use the commands of script_test.go.
// Where online is set a server runs from the start, and [online] is true.
func params(dir string, online bool) testscript.Params {
	return testscript.Params{
		Dir:                 dir,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"bearer": bearer,
			"exits":  exits,
			"fetch":  fetch,
			"halt":   halt,
			"hangup": hangup,
			"hang":   hang,
			"log":    log,
			"mode":   mode,
			"serve":  serve,
			"tear":   tear,
		},
		Condition: func(name string) (bool, error) {
			if name != "online" {
				return false, fmt.Errorf("there is no condition %q", name)
			}
			return online, nil
		},
		Setup: func(e *testscript.Env) (err error) {
			golden, err := filepath.Abs("testdata/databases")
			if err != nil {
				return err
			}
			e.Setenv("GOLDEN", golden)
			e.Setenv("GORACE", "atexit_sleep_ms=0") // or each program takes a second longer
			w := &world{environ: e.Vars}
			e.Values[worldKey{}] = w
			if !online {
				return nil
			}
			if w.server, err = startServer(e.WorkDir, e.Vars, nil); err == nil {
				e.Defer(w.server.kill)
				e.Setenv("URL", w.server.url)
			}
			return err
		},
	}
}
