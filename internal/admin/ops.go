package admin

import (
	"context"
	"errors"
	"path/filepath"

	"pushbox/internal/durable"
	"pushbox/store"
	"pushbox/store/record"
)

// The operations on accounts.
var (
	// UserAdd adds an account: *record.InvalidError, record.ErrExists.
	UserAdd = Op[Credentials, User]{name: "user/add", do: userAdd}
	// UserList lists every account, oldest first.
	UserList = Op[None, []User]{name: "user/list", do: userList, reads: true}
	// UserPasswd replaces a password and ends the account's sessions and API tokens:
	// *record.InvalidError, record.ErrNotFound.
	UserPasswd = change("user/passwd", func(ctx context.Context, s *store.Store, in Credentials) error {
		return s.SetPassword(ctx, operator, in.Email, in.Password.Text, !in.KeepTokens)
	})
	// UserResetMFA removes an account's second factor: record.ErrNotFound.
	UserResetMFA = onAccount("user/reset-mfa", (*store.Store).ResetFactors)
	// UserInvite adds an account without a password, and makes the link that sets one:
	// *record.InvalidError, record.ErrExists.
	UserInvite = Op[Invitation, PasswordLink]{name: "user/invite", do: userInvite}
	// UserMailLink mails a link that sets the password of an account: record.ErrNotFound,
	// record.ErrDenied if it may not act, *record.InvalidError if no mail is sent there,
	// *record.QuotaError.
	UserMailLink = change("user/mail-link", func(ctx context.Context, s *store.Store, in MailedLink) error {
		return s.MailPasswordLink(ctx, operator, in.Email, in.Base, "")
	})
	// UserUnlink removes the links of an account to sign-in providers: record.ErrNotFound,
	// record.ErrLastAdmin if the last administrator could no longer sign in.
	UserUnlink = onAccount("user/unlink", (*store.Store).Unlink)
	// UserPasswordLink makes a link that sets the password of an account: record.ErrNotFound,
	// record.ErrDenied for one that is disabled.
	UserPasswordLink = Op[Address, PasswordLink]{name: "user/password-link", do: userPasswordLink}
	// UserRole makes an account an administrator or a member: record.ErrNotFound,
	// record.ErrLastAdmin.
	UserRole = change("user/role", func(ctx context.Context, s *store.Store, in Role) error {
		return s.SetAdmin(ctx, operator, in.Email, in.Admin, in.EvenLast)
	})
	// UserPolicy gives an account a policy, or none: *record.InvalidError, record.ErrNotFound.
	UserPolicy = change("user/policy", func(ctx context.Context, s *store.Store, in NewPolicy) error {
		return s.SetPolicy(ctx, operator, in.Email, in.Policy)
	})
	// UserDisable makes every token and session of an account invalid:
	// record.ErrNotFound, record.ErrLastAdmin.
	UserDisable = change("user/disable", func(ctx context.Context, s *store.Store, in Address) error {
		return s.SetDisabled(ctx, operator, in.Email, true)
	})
	// UserEnable undoes UserDisable: record.ErrNotFound.
	UserEnable = change("user/enable", func(ctx context.Context, s *store.Store, in Address) error {
		return s.SetDisabled(ctx, operator, in.Email, false)
	})
	// UserConfirm makes the address of an account a confirmed one: record.ErrNotFound.
	UserConfirm = onAccount("user/confirm", (*store.Store).ConfirmAccount)
	// UserRename gives an account another address: *record.InvalidError,
	// record.ErrNotFound, record.ErrExists.
	UserRename = change("user/rename", func(ctx context.Context, s *store.Store, in Rename) error {
		return s.RenameAccount(ctx, operator, in.Email, in.To)
	})
	// UserExpirePushes ends all live pushes of an account, and returns how many:
	// record.ErrNotFound.
	UserExpirePushes = Op[Address, Number]{name: "user/expire-pushes", do: userExpirePushes}
	// UserRemove removes an account with its tokens, its pushes and their audit
	// logs: record.ErrNotFound, record.ErrLastAdmin.
	UserRemove = onAccount("user/remove", (*store.Store).RemoveAccount)
)

// The operations on API tokens, and on the whole store.
var (
	// TokenCreate makes a token: *record.InvalidError, record.ErrNotFound, record.ErrTokens.
	TokenCreate = Op[TokenRequest, NewToken]{name: "token/create", do: tokenCreate}
	// TokenList lists an account's tokens, oldest first: record.ErrNotFound.
	TokenList = Op[Address, []Token]{name: "token/list", do: tokenList, reads: true}
	// TokenRevoke ends a token at once: record.ErrNotFound.
	TokenRevoke = change("token/revoke", func(ctx context.Context, s *store.Store, in TokenRef) error {
		return s.RevokeToken(ctx, operator, in.ID)
	})
	// Check reads the whole store and returns a sentence for each problem.
	Check = Op[None, []string]{name: "check", do: check, reads: true}
	// CheckDeep is a Check that also compares all payloads and files with their digests.
	// Its progress is in bytes read.
	CheckDeep = Op[None, DeepResult]{name: "check/deep", long: checkDeep, reads: true}
	// Events lists the instance log, EventsPage events at a time. It lists those before a
	// damaged event before it fails.
	Events = Op[EventQuery, EventList]{name: "events", do: events, reads: true}
	// Compact returns unused space of the database to the file system. Its progress is in
	// bytes copied: record.ErrBusy if a compaction runs, record.ErrFull if there is no room
	// for the copy.
	Compact = Op[None, CompactResult]{name: "compact", long: compact}
	// Purge removes live pushes without an account, and returns their room.
	Purge = Op[store.Purge, record.Room]{name: "purge", do: purge}
	// Backup makes a verified copy of the store in a file beside the database. The caller
	// moves the file away or removes it. Its progress is in bytes copied: record.ErrBusy if
	// a compaction or a backup runs, record.ErrFull if there is no room for the copy.
	Backup = Op[None, store.Backup]{name: "backup", long: backup, asIs: true}
)

// The operations on the master key.
var (
	// KeyID returns the ID of the master key that the store is open under.
	KeyID = Op[None, Key]{name: "key/id", do: keyID, reads: true}
	// CertificateKey returns the public key of certificates.
	CertificateKey = Op[None, PublicKey]{name: "key/certificate", do: certificateKey, reads: true}
	// KeyRotate replaces the master key with a new one, and reseals everything. Its progress is in
	// bytes: record.ErrDenied if the key file cannot be replaced.
	KeyRotate = Op[Rotation, store.KeyRotation]{name: "key/rotate", long: keyRotate}
)

// Reload makes a server read its configuration again, and apply the settings that need no
// restart. Only a server does it: ErrNoServer otherwise.
var Reload = Op[None, Reloaded]{name: "reload"}

// Further operations that only a server does: ErrNoServer otherwise.
var (
	// Health has the store of the server write and read, and returns nil if both work.
	Health = Op[None, None]{name: "health"}
	// Failing lists the webhooks whose last try failed.
	Failing = Op[None, []Receiver]{name: "webhook/failing"}
	// Examine returns the state of the server.
	Examine = Op[None, Facts]{name: "examine"}
	// Probe makes a path for one request within the next minute. The server answers that
	// request with a report of how it arrived: record.ErrBusy if there are many such paths.
	Probe = Op[None, Path]{name: "probe"}
)

// The operations on webhooks.
var (
	// WebhookAdd adds a webhook to an account: *record.InvalidError,
	// record.ErrNotFound, record.ErrToken if the account is disabled.
	WebhookAdd = Op[WebhookRequest, NewWebhook]{name: "webhook/add", do: webhookAdd}
	// WebhookList lists an account's webhooks, oldest first: record.ErrNotFound.
	WebhookList = Op[Address, []Webhook]{name: "webhook/list", do: webhookList, reads: true}
	// WebhookRemove removes a webhook: record.ErrNotFound.
	WebhookRemove = change("webhook/remove", func(ctx context.Context, s *store.Store, in WebhookRef) error {
		return s.RemoveHook(ctx, operator, in.ID)
	})
	// WebhookTarget returns the URL of a webhook and its signing secret:
	// record.ErrNotFound.
	WebhookTarget = Op[WebhookRef, NewWebhook]{name: "webhook/target", do: webhookTarget, reads: true}
	// WebhookEnable resumes sending events to a webhook: record.ErrNotFound.
	WebhookEnable = change("webhook/enable", func(ctx context.Context, s *store.Store, in WebhookRef) error {
		return s.DisableHook(ctx, operator, in.ID, false)
	})
)

// operator is the actor of every operation: only the operator can open the control socket
// and the data directory.
var operator = store.Actor{Role: store.Operator}

// change returns an operation that changes something and has no output.
func change[In any](name string, do func(ctx context.Context, s *store.Store, in In) error) Op[In, None] {
	return Op[In, None]{name: name, do: func(ctx context.Context, s *store.Store, in In) (None, error) { return None{}, do(ctx, s, in) }}
}

// onAccount returns a change of the account with an address, by the method that makes it.
func onAccount(name string, do func(s *store.Store, ctx context.Context, by store.Actor, email string) error) Op[Address, None] {
	return change(name, func(ctx context.Context, s *store.Store, in Address) error { return do(s, ctx, operator, in.Email) })
}

// operations lists every operation that a server does to its store.
func operations() []operation {
	return []operation{
		UserAdd, UserList, UserPasswd, UserResetMFA, UserUnlink, UserInvite, UserPasswordLink, UserMailLink, UserRole, UserPolicy, UserDisable, UserEnable, UserConfirm, UserRename, UserExpirePushes, UserRemove,
		TokenCreate, TokenList, TokenRevoke, Events, Check, CheckDeep, Compact, Backup, Purge,
		KeyID, CertificateKey, KeyRotate,
		WebhookAdd, WebhookList, WebhookRemove, WebhookTarget, WebhookEnable,
	}
}

func userAdd(ctx context.Context, s *store.Store, in Credentials) (User, error) {
	add := s.AddAccount
	if in.Admin {
		add = s.AddAdmin
	}
	a, err := add(ctx, operator, in.Email, in.Password.Text)
	return newUser(a, record.Room{}), err
}

func userList(ctx context.Context, s *store.Store, _ None) ([]User, error) {
	accounts, err := s.Accounts(ctx)
	if err != nil {
		return nil, err
	}
	rooms, err := s.AccountRooms(ctx, each(accounts, func(a record.Account) record.AccountID { return a.ID }))
	return each(accounts, func(a record.Account) User { return newUser(a, rooms[a.ID]) }), err
}

func userInvite(ctx context.Context, s *store.Store, in Invitation) (PasswordLink, error) {
	l, err := s.Invite(ctx, operator, in.Email, in.Admin)
	return PasswordLink{Clear{l.Code}, l.Until}, err
}

func userPasswordLink(ctx context.Context, s *store.Store, in Address) (PasswordLink, error) {
	l, err := s.MakePasswordLink(ctx, operator, in.Email)
	return PasswordLink{Clear{l.Code}, l.Until}, err
}

func userExpirePushes(ctx context.Context, s *store.Store, in Address) (Number, error) {
	n, err := s.ExpirePushes(ctx, operator, in.Email)
	return Number{n}, err
}

func tokenCreate(ctx context.Context, s *store.Store, in TokenRequest) (NewToken, error) {
	t, err := s.CreateToken(ctx, operator, in.Email, in.TokenTerms)
	return NewToken{Token: newToken(t.APIToken), Secret: Clear{t.Secret}}, err
}

func tokenList(ctx context.Context, s *store.Store, in Address) ([]Token, error) {
	tokens, err := s.Tokens(ctx, in.Email)
	return each(tokens, newToken), err
}

func events(ctx context.Context, s *store.Store, in EventQuery) (EventList, error) {
	list, err := s.AdminEvents(ctx, in.Since, in.After, EventsPage)
	out := EventList{Events: each(list, store.AdminEventInfo.Line), More: err != nil || len(list) == EventsPage}
	if len(list) > 0 {
		err = nil // the next call finds it again
	}
	return out, err
}

func check(ctx context.Context, s *store.Store, _ None) ([]string, error) {
	return s.Check(ctx)
}

func compact(ctx context.Context, s *store.Store, _ None, tell Progress) (CompactResult, error) {
	before, after, err := s.Compact(ctx, operator, tell)
	return CompactResult{Before: before, After: after}, err
}

func purge(ctx context.Context, s *store.Store, in store.Purge) (record.Room, error) {
	return s.PurgeAnonymous(ctx, operator, in)
}

func keyID(_ context.Context, s *store.Store, _ None) (Key, error) {
	return Key{ID: s.KeyID()}, nil
}

func certificateKey(_ context.Context, s *store.Store, _ None) (PublicKey, error) {
	_, key := s.Certify(nil)
	return PublicKey{Key: key}, nil
}

func keyRotate(ctx context.Context, s *store.Store, in Rotation, tell Progress) (store.KeyRotation, error) {
	return s.RotateKey(ctx, operator, in.DiscardOld, tell)
}

func checkDeep(ctx context.Context, s *store.Store, _ None, tell Progress) (DeepResult, error) {
	problems, c, err := s.CheckDeep(ctx, tell)
	return DeepResult{Problems: problems, Coverage: c}, err
}

// backup makes a copy. If the caller has left, it removes the copy, which would otherwise stay
// until the next start of the store.
func backup(ctx context.Context, s *store.Store, _ None, tell Progress) (b store.Backup, err error) {
	if b, err = s.Backup(ctx, operator, "", tell); err != nil {
		return b, err
	}
	path, err := filepath.Abs(b.Path) // the caller may be in another directory
	if err = errors.Join(err, ctx.Err()); err != nil {
		return store.Backup{}, errors.Join(err, durable.Scrub(b.Path))
	}
	b.Path = path
	return b, nil
}

func webhookAdd(ctx context.Context, s *store.Store, in WebhookRequest) (NewWebhook, error) {
	var events []record.Event
	for _, name := range in.Events {
		e, ok := store.ParseEvent(name)
		if !ok {
			return NewWebhook{}, errors.New("there is no event of that name")
		}
		events = append(events, e)
	}
	form, ok := record.ParseHookForm(in.Form)
	if !ok && in.Form != "" {
		return NewWebhook{}, errors.New("there is no form of that name")
	}
	h, err := s.AddHook(ctx, operator, in.Email, store.NewHook{URL: in.URL.Text, Form: form, Events: events})
	return NewWebhook{newWebhook(h), Clear{h.Secret}}, err
}

func webhookList(ctx context.Context, s *store.Store, in Address) ([]Webhook, error) {
	hooks, err := s.Hooks(ctx, in.Email)
	return each(hooks, func(h store.HookInfo) Webhook {
		w := newWebhook(h)
		w.Waiting = s.WaitingFor(h.ID)
		return w
	}), err
}

func webhookTarget(ctx context.Context, s *store.Store, in WebhookRef) (NewWebhook, error) {
	h, err := s.Hook(ctx, in.ID)
	return NewWebhook{newWebhook(h), Clear{h.Secret}}, err
}

func each[From, To any](list []From, f func(From) To) []To {
	out := make([]To, len(list))
	for i, v := range list {
		out[i] = f(v)
	}
	return out
}
