// Attack starts a pushbox on loopback, attacks it as strangers on the network could, and
// prints what each attack costs whom: the attacker, or the people beside it.
//
//	go run ./internal/tools/attack [--bin PATH] [--for 8s]
//
// Without --bin it builds the pushbox of this module. It attacks nothing but the server
// that it starts. Attackers and recipients are addresses in X-Forwarded-For, which the
// server believes of loopback.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"text/tabwriter"
	"time"

	"pushbox/internal/tools/tool"
)

func main() { os.Exit(tool.Run("attack", run)) }

func run(ctx context.Context, args []string, out, notes io.Writer) error {
	f := flag.NewFlagSet("attack", flag.ContinueOnError)
	f.SetOutput(notes)
	bin := f.String("bin", "", "the pushbox to attack; empty: that of this module, which is built")
	span := f.Duration("for", 8*time.Second, "how long a flood lasts")
	if err := f.Parse(args); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "pushbox-attack-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	path, err := filepath.Abs(*bin)
	if *bin == "" {
		path = filepath.Join(dir, "pushbox")
		build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", path, "pushbox")
		build.Stderr = notes
		err = build.Run()
	}
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "attack\twho\tresult")
	for _, a := range attacks() {
		lines, err := a.on(ctx, path, dir, *span)
		if err != nil {
			return fmt.Errorf("%s: %w", a.name, err)
		}
		for _, l := range lines {
			fmt.Fprintf(table, "%s\t%s\t%s\n", a.name, l.who, l.what)
		}
	}
	return table.Flush()
}

type line struct{ who, what string }

type attack struct {
	name    string
	setting string
	run     func(context.Context, *victim) []line
}

func attacks() []attack {
	const signups, requests, guesses = "PUSHBOX_ENABLE_SIGNUPS=true", "PUSHBOX_ENABLE_REQUESTS=true", "PUSHBOX_LIMITS_PASSPHRASES_PER_PUSH=10000"
	return []attack{
		{"sign-ins from one /48", "", flood(signIn)},
		{"passphrases from one /48", "", flood(lock)},
		{"twenty dead images", "", deadImages},
		{"twenty clicks on an expired link", "", expiredClicks},
		{"twenty-one unknown links", "", unknownLinks},
		{"ten wrong sign-ins", signups, wrongSignIns},
		{"a PIN is guessed, as fast as allowed", "", guessPIN},
		{"a PIN is guessed, without a pause", guesses, guessPIN},
		{"a PIN is guessed until the push is frozen", guesses, freeze},
		{"requests that are refused", "", refusedRequests},
		{"files of an account that was made a second ago", signups, freshAccount},
		{"answers with a key of 6 MB", requests, longKeys},
		{"connections that say nothing", "", holdConnections},
		{"headers that do not end", "", endlessHeaders},
		{"answers that are not read", "", unreadAnswers},
		{"bodies that never end", "", endlessBodies},
		{"slow files to one request", requests, slowAnswers},
	}
}

// on starts a server in a directory below dir and makes the attack.
func (a attack) on(ctx context.Context, bin, dir string, span time.Duration) ([]line, error) {
	v, err := start(ctx, bin, dir, a.setting, span)
	if err != nil {
		return nil, err
	}
	lines := a.run(ctx, v)
	v.stop()
	return lines, v.failed
}
