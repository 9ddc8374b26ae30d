package forgery

import (
	"errors"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.etcd.io/bbolt"

	"pushbox/internal/testkit/env"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

// processors is how many forgeries are tried at a time.
const processors = 2

// TestAForgeryIsNeverBelieved says in doc.go what it does.
func TestAForgeryIsNeverBelieved(t *testing.T) {
	t.Parallel()
	n, rng := int(env.Length(t, "PUSHBOX_TEST_FORGERIES")), rand.New(rand.NewPCG(env.Seed(t), 0))
	dir := storetest.MemoryDir(t)
	w := newWorld(t, dir)
	c := newChooser(t, w, filepath.Join(dir, "pushbox.db"), rng)
	if len(c.buckets) != 21 || len(c.past) < 10 {
		t.Fatalf("there are rows in %q, and %d that have changed", c.buckets, len(c.past))
	}
	w.wantTruth(t, filepath.Join(dir, "pushbox.db"))
	tries := iter.Seq[forgery](func(yield func(forgery) bool) {
		for i := range n {
			if !yield(c.choose(i)) {
				return
			}
		}
	})
	if os.Getenv("PUSHBOX_TEST_FORGERY_ALL") != "" {
		tries = c.all
	}
	work, running := make(chan forgery), sync.WaitGroup{}
	for i := range processors {
		path := filepath.Join(dir, string('a'+rune(i))+".db")
		running.Go(func() {
			for f := range work {
				w.try(t, path, f)
			}
		})
	}
	tried := 0
	for f := range tries {
		work <- f
		tried++
	}
	close(work)
	running.Wait()
	t.Logf("%d forgeries", tried)
}

// wantTruth asks twice what the store says about the file as it is.
func (w *world) wantTruth(t *testing.T, path string) {
	t.Helper()
	for range 2 {
		write(t, path, w.image)
		f := env.Must(w.open(path))(t)
		if problems, err := f.Store.Check(ctx); err != nil || len(problems) > 0 {
			t.Errorf("before anything is forged: %q, %v", problems, err)
		}
		answers := w.ask(f)
		env.OK(t, f.Close(ctx))
		if w.truth == nil {
			w.truth = answers
			continue
		}
		for _, q := range w.differing(answers) {
			t.Errorf("the %s: %+v, and before %+v", q, answers[q], w.truth[q])
		}
	}
}

// differing returns the questions that are answered, but not with the truth.
func (w *world) differing(answers map[string]any) (questions []string) {
	for q, answer := range answers {
		if _, failed := answer.(error); !failed && !reflect.DeepEqual(answer, w.truth[q]) {
			questions = append(questions, q)
		}
	}
	slices.Sort(questions)
	return questions
}

// try forges the file, asks the store, and checks it.
func (w *world) try(t *testing.T, path string, x forgery) {
	write(t, path, w.image)
	if err := forge(path, x); err != nil {
		t.Errorf("%s: %v", x.text, err)
		return
	}
	f, err := w.open(path)
	if err != nil {
		if !errors.Is(err, record.ErrCorrupt) || !strings.Contains(err.Error(), x.bucket) {
			t.Errorf("%s: the file is refused: %v", x.text, err)
		}
		return
	}
	problems, err := f.Store.Check(ctx)
	if err != nil || !slices.ContainsFunc(problems, func(p string) bool { return strings.Contains(p, x.bucket) }) {
		t.Errorf("%s: a check finds %q, %v", x.text, problems, err)
	}
	answers := w.ask(f)
	for _, q := range w.differing(answers) {
		if x.seen {
			t.Errorf("%s: the %s: %+v", x.text, q, answers[q])
		}
	}
	select {
	case <-f.Failed():
		t.Errorf("%s: the store failed", x.text)
	default:
	}
	if err := f.Close(ctx); err != nil {
		t.Errorf("%s: close: %v", x.text, err)
	}
}

func forge(path string, x forgery) error {
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{NoSync: true})
	if err != nil {
		return err
	}
	return errors.Join(db.Update(x.change), db.Close())
}

// A file of an older schema has no tags, so one that only says that it is older must not
// be converted: its rows would get tags.
func TestAFileThatSaysThatItIsOlderIsRefused(t *testing.T) {
	t.Parallel()
	dir := storetest.MemoryDir(t)
	w, path := newWorld(t, dir), filepath.Join(dir, "forged.db")
	rows := rowsOf(t, path, w.image)
	for _, schema := range []byte{4, 5} {
		for _, ring := range []bool{true, false} {
			write(t, path, w.image)
			err := forge(path, forgery{change: func(tx *bbolt.Tx) error {
				for _, r := range rows {
					change := put
					switch {
					case r.bucket == "meta" && string(r.key) == "schema":
						r.value = []byte{0, 0, 0, schema}
					case r.bucket == "meta" && string(r.key) == "key_ring" && !ring, r.bucket == "events", r.bucket == "journal":
						change = remove
					case tagged(r):
						r.value = r.value[:len(r.value)-18]
					}
					if err := change(r)(tx); err != nil {
						return err
					}
				}
				return nil
			}})
			env.OK(t, err)
			if f, err := w.open(path); !errors.Is(err, record.ErrCorrupt) {
				t.Errorf("schema %d, with its key ring: %t: it opens with %v", schema, ring, err)
				if err == nil {
					_ = f.Close(ctx)
				}
			}
		}
	}
}
