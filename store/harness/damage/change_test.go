package damage

import (
	"bytes"
	"errors"

	"pushbox/internal/secret"
	"pushbox/store"
	"pushbox/store/record"
	"pushbox/store/seal"
	"pushbox/store/storetest"
)

// members reads the data of accounts.
func (r *damagedStore) members() {
	for _, k := range []knownAccount{r.ann, r.bob} {
		r.guarded("authenticate", func() error {
			a, _, err := r.Authenticate(r.ctx, storetest.Anonymous, secret.New(k.Token))
			r.differ(err != nil || a.Email == k.Email, "an API token is of another account")
			return err
		})
		r.guarded("resume", func() error {
			info, err := r.Resume(r.ctx, secret.New(k.Session))
			r.differ(err != nil || info.Email == k.Email, "a session is of another account")
			return err
		})
		r.guarded("sessions", func() error {
			_, err := r.Sessions(r.ctx, secret.New(k.Session))
			return err
		})
		r.guarded("tokens", func() error {
			list, err := r.Tokens(r.ctx, k.Email)
			r.differ(err != nil || len(list) == 1, "%d API tokens are listed", len(list))
			return err
		})
	}
	r.guarded("accounts", func() error {
		list, err := r.Accounts(r.ctx)
		r.differ(err != nil || len(list) == 3, "%d accounts are listed", len(list))
		return err
	})
}

// secrets tries unknown secrets, and a wrong password.
func (r *damagedStore) secrets() {
	if _, _, err := r.Authenticate(r.ctx, storetest.Anonymous, seal.NewAPIToken()); err == nil {
		r.never("an API token that was never made is accepted")
	} else if !errors.Is(err, record.ErrToken) {
		r.guarded("authenticate", func() error { return err })
	}
	if _, err := r.Resume(r.ctx, secret.New("a session that never was")); err == nil {
		r.never("a session that never began goes on")
	}
	if !r.costly {
		return
	}
	for _, k := range []knownAccount{r.ann, r.bob} {
		if _, err := r.SignIn(r.ctx, storetest.Anonymous, k.Email, secret.New("another password")); err == nil {
			r.never("a wrong password is accepted")
		}
		r.guarded("sign in", func() error {
			n, err := r.SignIn(r.ctx, storetest.Anonymous, k.Email, secret.New(storetest.Password))
			r.differ(err != nil || n.Email == k.Email, "a password opens another account")
			return err
		})
	}
}

// create creates another push, which must then exist.
func (r *damagedStore) create() {
	var p store.PushInfo
	err := r.guarded("create", func() (err error) {
		p, err = r.CreatePush(r.ctx, r.ann.by, store.NewPush{Kind: record.Text, Payload: secret.New("new"), Name: secret.New("new")})
		return err
	})
	if err == nil {
		r.retrieve(knownPush{Sent: storetest.Sent{Payload: "new", Name: "the new push"}, token: p.Token})
	}
}

// upload stores a file, which must then exist.
func (r *damagedStore) upload() {
	want := storetest.Content(7, 5000)
	var p store.PushInfo
	err := r.guarded("upload", func() (err error) {
		u := r.NewUpload(r.Policy(""))
		if err := u.Add(r.ctx, bytes.NewReader(want)); err != nil {
			return errors.Join(err, u.Close(r.ctx))
		}
		p, err = r.CreatePush(r.ctx, r.bob.by, store.NewPush{Kind: record.File, Files: u})
		return errors.Join(err, u.Close(r.ctx))
	})
	if err == nil {
		r.retrieve(knownPush{Sent: storetest.Sent{Name: "the new push with a file"}, token: p.Token, files: [][]byte{want}})
	}
}

// end deletes pushes and edits others. A deleted push must not be delivered.
func (r *damagedStore) end() {
	for i, k := range r.pushes {
		if !k.special() || k.Owner != r.ann.Email {
			continue
		}
		if i%2 == 0 {
			r.guarded("edit", func() error {
				_, err := r.EditPush(r.ctx, r.ann.by, k.token, store.PushEdit{Views: new(50)})
				if invalid := (*record.InvalidError)(nil); errors.As(err, &invalid) { // where the views that it counts are too many
					return nil
				}
				return err
			})
			continue
		}
		err := r.guarded("delete", func() error {
			_, err := r.DeletePush(r.ctx, r.ann.by, k.token)
			return err
		})
		if err != nil {
			continue
		}
		got, err := r.Retrieve(r.ctx, storetest.Anonymous, k.token, secret.New(k.Passphrase), nil)
		if err == nil && (got.Live() || !got.Payload.IsZero()) {
			r.never("%s was deleted and is delivered", k.Name)
		}
	}
}

// sweep sweeps now, and sometimes at a later time, when more is due.
func (r *damagedStore) sweep() {
	for range 1 + r.rng.IntN(2) {
		r.guarded("sweep", func() error {
			_, err := r.Sweep(r.ctx)
			return err
		})
		r.clock.Advance(day / 2)
	}
}

// administer does rare operations of administrators.
func (r *damagedStore) administer() {
	switch r.rng.IntN(12) {
	case 0:
		r.guarded("compact", func() error {
			_, _, err := r.Compact(r.ctx, storetest.Operator, func(int64, int64) {})
			return err
		})
	case 1:
		r.guarded("remove an account", func() error { return r.RemoveAccount(r.ctx, storetest.Operator, r.bob.Email) })
	case 2:
		r.guarded("make a token", func() error {
			_, err := r.CreateToken(r.ctx, storetest.Operator, r.bob.Email, store.TokenTerms{Label: "new"})
			return err
		})
	case 3:
		r.guarded("disable", func() error { return r.SetDisabled(r.ctx, storetest.Operator, r.bob.Email, true) })
	case 4:
		r.guarded("end a session", func() error { return r.SignOut(r.ctx, store.Actor{}, secret.New(r.ann.Session)) })
	}
}
