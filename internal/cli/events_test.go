package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"pushbox/internal/admin"
	"pushbox/internal/instance"
	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/bolt"
	"pushbox/store/record"
	"pushbox/store/seal"
)

func TestEventsSinceTakesALengthOfTimeADateOrATime(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Time{
		"24h": time.Now().Add(-24 * time.Hour), "7d": time.Now().Add(-7 * 24 * time.Hour),
		"2026-01-31":                time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC),
		"2026-01-31T09:00:00+01:00": time.Date(2026, 1, 31, 8, 0, 0, 0, time.UTC),
	} {
		if got, err := parseSince(text); err != nil || got.Sub(want).Abs() > time.Hour {
			t.Errorf("%s is %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "yesterday", "-1h", "0", "2026-13-01", "2026-01-31 09:00"} {
		if _, err := parseSince(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

// More events than one answer holds are listed in several.
func TestEventsAreListedToTheLast(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := opened(t, settingsFor(dir))
	const more = 3
	var g errgroup.Group
	g.SetLimit(1000)                        // which share commits
	for range admin.EventsPage + more - 1 { // the first event is that of the new database
		g.Go(func() error {
			return s.NoteReload(t.Context(), store.Actor{Role: store.Operator}, false, nil)
		})
	}
	env.OK(t, g.Wait())
	closed(t, s)
	r := run(t, dir, "", "events", "--json").want(t, 0)
	lines := strings.Split(strings.TrimSpace(r.stdout), "\n")
	if len(lines) != admin.EventsPage+more {
		t.Fatalf("there are %d lines", len(lines))
	}
	for i, line := range lines {
		if !strings.HasPrefix(line, fmt.Sprintf(`{"number":%d,`, i+1)) {
			t.Fatalf("line %d is %s", i+1, line)
		}
	}
}

// One damaged event hides those behind it, and not those before.
func TestEventsBeforeADamagedOneAreListed(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(*record.AdminEvent){
		"it does not open":   func(e *record.AdminEvent) { e.Digest[0]++ },
		"its row is changed": func(e *record.AdminEvent) { e.Sealed = append(e.Sealed, marker...) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			damageEvent(t, dir, damage)
			for _, flags := range [][]string{nil, {"--json"}} {
				r := run(t, dir, "", append([]string{"events"}, flags...)...).want(t, exitFailed, "event 3", "the database is damaged", "hint: ")
				if !strings.Contains(r.stdout, "keys_create") || strings.Contains(r.stdout, "reload") {
					t.Errorf("%v: it lists %s", flags, r.stdout)
				}
			}
		})
	}
}

// marker is in a row that is to be changed in the file.
const marker = "the marker of an event"

// damageEvent makes a database whose third event is damaged, of five.
func damageEvent(t *testing.T, dir string, damage func(*record.AdminEvent)) {
	t.Helper()
	cfg := settingsFor(dir)
	engine, _, err := bolt.Open(t.Context(), bolt.Options{Path: instance.Database(cfg)})
	env.OK(t, err)
	key, err := seal.CreateKeyFile(cfg.KeyFile())
	env.OK(t, err)
	spoiled := &spoiler{Engine: engine, damage: damage}
	s, err := store.Open(t.Context(), spoiled, key, instance.StoreOptions(cfg))
	env.OK(t, err)
	if _, err := s.AddAccount(t.Context(), store.Actor{Role: store.Operator}, alice, secret.New(password)); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		env.OK(t, s.NoteReload(t.Context(), store.Actor{Role: store.Operator}, false, nil))
	}
	closed(t, s)
	path := instance.Database(cfg)
	b, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, bytes.ReplaceAll(b, []byte(marker), []byte(strings.ToUpper(marker))), 0o600)
	}
	env.OK(t, err)
}

// A spoiler is an engine that damages the first event without another change.
type spoiler struct {
	record.Engine
	damage func(*record.AdminEvent)
	done   bool
}

func (s *spoiler) Update(ctx context.Context, change func(record.Tx) error) error {
	return s.Engine.Update(ctx, func(t record.Tx) error { return change(&spoiledTx{t, s, false}) })
}

type spoiledTx struct {
	record.Tx
	by    *spoiler
	wrote bool
}

func (t *spoiledTx) Put(of *record.Table, r record.Record) error {
	t.wrote = true
	return t.Tx.Put(of, r)
}

func (t *spoiledTx) Tell(e record.AdminEvent) error {
	if !t.by.done && !t.wrote {
		t.by.damage(&e)
		t.by.done = true
	}
	return t.Tx.Tell(e)
}

func TestAnEventOfAnAccountThatIsGoneHasItsID(t *testing.T) {
	t.Parallel()
	row := eventRow(store.AdminLine{Event: "token_revoke", Actor: "operator", AccountID: 7, Token: 3})
	if got := strings.Join(row, "|"); got != "-|token_revoke|operator|account 7, removed|-|token 3" {
		t.Errorf("the row is %s", got)
	}
}

// An address that passes for another one is seen for what it is.
func TestListsShowOddCharactersOfAddresses(t *testing.T) {
	t.Parallel()
	const odd, want = "adm\u200b@example.com", `adm\u200b@example.com`
	if row := eventRow(store.AdminLine{Event: "sign_in", Actor: "account", Account: odd}); row[3] != want {
		t.Errorf("of an event: %q", row[3])
	}
	if row := userRow(admin.User{Email: odd}); row[0] != want {
		t.Errorf("of an account: %q", row[0])
	}
}

func TestAnEventNamesTheAdministratorWhoActed(t *testing.T) {
	t.Parallel()
	e := store.AdminLine{Event: "account_disable", Actor: "admin", ActorID: 2, ActorAccount: "root@example.com", AccountID: 7, Account: "ann@example.com"}
	if got := strings.Join(eventRow(e), "|"); got != "-|account_disable|admin root@example.com|ann@example.com|-|-" {
		t.Errorf("the row is %s", got)
	}
	if e.ActorAccount = ""; eventRow(e)[2] != "admin (account 2, removed)" {
		t.Errorf("the row is %q", eventRow(e))
	}
	if e.ActorID = 7; eventRow(e)[2] != "admin" {
		t.Errorf("the row is %q", eventRow(e))
	}
}
