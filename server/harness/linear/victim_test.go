package linear_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/rs/zerolog"

	"pushbox/config"
	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/pgtest"
	"pushbox/server"
	"pushbox/store"
	"pushbox/store/bolt"
	"pushbox/store/postgres"
	"pushbox/store/record"
	"pushbox/store/seal"
	"pushbox/store/storetest"
)

// victimEnv makes this test binary a server for a test, which kills it: its value
// is where its files are, with _AHEAD how far its clock is ahead of a new one, and with
// _URL the address of its database, if that is no file.
const victimEnv = "PUSHBOX_TEST_VICTIM"

func TestMain(m *testing.M) {
	if dir := os.Getenv(victimEnv); dir != "" {
		home := victimHome{dir: dir, url: secret.New(os.Getenv(victimEnv + "_URL"))}
		if err := serveVictim(home, os.Getenv(victimEnv+"_AHEAD")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(pgtest.Main(m))
}

// serveVictim serves until standard input ends. It checks its file first. It
// says on standard output where it listens, and "done" after each order.
func serveVictim(home victimHome, ahead string) error {
	d, err := time.ParseDuration(ahead)
	if err != nil {
		return err
	}
	clock := storetest.NewClock()
	clock.Jump(d)
	s, err := home.open(clock)
	if err != nil {
		return err
	}
	if err := checkVictim(s); err != nil {
		return errors.Join(err, s.Close(ctx))
	}
	cfg := config.Default()
	unlimited(&cfg)
	handler, err := server.New(server.Options{Config: cfg, Store: s, Log: zerolog.Nop(), Version: "3.0.0", Clock: clock})
	if err != nil {
		return errors.Join(err, s.Close(ctx))
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return errors.Join(err, s.Close(ctx))
	}
	web, served := &http.Server{Handler: handler, ReadHeaderTimeout: env.Patience}, make(chan error, 1)
	go func() { served <- web.Serve(l) }()
	fmt.Println(l.Addr())
	err = obey(s, clock)
	err = errors.Join(err, web.Close())
	if end := <-served; !errors.Is(end, http.ErrServerClosed) {
		err = errors.Join(err, end)
	}
	return errors.Join(err, s.Close(ctx))
}

// obey carries out the orders that come from the parent.
func obey(s *store.Store, clock *storetest.Clock) error {
	for in := bufio.NewReader(os.Stdin); ; {
		order, err := in.ReadString('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if order == "sweep\n" {
			if _, err := s.Sweep(ctx); err != nil {
				return err
			}
		} else {
			var d time.Duration
			if _, err := fmt.Sscanf(order, "advance %d\n", &d); err != nil {
				return err
			}
			clock.Advance(d)
		}
		if _, err := fmt.Println("done"); err != nil {
			return err
		}
	}
}

// unlimited allows any number of requests and guesses: what limits do has tests
// of its own. Nor does it give up a request: a busy machine would be the reason.
func unlimited(c *config.Config) {
	c.Limits.RequestTimeout = env.Patience
	c.Limits.PassphrasesPerClient, c.Limits.PassphrasesPerPush, c.Limits.UnknownTokensPerMinute = 0, 0, 0
	c.Limits.PassphraseQueue = 1024 // all clients have one address, whose network may have an eighth
}

// A victimHome is where a victim keeps everything.
type victimHome struct {
	dir string      // of its key
	url secret.Text // of its database; zero: a file in dir
}

// open opens the store of a victim.
func (h victimHome) open(clock *storetest.Clock) (*store.Store, error) {
	ctx, cancel := context.WithTimeout(ctx, env.Patience)
	defer cancel()
	root, err := seal.LoadKeyFile(filepath.Join(h.dir, "master.key"))
	if err != nil {
		return nil, err
	}
	e, err := h.engine(ctx)
	if err != nil {
		return nil, err
	}
	// All clients have one address, whose network may have an eighth of the queue.
	s, err := store.Open(ctx, e, root, store.Options{Clock: clock, Terms: storetest.Terms(), Guessing: store.Guessing{Queue: 1024}})
	if err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return s, nil
}

func (h victimHome) engine(ctx context.Context) (e record.Engine, err error) {
	if h.url.IsZero() {
		e, _, err = bolt.Open(ctx, bolt.Options{Path: filepath.Join(h.dir, "pushbox.db"), Timeout: env.Patience})
		return e, err
	}
	e, _, err = postgres.Open(ctx, postgres.Options{URL: h.url, Dir: h.dir, Attempt: env.Patience, Connect: env.Patience})
	return e, err
}

func checkVictim(s *store.Store) (err error) {
	problems, err := s.Check(ctx)
	for _, p := range problems {
		err = errors.Join(err, errors.New("check: "+p))
	}
	return err
}

// fill makes a key and a database with an account, and returns a token of it.
func (h victimHome) fill(clock *storetest.Clock) (bearer string, err error) {
	if _, err := seal.CreateKeyFile(filepath.Join(h.dir, "master.key")); err != nil {
		return "", err
	}
	s, err := h.open(clock)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, s.Close(ctx)) }()
	const email = "ann@example.com"
	if _, err := s.AddAccount(ctx, storetest.Operator, email, seal.NewAPIToken()); err != nil {
		return "", err
	}
	token, err := s.CreateToken(ctx, storetest.Operator, email, store.TokenTerms{})
	return token.Secret.Reveal(), err
}

// A linearPair is two victims over one database. Their clocks go as one.
type linearPair [2]*linearVictim

func (p *linearPair) advance(d time.Duration) (err error) {
	defer p[0].clock.Advance(d)
	for _, v := range p { // one of them may be dead
		err = errors.Join(err, v.order(advanceBy(d)))
	}
	return err
}

// sweep has one of them sweep.
func (p *linearPair) sweep() error { return p[rand.IntN(len(p))].sweep() }

// recordServerKills has the clients make n calls of two servers in processes of their own,
// over one PostgreSQL. Now and then one of them is killed, and started again. It returns how
// often.
func (r *linearRun) recordServerKills(n int64) (kills int) {
	home, rng := victimHome{dir: r.t.TempDir(), url: pgtest.URL(r.t)}, rand.New(rand.NewPCG(r.seed, 1<<63))
	bearer := env.Must(home.fill(r.clock))(r.t)
	r.bearer = bearer
	var pair linearPair
	addresses := []*string{&r.address, &r.other}
	for i := range pair {
		pair[i], *addresses[i] = startLinearVictim(r.t, home, r.clock)
	}
	r.host = &pair
	for ; r.calls.Load() < n && !r.t.Failed(); r.life++ {
		i := rng.IntN(len(pair))
		r.kill(pair[i], r.calls.Load()+callsOfLife+rng.Int64N(callsSpread), time.Duration(rng.Int64N(int64(killSpread))))
		kills++
		awaitNoStatement(r.t, home)
		pair[i], *addresses[i] = startLinearVictim(r.t, home, r.clock)
		r.dying.Store(false)
	}
	r.lastTour()
	for _, v := range pair {
		if err := v.end(); err != nil {
			r.t.Errorf("a victim ended with: %v", err)
		}
	}
	r.checkHome(home)
	return kills
}

// awaitNoStatement waits until no statement of a killed server runs: what it does, it has
// done before the next call.
func awaitNoStatement(t *testing.T, home victimHome) {
	t.Helper()
	env.Eventually(t, "the statements of a killed server end", func() bool { return pgtest.Running(t, home.url) == 0 })
}

// cutPatience is for one question about a call that was cut off.
const cutPatience = 5 * time.Second

// cutOutcomes counts of the calls that were cut off which took effect for certain,
// and which did not: no order of the others makes sense without those, or with
// these.
func cutOutcomes(history []porcupine.Operation) (did, didNot int) {
	model := linearModel()
	for _, part := range model.Partition(history) {
		for i, o := range part {
			in := o.Input.(linearCall)
			if !in.cut || in.op == opExpire || in.op == opPurge {
				continue
			}
			without := slices.Delete(slices.Clone(part), i, i+1)
			if refuted(without) {
				did++
				continue
			}
			in.forced = true
			with := slices.Clone(part)
			with[i].Input = in
			if refuted(with) {
				didNot++
			}
		}
	}
	return did, didNot
}

// refuted reports whether the history of one push has no order for certain.
func refuted(part []porcupine.Operation) bool {
	model := linearModel()
	model.Partition = nil
	return porcupine.CheckOperationsTimeout(model, part, cutPatience) == porcupine.Illegal
}
