package forgery

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

// A row is one that the file has.
type row struct {
	bucket     string
	key, value []byte
}

func (r row) String() string { return fmt.Sprintf("%s %x", r.bucket, r.key[:min(len(r.key), 30)]) }

// A forgery is one change of the file.
type forgery struct {
	text   string
	bucket string // which a check must name
	seen   bool   // each answer must be an error, or the truth
	change func(*bbolt.Tx) error
}

// tagged reports whether a row has a tag.
func tagged(r row) bool {
	switch r.bucket {
	case "payloads", "chunks", "owners", "expiry", "orphans":
		return false
	case "meta":
		return string(r.key) != "schema" && string(r.key) != "key_ring"
	default:
		return true
	}
}

// rowsOf returns the rows of an image.
func rowsOf(t *testing.T, path string, image []byte) (rows []row) {
	t.Helper()
	write(t, path, image)
	db := env.Must(bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true}))(t)
	defer db.Close()
	err := db.View(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(name []byte, b *bbolt.Bucket) error {
			return b.ForEach(func(k, v []byte) error {
				rows = append(rows, row{string(name), bytes.Clone(k), bytes.Clone(v)})
				return nil
			})
		})
	})
	env.OK(t, err)
	return rows
}

func put(r row) func(*bbolt.Tx) error {
	return func(tx *bbolt.Tx) error { return tx.Bucket([]byte(r.bucket)).Put(r.key, r.value) }
}

func remove(r row) func(*bbolt.Tx) error {
	return func(tx *bbolt.Tx) error { return tx.Bucket([]byte(r.bucket)).Delete(r.key) }
}

func both(a, b func(*bbolt.Tx) error) func(*bbolt.Tx) error {
	return func(tx *bbolt.Tx) error {
		if err := a(tx); err != nil {
			return err
		}
		return b(tx)
	}
}

// changeByte changes a byte of a row's value, or of its tag.
func changeByte(r row, at int, x byte) forgery {
	text := fmt.Sprintf("byte %d of %d of %v ^ %#02x", at, len(r.value), r, x)
	r.value = bytes.Clone(r.value)
	r.value[at] ^= x
	return forgery{text, r.bucket, true, put(r)}
}

// exchange puts the values of two rows in each other's place.
func exchange(a, b row) forgery {
	a.value, b.value = b.value, a.value
	return forgery{fmt.Sprintf("%v and %v exchanged", a, b), a.bucket, true, both(put(a), put(b))}
}

// copyTo puts a row under the key of another, or, with the last byte of the key changed,
// where none is.
func copyTo(r row, key []byte) forgery {
	text := fmt.Sprintf("%v also under %x", r, key)
	r.key = key
	return forgery{text, r.bucket, true, put(r)}
}

// cutTag takes the tag away, as if an older version had written the row.
func cutTag(r row) forgery {
	r.value = r.value[:len(r.value)-18]
	return forgery{fmt.Sprintf("%v without its tag", r), r.bucket, true, put(r)}
}

func removal(r row) forgery {
	return forgery{fmt.Sprintf("%v removed", r), r.bucket, r.bucket == "audit", remove(r)}
}

func replay(r row) forgery {
	return forgery{fmt.Sprintf("%v as it was before", r), r.bucket, false, put(r)}
}

// setBack sets the numbers of a bucket back.
func setBack(bucket string) forgery {
	return forgery{"the numbers of " + bucket + " set back", bucket, true, func(tx *bbolt.Tx) error {
		return tx.Bucket([]byte(bucket)).SetSequence(0)
	}}
}

// give adds a row of a push to the index of another account.
func give(r row) forgery {
	r.key = bytes.Clone(r.key)
	r.key[7] = r.key[7]%3 + 1
	return forgery{fmt.Sprintf("%v among the pushes of another account", r), "its index rows are not those", true, put(r)}
}

// hasten adds a row to the expiry index by which a push has long been due.
func hasten(r row) forgery {
	r.key = bytes.Clone(r.key)
	clear(r.key[1:9])
	return forgery{fmt.Sprintf("%v long due", r), "its index rows are not those", true, put(r)}
}

// orphan lists the files of a push, by a row of one of its grants, as those of none.
func orphan(grant row) forgery {
	r := row{"orphans", grant.key[:22], nil}
	return forgery{fmt.Sprintf("%v, which has files", r), "its files are listed as orphans", true, put(r)}
}

// chooser chooses forgeries of a world.
type chooser struct {
	rng     *rand.Rand
	buckets []string
	rows    map[string][]row // with tags, by bucket
	others  map[string][]row // without, by bucket
	past    []row            // that changed since, or went
}

func newChooser(t *testing.T, w *world, path string, rng *rand.Rand) *chooser {
	t.Helper()
	c := &chooser{rng: rng, rows: make(map[string][]row), others: make(map[string][]row)}
	now := make(map[string]string)
	for _, r := range rowsOf(t, path, w.image) {
		now[r.bucket+string(r.key)] = string(r.value)
		if tagged(r) {
			c.rows[r.bucket] = append(c.rows[r.bucket], r)
		} else {
			c.others[r.bucket] = append(c.others[r.bucket], r)
		}
	}
	for _, r := range rowsOf(t, path, w.before) {
		if tagged(r) && now[r.bucket+string(r.key)] != string(r.value) {
			c.past = append(c.past, r)
		}
	}
	for b := range c.rows {
		c.buckets = append(c.buckets, b)
	}
	slices.Sort(c.buckets)
	return c
}

func (c *chooser) pick(rows []row) row { return rows[c.rng.IntN(len(rows))] }

// other picks another row than r, or returns r where that is the only one.
func (c *chooser) other(rows []row, r row) row {
	at := slices.IndexFunc(rows, func(o row) bool { return bytes.Equal(o.key, r.key) })
	return rows[(at+1+c.rng.IntN(max(1, len(rows)-1)))%len(rows)]
}

// choose returns the forgery of a number: the kinds of forgery take turns, and the
// buckets for each kind.
func (c *chooser) choose(n int) forgery {
	const kinds = 14
	turn := n / kinds
	rows := c.rows[c.buckets[turn%len(c.buckets)]]
	r := c.pick(rows)
	switch n % kinds {
	case 0, 1:
		o := c.other(rows, r)
		switch {
		case bytes.Equal(o.key, r.key):
			return c.change(r)
		case n%kinds == 0 && !bytes.Equal(o.value, r.value):
			return exchange(r, o)
		default:
			return copyTo(r, o.key)
		}
	case 2:
		key := bytes.Clone(r.key)
		key[len(key)-1] ^= byte(1 + c.rng.IntN(255))
		return copyTo(r, key)
	case 3:
		return removal(r)
	case 4:
		return replay(c.pick(c.past))
	case 5:
		return cutTag(r)
	case 6:
		return setBack([]string{"accounts", "tokens", "sessions", "outbox", "hooks"}[turn%5])
	case 7:
		return give(c.pick(c.others["owners"]))
	case 8:
		return hasten(c.pick(c.others["expiry"]))
	case 9:
		return orphan(c.pick(c.rows["grant_pushes"]))
	default:
		return c.change(r)
	}
}

func (c *chooser) change(r row) forgery {
	return changeByte(r, c.rng.IntN(len(r.value)), byte(1+c.rng.IntN(255)))
}

// all returns every change of one byte.
func (c *chooser) all(yield func(forgery) bool) {
	for _, b := range c.buckets {
		for _, r := range c.rows[b] {
			for at := range r.value {
				if !yield(changeByte(r, at, byte(1+c.rng.IntN(255)))) {
					return
				}
			}
		}
	}
}

// ask asks a store all that it tells, and returns the answers. Questions that change
// something come last.
func (w *world) ask(f *storetest.Fixture) map[string]any {
	answers := make(map[string]any)
	note := func(answer any, err error, question string, of any) {
		if err != nil {
			answer = err
		}
		answers[fmt.Sprintf("%s of %v", question, of)] = answer
	}
	w.askAccounts(f, note)
	w.askPushes(f, note)
	_, err := f.Sweep(ctx)
	note(nil, err, "sweep", "all")
	for n, p := range w.pushes { // without the passphrase, which is answered at once
		got, err := f.Retrieve(ctx, storetest.Anonymous, p.Link(), secret.Text{}, nil)
		got.Grant = secret.Text{} // which is another each time
		note(got, err, "retrieval", n)
		for i := range p.Files {
			content, err := storetest.Download(f, secret.New(p.Grant), i)
			note(content, err, fmt.Sprintf("file %d", i), n)
		}
	}
	return answers
}

// note notes the answer to a question, or its error.
type note func(answer any, err error, question string, of any)

func (w *world) askAccounts(f *storetest.Fixture, note note) {
	accounts, err := f.Accounts(ctx)
	note(accounts, err, "accounts", "all")
	events, err := f.AdminEvents(ctx, time.Time{}, 0, 100)
	note(events, err, "events", "all")
	for _, route := range []record.Route{record.ByMail, record.ByWebhook} {
		due, _, err := f.DueMessages(ctx, record.MessageQuery{Route: route, Limit: 100, Until: f.Clock.Now().Add(time.Hour)})
		note(due, err, "messages", route)
	}
	for _, a := range w.accounts {
		owner, token, err := f.Authenticate(ctx, storetest.Anonymous, secret.New(a.Token))
		note([]any{owner, token}, err, "API token", a.Email)
		session, err := f.Resume(ctx, secret.New(a.Session))
		note(session, err, "session", a.Email)
		sessions, err := f.Sessions(ctx, secret.New(a.Session))
		note(sessions, err, "sessions", a.Email)
		tokens, err := f.Tokens(ctx, a.Email)
		note(tokens, err, "API tokens", a.Email)
		hooks, err := f.Hooks(ctx, a.Email)
		note(hooks, err, "webhooks", a.Email)
		requests, err := f.Requests(ctx, w.by[a.Email], 1)
		note(requests, err, "requests", a.Email)
		for _, live := range []bool{true, false} {
			list, err := f.Pushes(ctx, w.by[a.Email], live, 1)
			note(list, err, fmt.Sprintf("pushes (live: %t)", live), a.Email)
		}
	}
}

func (w *world) askPushes(f *storetest.Fixture, note note) {
	for n, p := range w.pushes {
		seen, err := f.Look(ctx, p.Link())
		note(seen, err, "preview", n)
		if p.Owner != "" {
			h, err := f.History(ctx, w.by[p.Owner], p.Link(), 1)
			note(h, err, "history", n)
		}
	}
}
