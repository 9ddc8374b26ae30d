// Package env reads from the environment the length of long tests, and the seed of
// random ones. It also gives tests a clock, addresses, a directory with a short path, waits,
// the content of a file, and checks of errors and of values.
package env

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Patience is how long a test waits for what must happen, before it fails. It only turns a hang into a failure: no test may be faster than it to pass.
const Patience = 2 * time.Minute

// OK ends the test if there is an error.
func OK(t testing.TB, err error) {
	if err != nil {
		t.Helper()
		t.Fatal(err)
	}
}

// Must returns the value of a call that must succeed, or else ends the test:
//
//	value := env.Must(f())(t)
func Must[T any](value T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		OK(t, err)
		return value
	}
}

// Equal fails the test unless it got what it wants. What says what that is.
func Equal[T comparable](t testing.TB, what any, got, want T) {
	if got == want {
		return
	}
	t.Helper()
	if _, ok := any(got).(string); ok {
		t.Errorf("%v: %q, not %q", what, any(got), any(want))
		return
	}
	t.Errorf("%v: %v, not %v", what, got, want)
}

// ErrorIs fails the test unless an error is the one it wants, or wraps it. What says of what it is.
func ErrorIs(t testing.TB, what any, err, want error) {
	if !errors.Is(err, want) {
		t.Helper()
		t.Errorf("%v: the error is %v, not %v", what, err, want)
	}
}

// Contains fails the test unless a text has a part. what names the text in the failure.
func Contains(t testing.TB, what any, text, part string) {
	if !strings.Contains(text, part) {
		t.Helper()
		t.Errorf("%v: %q is not in\n%s", what, part, text)
	}
}

// Hides reports what prints a secret: a value itself, or where fmt asks no method of it.
func Hides(t testing.TB, what string, value any, secret string) {
	t.Helper()
	hidden := struct{ v any }{value} // fmt asks no method of what is in an unexported field
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		for _, printed := range []string{fmt.Sprintf(verb, value), fmt.Sprintf(verb, hidden)} {
			if low := strings.ToLower(printed); strings.Contains(low, secret) || strings.Contains(low, hex.EncodeToString([]byte(secret))) {
				t.Errorf("%s of %s prints the secret: %s", verb, what, printed)
			}
		}
	}
}

// Read returns the content of a file, which must be there.
func Read(t testing.TB, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	OK(t, err)
	return content
}

// Seed is the value of PUSHBOX_TEST_SEED, else random. It is in the test's log, so that a
// failure can be repeated.
func Seed(t testing.TB) uint64 {
	t.Helper()
	const name = "PUSHBOX_TEST_SEED"
	seed := Number(t, name, rand.Uint64()>>1)
	t.Logf("%s=%d", name, seed)
	return seed
}

// Number is the value of an environment variable, else another one. A value that is not a number fails
// the test.
func Number(t testing.TB, name string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// Eventually waits until a condition holds, and fails the test if that takes too long.
func Eventually(t testing.TB, what string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(Patience); !so(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it never happened that %s", what)
		}
	}
}

// ShortDir is a temporary directory whose path leaves room for a socket: that of
// t.TempDir has the test's name in it.
func ShortDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "pb")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// Listen listens at a port of this machine until the test ends.
func Listen(t testing.TB) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	OK(t, err)
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// Ask sends a request, with headers such as "Accept: text/html", and returns the answer and its
// whole body. It follows no redirect.
func Ask(t testing.TB, method, url, body string, headers ...string) (answer *http.Response, text string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	OK(t, err)
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	if host := req.Header.Get("Host"); host != "" {
		req.Host = host
	}
	answer, err = http.DefaultTransport.RoundTrip(req)
	OK(t, err)
	defer answer.Body.Close()
	all, err := io.ReadAll(answer.Body)
	OK(t, err)
	return answer, string(all)
}

// Run runs a function until stop is called, at the latest until the test ends. It must return
// then, and no error.
func Run(t testing.TB, run func(context.Context) error) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("it ended with %v", err)
			}
		case <-time.After(Patience):
			t.Error("it does not stop")
		}
	})
	t.Cleanup(stop)
	return stop
}

// Allocated is the number of bytes that a function allocates. No other test may run meanwhile.
func Allocated(use func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	use()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Form is the header of a form.
const Form = "Content-Type: application/x-www-form-urlencoded"

var given sync.Map // ports

// FreeAddress is an address of this machine that refuses connections, until a program that is
// started later listens there. Its port is below those that the system gives to a process that asks
// for any, so that no other process gets it meanwhile.
func FreeAddress(t testing.TB) string {
	t.Helper()
	const lowest, below = 10_000, 32_768
	for range below {
		port := lowest + rand.IntN(below-lowest)
		if _, again := given.LoadOrStore(port, true); again {
			continue
		}
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			continue // it is in use
		}
		_ = l.Close()
		return l.Addr().String()
	}
	t.Fatal("no port is free")
	return ""
}

// An Ahead is the machine's clock, and ahead of it by what a test has added. It is safe for
// concurrent use.
type Ahead struct{ by atomic.Int64 }

var start = time.Now()

// Now is what the wall clock shows.
func (a *Ahead) Now() time.Time { return time.Now().Add(time.Duration(a.by.Load())) }

// Elapsed is the time since some moment.
func (a *Ahead) Elapsed() time.Duration { return time.Since(start) + time.Duration(a.by.Load()) }

// Advance lets the time d pass.
func (a *Ahead) Advance(d time.Duration) { a.by.Add(int64(d)) }
