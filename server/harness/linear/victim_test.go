package linear_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

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
