package disk

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pushbox/internal/proctest"
	"pushbox/internal/testkit/env"
)

// The program runs over a damaged file: `pushbox check` and `pushbox serve` end with a
// known exit code and a message, or continue. They print no stack, and a server delivers
// only what was stored. PUSHBOX_TEST_DAMAGE_STARTS sets the number of starts. The
// store's own test tries far more damages; this one finds what ends a process.
func TestTheProgramReportsADamagedFile(t *testing.T) {
	t.Parallel()
	n, seed := env.Length(t, "PUSHBOX_TEST_DAMAGE_STARTS"), env.Seed(t)
	dir := t.TempDir()
	server := proctest.StartServer(t, dir)
	c := &proctest.Crowd{T: t, Ledger: proctest.NewLedger(), Bearer: proctest.APIToken(t, dir)}
	c.Next(server.URL)
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 60 {
		env.OK(t, c.Create(rng))
	}
	server.Stop()
	path := filepath.Join(dir, "data", "pushbox.db")
	whole := env.Read(t, path)
	codes := make(map[int]int)
	for i := range n {
		at := damageFile(t, path, whole, rand.New(rand.NewPCG(seed, i+1)))
		code := checkDamaged(t, dir, at)
		codes[code]++
		serveDamaged(t, dir, at, c)
	}
	t.Logf("exit codes of check, with their counts: %v", codes)
	if codes[3] == 0 && n > 10 {
		t.Error("no check found anything")
	}
}

// damageFile writes the file with some bits flipped near each other, and returns their
// offset. The file grows in steps: the damage is in the part that is used.
func damageFile(t *testing.T, path string, whole []byte, rng *rand.Rand) (at int) {
	t.Helper()
	const page, heads = 4096, 512
	damaged := bytes.Clone(whole)
	pages := len(bytes.TrimRight(whole, "\x00"))/page + 1
	for range 1 + rng.IntN(8) {
		at = rng.IntN(pages)*page + rng.IntN(heads)
		damaged[at] ^= 1 << rng.IntN(8)
	}
	env.OK(t, os.WriteFile(path, damaged, 0o600))
	return at
}

// checkDamaged runs pushbox check, whose exit code says whether it found anything.
func checkDamaged(t *testing.T, dir string, at int) int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), proctest.Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "pushbox", "check")
	cmd.Dir, cmd.Env = dir, proctest.LoadEnviron()
	out, err := cmd.CombinedOutput()
	if failed := (*exec.ExitError)(nil); err != nil && !errors.As(err, &failed) || hasStack(string(out)) {
		t.Errorf("byte %d: check: %v\n%.2000s", at, err, out)
	}
	code := cmd.ProcessState.ExitCode()
	if code != 0 && code != 1 && code != 3 || code != 0 && !strings.Contains(string(out), "hint: ") {
		t.Errorf("byte %d: check ended with %d:\n%.2000s", at, code, out)
	}
	return code
}

func hasStack(text string) bool {
	return strings.Contains(text, "goroutine ") || strings.Contains(text, "fatal error") || strings.Contains(text, "[signal ")
}

// serveDamaged starts a server, and retrieves what was created.
func serveDamaged(t *testing.T, dir string, at int, c *proctest.Crowd) {
	t.Helper()
	p, err := proctest.Start(dir, proctest.LoadEnviron(), nil)
	if err != nil {
		if hasStack(err.Error()) || !strings.Contains(err.Error(), "hint: ") {
			t.Errorf("byte %d: %.2000s", at, err)
		}
		return
	}
	defer p.Kill()
	c.Reach(p.URL)
	for _, pushed := range c.Ledger.All()[:20] {
		var r proctest.Record
		err := c.Call(http.MethodGet, proctest.PushesPath+"/"+pushed.Token, "", nil, http.StatusOK, &r)
		if err == nil && r.Payload != nil && *r.Payload != pushed.Payload {
			t.Errorf("byte %d: P7: %s came with another payload", at, pushed.Name)
		}
		if proctest.IsCut(err) {
			break // the server has failed, and ends
		}
	}
	_, _ = p.Signal("TERM") // it may have ended before
	if log := p.Log(); hasStack(log) {
		t.Errorf("byte %d: the server's log: %.3000s", at, log[max(0, len(log)-3000):])
	}
}
