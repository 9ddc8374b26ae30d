package pages

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"golang.org/x/crypto/chacha20poly1305"

	"pushbox/internal/limit"
	"pushbox/internal/secret"
	"pushbox/server/action"
	"pushbox/store"
	"pushbox/store/record"
)

// againCookie is the name of a cookie for one push that was just opened. It has the key of the
// view, so that a reload of its page shows the same view and uses no other one.
const againCookie = "again"

// againMemory bounds the bytes of all views that are kept for a reload. One client has an eighth.
const againMemory = 16 << 20

// A keptView is a view that a reload can show.
type keptView struct {
	push   store.Viewing // without its secrets
	sealed []byte        // its secrets, under the key that only the browser has
	until  time.Time
	room   limit.Reservation
}

// viewSecrets are the parts of a view that are sealed.
type viewSecrets struct {
	Payload, Grant string
	FileNames      []string
}

// keptViews are the views of the last moments, in memory alone. A restart forgets them.
type keptViews struct {
	memory *limit.Memory

	mu    sync.Mutex
	views map[[sha256.Size]byte]*keptView // by the digest of the key
	order [][sha256.Size]byte             // oldest first
}

func newKeptViews() *keptViews {
	return &keptViews{memory: limit.NewMemory(againMemory, 0), views: make(map[[sha256.Size]byte]*keptView)}
}

// keep seals a view and keeps it for a while. It returns its key; zero if there is no room.
func (k *keptViews) keep(by limit.Holder, v store.Viewing, window time.Duration) secret.Text {
	hidden := viewSecrets{Payload: v.Payload.Reveal(), Grant: v.Grant.Reveal()}
	kept := &keptView{push: v, until: v.At.Add(window), room: k.memory.Reserve(by)}
	kept.push.Payload, kept.push.Grant, kept.push.Mark = secret.Text{}, secret.Text{}, secret.Text{}
	kept.push.Files, kept.push.Token = nil, store.Token{}
	for _, f := range v.Files {
		hidden.FileNames = append(hidden.FileNames, f.Name.Reveal())
		f.Name = secret.Text{}
		kept.push.Files = append(kept.push.Files, f)
	}
	plain, err := json.Marshal(hidden)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.forget(v.At)
	if err != nil || kept.room.Resize(context.Background(), int64(len(plain))) != nil {
		return secret.Text{}
	}
	key := make([]byte, chacha20poly1305.KeySize)
	_, _ = rand.Read(key)                  // never fails: crypto/rand ends the program instead
	cipher, _ := chacha20poly1305.New(key) // it has the right length
	kept.sealed = cipher.Seal(nil, make([]byte, chacha20poly1305.NonceSize), plain, nil)
	digest := sha256.Sum256(key)
	k.views[digest], k.order = kept, append(k.order, digest)
	return secret.New(base64.RawURLEncoding.EncodeToString(key))
}

// forget drops the views whose time is over at an instant. The caller holds the lock.
func (k *keptViews) forget(at time.Time) {
	for len(k.order) > 0 && !at.Before(k.views[k.order[0]].until) {
		k.views[k.order[0]].room.Release()
		delete(k.views, k.order[0])
		k.order = k.order[1:]
	}
}

// show returns a view that was kept for a push, if now, how the push is found, still allows it.
func (k *keptViews) show(key secret.Text, now store.PushInfo) (v store.Viewing, ok bool) {
	raw, err := base64.RawURLEncoding.DecodeString(key.Reveal())
	if err != nil || len(raw) != chacha20poly1305.KeySize {
		return v, false
	}
	k.mu.Lock()
	k.forget(now.At)
	kept := k.views[sha256.Sum256(raw)]
	k.mu.Unlock()
	if kept == nil || kept.push.ID != now.ID || now.State == record.Deleted || !now.At.Before(now.ExpiresAt) {
		return v, false
	}
	var hidden viewSecrets
	cipher, _ := chacha20poly1305.New(raw)
	plain, err := cipher.Open(nil, make([]byte, chacha20poly1305.NonceSize), kept.sealed, nil)
	if err != nil || json.Unmarshal(plain, &hidden) != nil {
		return v, false
	}
	v = kept.push
	v.Token, v.Payload, v.Grant = now.Token, secret.New(hidden.Payload), secret.New(hidden.Grant)
	v.Files = make([]store.FileInfo, len(hidden.FileNames))
	for i, f := range kept.push.Files {
		v.Files[i] = store.FileInfo{Name: secret.New(hidden.FileNames[i]), ContentType: f.ContentType, Size: f.Size}
	}
	return v, true
}

// keep keeps a view that was counted, and returns the cookie that shows it again; nil: none is kept.
func (s *Set) keep(r *action.Request, v store.Viewing) *http.Cookie {
	window := s.Config.ReloadWindow
	if window == 0 || owns(r, v.PushInfo) {
		return nil
	}
	key := s.kept.keep(r.Holder(), v, window)
	if key.IsZero() {
		return nil
	}
	c := r.NewPathCookie(againCookie, key.Reveal())
	c.MaxAge = int(window.Seconds())
	return c
}

// justOpened returns the view that this browser has just had of the push, if it was kept.
func (s *Set) justOpened(r *action.Request) (v store.Viewing, ok bool) {
	c, err := r.PathCookie(againCookie)
	if err != nil {
		return v, false
	}
	now, err := s.Store.Preview(r.Context(), r.URLToken)
	if err != nil || s.Store.Admits(r.Actor, now.Push) != nil {
		return v, false
	}
	return s.kept.show(secret.New(c.Value), now)
}
