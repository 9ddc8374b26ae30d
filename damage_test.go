package main

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

	"pushbox/internal/testenv"
)

// The program itself, over a damaged file: `pushbox check` and `pushbox serve` end
// with a known exit code and words, or go on; nobody sees the stack of a goroutine,
// and what a server gives out is what was stored. PUSHBOX_TEST_DAMAGE_STARTS sets
// how often. The store's own test does far more of it; this one sees what ends a
// process.
func TestTheProgramOverADamagedFileHasWordsForIt(t *testing.T) {
	t.Parallel()
	n, seed := testenv.Length(t, "PUSHBOX_TEST_DAMAGE_STARTS", 60, 4), testenv.Seed(t)
	dir := t.TempDir()
	server := startVictim(t, dir)
	c := &crowd{t: t, ledger: newLedger(), bearer: apiToken(t, dir)}
	c.next(server.url)
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 60 {
		if err := c.create(rng); err != nil {
			t.Fatal(err)
		}
	}
	server.stop()
	path := filepath.Join(dir, "data", "pushbox.db")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	said := make(map[int]int)
	for i := range n {
		at := damageFile(t, path, whole, rand.New(rand.NewPCG(seed, i+1)))
		code := wantWords(t, dir, at)
		said[code]++
		serveDamaged(t, dir, at, c)
	}
	t.Logf("the exit codes of check, and how often: %v", said)
	if said[3] == 0 && n > 10 {
		t.Error("no check found anything")
	}
}

// damageFile writes the file with some bits flipped near each other, and returns
// where. The file grows ahead: it is damaged where something is.
func damageFile(t *testing.T, path string, whole []byte, rng *rand.Rand) (at int) {
	t.Helper()
	const page, heads = 4096, 512
	damaged := bytes.Clone(whole)
	pages := len(bytes.TrimRight(whole, "\x00"))/page + 1
	for range 1 + rng.IntN(8) {
		at = rng.IntN(pages)*page + rng.IntN(heads)
		damaged[at] ^= 1 << rng.IntN(8)
	}
	if err := os.WriteFile(path, damaged, 0o600); err != nil {
		t.Fatal(err)
	}
	return at
}

// wantWords runs pushbox check, whose exit code says whether anything was found.
func wantWords(t *testing.T, dir string, at int) int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "pushbox", "check")
	cmd.Dir, cmd.Env = dir, victimEnviron()
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
func serveDamaged(t *testing.T, dir string, at int, c *crowd) {
	t.Helper()
	p, err := startServer(dir, victimEnviron(), nil)
	if err != nil {
		if hasStack(err.Error()) || !strings.Contains(err.Error(), "hint: ") {
			t.Errorf("byte %d: %.2000s", at, err)
		}
		return
	}
	defer p.kill()
	c.reach(p.url)
	for _, pushed := range c.ledger.all()[:20] {
		var r crashRecord
		err := c.call(http.MethodGet, apiPushes+"/"+pushed.token, "", nil, http.StatusOK, &r)
		if err == nil && r.Payload != nil && *r.Payload != pushed.payload {
			t.Errorf("byte %d: P7: %s came with another payload", at, pushed.name)
		}
		if isCut(err) {
			break // the server has failed, and ends
		}
	}
	_, _ = p.signal("TERM") // it may have ended already
	if log := p.stderr.String(); hasStack(log) {
		t.Errorf("byte %d: the server's log: %.3000s", at, log[max(0, len(log)-3000):])
	}
}
