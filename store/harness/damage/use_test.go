package damage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime/debug"
	"strings"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

const timeLimit = env.Patience // for one damage, with all use of the file

// An outcome is the result of a damage.
type outcome int

const (
	unnoticed outcome = iota // no difference
	refused                  // the file was not opened
	failed                   // a call returned an error
	found                    // only the check reported it
	differs                  // a difference that nothing reported
	outcomes
)

// A damagedStore is a damaged file in use.
type damagedStore struct {
	*world
	*store.Store
	ctx    context.Context
	rng    *rand.Rand
	clock  *storetest.Clock
	costly bool // whether passwords and passphrases are tried

	problems int      // that the check found
	errors   int      // that calls ended with
	changes  []string // what differs
	broken   []string // what must never happen
}

// try damages the file and uses it. It returns the outcome, what differs, and what must
// never happen.
func (w *world) try(d damage, rng *rand.Rand, costly bool) (o outcome, changes, broken []string) {
	if err := w.inflict(d); err != nil {
		return 0, nil, []string{err.Error()}
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeLimit)
	defer cancel()
	r := &damagedStore{world: w, ctx: ctx, rng: rng, clock: storetest.NewClock(), costly: costly}
	r.clock.Advance(w.now.Sub(r.clock.Now()))
	r.guarded("open", func() error {
		var err error
		r.Store, err = w.open(r.clock, timeLimit)
		return err
	})
	if r.Store == nil {
		return refused, nil, r.broken
	}
	r.useAll()
	switch {
	case r.errors > 0:
		o = failed
	case r.problems > 0:
		o = found
	case len(r.changes) > 0:
		o = differs
	}
	return o, r.changes, r.broken
}

// useAll does, in random order, half of what a store can do: first reads, then changes.
func (r *damagedStore) useAll() {
	looks := []func(){r.check, r.lists, r.grantsOf, r.members, r.secrets}
	for _, k := range r.pushes {
		if k.special() && r.rng.IntN(2) == 0 || r.rng.IntN(30) == 0 {
			looks = append(looks, func() { r.retrieve(k) })
		}
	}
	last := 1 // the check stays the first, before anything changes
	if r.rng.IntN(2) == 0 {
		last = 0
	}
	r.rng.Shuffle(len(looks)-last, func(i, j int) { looks[last+i], looks[last+j] = looks[last+j], looks[last+i] })
	for _, look := range looks {
		look()
	}
	changes := []func(){r.create, r.upload, r.end, r.sweep, r.administer}
	r.rng.Shuffle(len(changes), func(i, j int) { changes[i], changes[j] = changes[j], changes[i] })
	for _, change := range changes[:r.rng.IntN(len(changes))] {
		change()
	}
	r.guarded("close", func() error { return r.Close(r.ctx) })
}

// guarded makes a call, counts its error and returns it. A panic is recorded as broken.
func (r *damagedStore) guarded(what string, call func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			r.never("%s: it panicked: %v\n%s", what, v, debug.Stack())
			err = errors.New("a panic")
		}
	}()
	err = call()
	if err == nil {
		return nil
	}
	r.errors++
	text := err.Error()
	switch {
	case text == "":
		r.never("%s: an error without words", what)
	case strings.Contains(text, "rule panicked"), errors.Is(err, context.DeadlineExceeded):
		r.never("%s: %v", what, err)
	}
	for _, k := range r.pushes {
		if k.special() && (len(k.Payload) > 0 && strings.Contains(text, k.Payload) || strings.Contains(text, k.token.Reveal())) {
			r.never("%s: a secret is in the error", what)
		}
	}
	return err
}

func (r *damagedStore) never(format string, args ...any) {
	r.broken = append(r.broken, fmt.Sprintf(format, args...))
}

func (r *damagedStore) differ(same bool, format string, args ...any) {
	if !same {
		r.changes = append(r.changes, fmt.Sprintf(format, args...))
	}
}

func (r *damagedStore) check() {
	r.guarded("check", func() error {
		problems, err := r.Check(r.ctx)
		r.problems += len(problems)
		return err
	})
}

// retrieve retrieves a push in every way: it must deliver what was stored.
func (r *damagedStore) retrieve(k knownPush) {
	if k.Passphrase != "" {
		r.refuse(k, "")
		if !r.costly {
			return
		}
		r.refuse(k, "another passphrase")
	}
	var got store.PushInfo
	err := r.guarded("retrieve", func() (err error) {
		got, err = r.Retrieve(r.ctx, storetest.Anonymous, k.token, secret.New(k.Passphrase), nil)
		return err
	})
	if err != nil {
		return
	}
	r.judge(k, got)
	for i := range got.Files {
		r.download(got.Grant, i, k.files)
	}
}

// refuse retrieves with a wrong passphrase.
func (r *damagedStore) refuse(k knownPush, passphrase string) {
	got, err := r.Retrieve(r.ctx, storetest.Anonymous, k.token, secret.New(passphrase), nil)
	if err == nil && (!got.Payload.IsZero() || got.Live()) {
		r.never("%s was given out for %q", k.Name, passphrase)
	}
	if !errors.Is(err, record.ErrPassphrase) {
		r.guarded("retrieve without the passphrase", func() error { return err })
	}
}

// judge compares what was delivered with what was stored.
func (r *damagedStore) judge(k knownPush, got store.PushInfo) {
	switch {
	case !got.Live():
		r.differ(k.Over, "%s has expired", k.Name)
		if !got.Payload.IsZero() || len(got.Files) > 0 {
			r.never("%s has expired and was delivered", k.Name)
		}
	case k.Over:
		r.never("%s was over and is delivered", k.Name)
	case got.Payload.Reveal() != k.Payload:
		r.never("%s came with another payload", k.Name)
	case len(got.Files) != len(k.files):
		r.never("%s came with %d files", k.Name, len(got.Files))
	}
	r.differ(k.Over || got.ViewLimit == 5, "%s: a limit of %d views", k.Name, got.ViewLimit)
}

// download reads a file: the whole file comes, or an error.
func (r *damagedStore) download(grant secret.Text, n int, files [][]byte) {
	var got []byte
	err := r.guarded("download", func() error {
		d, err := r.Download(r.ctx, grant, n)
		if err != nil {
			return err
		}
		defer d.Close()
		got, err = io.ReadAll(d)
		return err
	})
	if err == nil && !bytes.Equal(got, files[n]) {
		r.never("file %d came with %d bytes, which are not those of it", n, len(got))
	}
}

func (r *damagedStore) grantsOf() {
	for _, k := range r.pushes {
		for n := range k.files {
			if k.Grant != "" {
				r.download(secret.New(k.Grant), n, k.files)
			}
		}
	}
}

// lists reads all lists of an owner.
func (r *damagedStore) lists() {
	names := make(map[record.ID]string)
	for _, k := range r.pushes {
		if k.Owner == r.ann.Email {
			names[k.id] = k.Name
		}
	}
	seen := 0
	for _, live := range []bool{true, false} {
		var list []store.PushInfo
		r.guarded("list", func() (err error) {
			list, err = r.Pushes(r.ctx, r.ann.by, live, 1)
			return err
		})
		for _, p := range list {
			seen++
			if name, ok := names[p.ID]; !ok || name != p.Name.Reveal() {
				r.never("a list has the name of another push")
			}
		}
		r.guarded("search", func() error {
			_, err := r.SearchPushes(r.ctx, r.ann.by, store.Search{Live: live, Words: "number 6"}, 1)
			return err
		})
	}
	r.differ(seen == len(names), "the lists have %d pushes of %d", seen, len(names))
	for _, k := range r.pushes {
		if k.special() && k.Owner == r.ann.Email && r.rng.IntN(3) == 0 {
			r.history(k)
		}
	}
}

func (r *damagedStore) history(k knownPush) {
	r.guarded("history", func() error {
		h, err := r.History(r.ctx, r.ann.by, k.token, 1)
		if err == nil && h.Name.Reveal() != k.Name {
			r.never("a history has the name of another push")
		}
		return err
	})
	r.guarded("audit", func() error {
		_, err := r.Audit(r.ctx, r.ann.by, k.token, 1)
		return err
	})
	r.guarded("preview", func() error {
		_, err := r.Look(r.ctx, k.token)
		return err
	})
}
