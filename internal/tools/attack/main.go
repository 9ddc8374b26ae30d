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
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"text/tabwriter"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "attack:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	bin := flag.String("bin", "", "the pushbox to attack; empty: that of this module, which is built")
	span := flag.Duration("for", 8*time.Second, "how long a flood lasts")
	flag.Parse()
	dir, err := os.MkdirTemp("", "pushbox-attack-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if *bin == "" {
		*bin = filepath.Join(dir, "pushbox")
		build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", *bin, "pushbox")
		build.Stderr = os.Stderr
		if err := build.Run(); err != nil {
			return fmt.Errorf("go build: %w", err)
		}
	}
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "attack\twho\twhat became of it")
	for _, a := range attacks(*span) {
		lines, err := a.on(ctx, *bin, dir)
		if err != nil {
			return fmt.Errorf("%s: %w", a.name, err)
		}
		for _, l := range lines {
			fmt.Fprintf(out, "%s\t%s\t%s\n", a.name, l.who, l.what)
		}
	}
	return out.Flush()
}

// A line is what an attack costs one party.
type line struct{ who, what string }

// An attack is made on a server of its own.
type attack struct {
	name    string
	environ []string // settings of the server
	run     func(context.Context, *victim) ([]line, error)
}

func attacks(span time.Duration) []attack {
	return []attack{
		{"sign-ins from one /48", nil, func(ctx context.Context, v *victim) ([]line, error) { return flood(ctx, v, span, v.floodSignIns) }},
		{"passphrases from one /48", nil, func(ctx context.Context, v *victim) ([]line, error) { return flood(ctx, v, span, v.floodPassphrases) }},
		{"twenty dead images", nil, deadImages},
		{"twenty clicks on an expired link", nil, expiredClicks},
		{"twenty-one unknown links", nil, unknownLinks},
		{"ten wrong sign-ins", []string{"PUSHBOX_ENABLE_SIGNUPS=true"}, wrongSignIns},
		{"a PIN is guessed, as fast as allowed", nil, guessPIN},
		{"a PIN is guessed, without a pause", []string{"PUSHBOX_LIMITS_PASSPHRASES_PER_PUSH=10000"}, guessPIN},
		{"a PIN is guessed until the push is frozen", []string{"PUSHBOX_LIMITS_PASSPHRASES_PER_PUSH=10000"}, freeze},
		{"requests that are refused", nil, refusedRequests},
		{"files of an account that was made a second ago", []string{"PUSHBOX_ENABLE_SIGNUPS=true"}, freshAccount},
		{"answers with a key of 6 MB", []string{"PUSHBOX_ENABLE_REQUESTS=true"}, longKeys},
		{"connections that say nothing", nil, holdConnections},
		{"answers that are not read", nil, func(ctx context.Context, v *victim) ([]line, error) { return unreadAnswers(ctx, v, span) }},
		{"bodies that never end", nil, func(ctx context.Context, v *victim) ([]line, error) { return endlessBodies(ctx, v, span) }},
		{"slow files to one request", []string{"PUSHBOX_ENABLE_REQUESTS=true"}, func(ctx context.Context, v *victim) ([]line, error) { return slowAnswers(ctx, v, span) }},
	}
}

// on starts a server in a directory below dir and makes the attack.
func (a attack) on(ctx context.Context, bin, dir string) ([]line, error) {
	v, err := start(ctx, bin, dir, a.environ)
	if err != nil {
		return nil, err
	}
	defer v.stop()
	return a.run(ctx, v)
}
