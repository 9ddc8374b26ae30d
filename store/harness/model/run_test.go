// A model is what a store should hold after one sequence. Sequences share a store:
// earlier ones left nothing in it that a later one can reach.
package model

import (
	"encoding/base64"
	"flag"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"golang.org/x/crypto/argon2"
	"pgregory.net/rapid"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/pgtest"
	"pushbox/store"
	"pushbox/store/storetest"
)

// A store answers any sequence of operations as a model in memory does, and at the end
// its file passes the check.
//
// PUSHBOX_TEST_MODEL_SEQUENCES sets the number of sequences.
func TestTheStoreAgreesWithAModel(t *testing.T) {
	t.Parallel()
	storetest.OnEachEngine(t, func(t *testing.T, engine func(*storetest.Setup)) {
		n := storetest.Rounds(t, env.Length(t, "PUSHBOX_TEST_MODEL_SEQUENCES"))
		counts := make(map[string]int)
		storetest.CheckInBatches(t, n, func(t *testing.T, batch int) func(*rapid.T) {
			f := storetest.New(t, storetest.InMemory(t), engine, setup)
			costly := batch == 0 // a passphrase takes 30 ms each time
			told := new(uint64)
			return func(check *rapid.T) {
				m := &model{T: check, f: f, costly: costly, counts: counts, told: told}
				defer m.leave()
				m.play()
			}
		})
		t.Log(counts)
	})
}

func setup(o *storetest.Setup) {
	o.PurgeAfter = purgeAfter
	o.Files.Window = grantWindow
	o.Sessions = store.SessionLimits{Idle: sessionIdle, MaxAge: sessionAge}
	o.Guessing.PerClient, o.Guessing.PerPush, o.Guessing.PerLife = 0, 0, guessesPerLife
	o.SignIns = store.SignInLimits{}
}

// A model is the expected state of a store after one sequence. Sequences share a store:
// earlier ones leave nothing in it that a later one can reach.
type model struct {
	*rapid.T
	f      *storetest.Fixture
	costly bool
	counts map[string]int

	pushes   []*push // that exist
	purged   []*push
	grants   []*grant
	accounts []*account

	told *uint64 // the last event of the instance log that was read, in any sequence
}

// now is the time of the next operation.
func (m *model) now() time.Time { return m.f.Clock.Now() }

func (m *model) play() {
	actions := map[string]func(*rapid.T){"": m.look}
	for i, one := range []struct {
		name string
		act  func(*rapid.T)
	}{ // rapid prefers those that come first
		{"retrieve", m.retrieve},
		{"create", m.create},
		{"time passes", m.pass},
		{"create of files", m.createFiles},
		{"sweep", m.sweep},
		{"download", m.download},
		{"delete", m.delete},
		{"add an account", m.addAccount},
		{"list", m.list},
		{"edit", m.edit},
		{"thaw", m.thaw},
		{"history", m.history},
		{"token", m.token},
		{"sign in", m.signIn},
		{"authenticate", m.authenticate},
		{"resume", m.resume},
		{"look", m.lookAt},
		{"search", m.search},
		{"disable", m.disable},
		{"revoke", m.revoke},
		{"end a session", m.endSession},
		{"remove an account", m.removeAccount},
		{"reopen", m.reopen},
	} {
		actions[fmt.Sprintf("%02d %s", i, one.name)] = func(t *rapid.T) {
			one.act(t)
			m.counts[one.name]++
		}
	}
	m.Repeat(actions)
}

func (m *model) reopen(t *rapid.T) {
	if rapid.IntRange(0, 3).Draw(t, "restart") == 3 { // it costs as much as ten others
		m.f.Reopen()
		m.f.Clock.Advance(time.Second) // as no restart is shorter, and lists have the order of the clock then
	}
}

// leave removes what the sequence made, and checks the file.
func (m *model) leave() {
	for _, a := range m.accounts {
		if err := m.f.RemoveAccount(ctx, storetest.Operator, a.email); err != nil {
			m.Errorf("remove an account: %v", err)
		}
	}
	m.events()
	problems, err := m.f.Store.Check(ctx)
	if err != nil || len(problems) > 0 {
		m.Errorf("check: %v, %v", problems, err)
	}
}

// pass lets time pass, often until something ends, or the moment before.
func (m *model) pass(t *rapid.T) {
	if ends := m.ends(); len(ends) > 0 && rapid.Bool().Draw(t, "until an end") {
		end := rapid.SampledFrom(ends).Draw(t, "end")
		m.f.Clock.Advance(end.Sub(m.now()) - time.Duration(rapid.IntRange(0, 1).Draw(t, "before"))*time.Millisecond)
		return
	}
	unit := rapid.SampledFrom([]time.Duration{time.Second, time.Minute, time.Hour, day}).Draw(t, "unit")
	m.f.Clock.Advance(unit * time.Duration(rapid.IntRange(1, 40).Draw(t, "units")))
}

// ends are the times at which something ends.
func (m *model) ends() (ends []time.Time) {
	for _, a := range m.accounts {
		for _, s := range a.sessions {
			ends = append(ends, s.used.Add(sessionIdle), s.created.Add(sessionAge))
		}
		for _, token := range a.tokens {
			ends = append(ends, token.expires)
		}
	}
	for _, g := range m.grants {
		ends = append(ends, g.end)
	}
	for _, p := range m.pushes {
		ends = append(ends, p.expires, p.expired.Add(day), p.expired.Add(purgeAfter))
	}
	return slices.DeleteFunc(ends, func(end time.Time) bool { return !end.After(m.now()) })
}

func (m *model) sweep(*rapid.T) {
	if _, err := m.f.Sweep(ctx); err != nil {
		m.Fatalf("sweep: %v", err)
	}
	kept := m.pushes[:0:0]
	for _, p := range m.pushes {
		if p.sweep(m.now()) {
			kept = append(kept, p)
		} else {
			m.purge(p)
		}
	}
	m.pushes = kept
}

func (m *model) purge(p *push) {
	p.release()
	m.purged = append(m.purged, p)
}

// someone is storetest.Anonymous, or the holder of an account.
func (m *model) someone(t *rapid.T) *account {
	if len(m.accounts) == 0 {
		return nil
	}
	return rapid.SampledFrom(append([]*account{nil}, m.accounts...)).Draw(t, "who")
}

func (a *account) actor() store.Actor {
	if a == nil {
		return storetest.Anonymous
	}
	return store.Actor{Account: a.id, Client: "192.0.2.1", IP: "192.0.2.1"}
}

// String names an account in rapid's output.
func (a *account) String() string {
	if a == nil {
		return "anonymous"
	}
	return a.email
}

// accountPassword is the password of every account, and passwordHash its cheapest hash.
const accountPassword = "correct horse"

func passwordHash() string {
	salt := make([]byte, 16)
	b64 := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=%d$m=8,t=1,p=1$%s$%s", argon2.Version, b64(salt), b64(argon2.IDKey([]byte(accountPassword), salt, 1, 8, 1, 32)))
}

func text(s string) secret.Text { return secret.New(s) }

func TestMain(m *testing.M) {
	// Ten checks at a time, so that a few more checks do not become a hundred. The flag may say otherwise.
	if err := flag.Set("rapid.checks", "10"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(pgtest.Main(m))
}
