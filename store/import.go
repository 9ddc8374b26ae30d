package store

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"pushbox/internal/secret"
	"pushbox/store/clock"
	"pushbox/store/cold"
	"pushbox/store/record"
	"pushbox/store/seal"
)

// An ImportedPush is a live push of another server. Its limits are the original ones: Terms do not
// bound them.
type ImportedPush struct {
	Token      Token // its url_token there
	Owner      record.AccountID
	Kind       record.Kind
	Payload    secret.Text
	Files      *Upload // by NewImportedUpload with the same token; nil: none
	Passphrase secret.Text
	Name, Note secret.Text

	CreatedAt         time.Time
	Days, Views       int // the limits
	RetrievalStep     bool
	DeletableByViewer bool

	// Log is its audit log there, oldest first. Each EntryView counts a view.
	Log []LogEntry
}

// ErrEnded says that a push to import has reached a limit.
var ErrEnded = errors.New("the push has ended")

// Limits of an imported push. Every server accepts a push within them.
const (
	maxImportedDays  = 100 * 365
	maxImportedViews = 1_000_000
	maxImportedLog   = 50_000 // entries, and so views

	minImportedTOTP = 10 // bytes, of the secret of a second factor
	maxImportedTOTP = 128
)

// ImportPush keeps a push of another server under its url_token there. It is durable
// when ImportPush returns.
//
// Errors: ErrExists if the push was imported before, even if it has ended since;
// ErrEnded if it has reached a limit; *InvalidError; ErrFull; ErrToken if the owner may
// not act; ErrDenied for a client; ErrClock while the clock is in doubt.
func (s *Store) ImportPush(ctx context.Context, by Actor, in ImportedPush) error {
	return s.keeping(ctx, func(ctx context.Context) error { return s.importPush(ctx, by, in) })
}

func (s *Store) importPush(ctx context.Context, by Actor, in ImportedPush) error {
	at := s.time.Read()
	id := s.id(in.Token)
	switch {
	case !by.administers() || !id.Imported():
		return record.ErrDenied
	case at.Jumped:
		return record.ErrClock
	case in.Files != nil && in.Files.broken:
		return errBroken
	}
	if there, err := s.Imported(ctx, in.Token); there || err != nil { // before the passphrase is hashed
		return cmp.Or(err, record.ErrExists)
	}
	p, err := in.record(id, at)
	if err != nil {
		return err
	}
	dek := seal.NewDEK()
	if in.Files != nil {
		dek = in.Files.dek
	}
	payload, err := s.sealPush(ctx, by, &p, in.Token, dek, NewPush{
		Kind: in.Kind, Payload: in.Payload, Files: in.Files, Passphrase: in.Passphrase, Name: in.Name, Note: in.Note,
	}, at.Now)
	if err != nil {
		return err
	}
	p.Size = int64(len(payload) + len(p.Details))
	if _, err := s.engine.CreatePush(ctx, p, payload, s.importLog(&p, in)); err != nil {
		return err
	}
	if in.Files != nil {
		in.Files.kept = p.HoldsFiles()
	}
	return nil
}

// CheckImport returns the error that ImportPush would, as far as it depends on the push and the
// sizes of its files, which replace in.Files: ErrExists, ErrEnded, ErrFileSize, *InvalidError or
// ErrClock. It changes nothing.
func (s *Store) CheckImport(ctx context.Context, in ImportedPush, sizes []int64) error {
	if there, err := s.Imported(ctx, in.Token); there || err != nil {
		return cmp.Or(err, record.ErrExists)
	}
	u := Upload{store: s, policy: s.Policy("")}
	for _, size := range sizes {
		if err := u.mayAdd(); err != nil {
			return err
		}
		if size > s.options().Files.MaxSize {
			return record.ErrFileSize
		}
		u.files = append(u.files, FileInfo{Size: size})
	}
	if in.Files = nil; len(sizes) > 0 {
		in.Files = &u
	}
	_, err := in.record(s.id(in.Token), s.time.Read())
	return err
}

// Imported reports whether a push was imported, even if it has ended since.
func (s *Store) Imported(ctx context.Context, t Token) (bool, error) {
	_, err := s.push(ctx, s.id(t))
	return err == nil, instead(err, record.ErrNotFound, nil)
}

// record makes the record of the push, without its sealed parts and its log.
func (in ImportedPush) record(id record.ID, at clock.Instant) (record.Push, error) {
	var bad record.InvalidError
	between := func(field string, n, most int) {
		if n < 1 || n > most {
			bad.Add(field, "must be between 1 and "+strconv.Itoa(most))
		}
	}
	between(FieldDays, in.Days, maxImportedDays)
	between(FieldViews, in.Views, maxImportedViews)
	checkLength(FieldPassphrase, in.Passphrase.Len(), MaxPassphrase, &bad)
	checkLength(FieldName, in.Name.Len(), MaxName, &bad)
	checkLength(FieldNote, in.Note.Len(), MaxNote, &bad)
	checkPayload(NewPush{Kind: in.Kind, Payload: in.Payload, Files: in.Files}, &bad)
	if in.Kind.String() == "" {
		bad.Add(FieldKind, "must be one of "+record.KindNames("and"))
	}
	if slices.ContainsFunc(in.Log, func(e LogEntry) bool { return e.Kind.String() == "" }) {
		bad.Add("log", "has an entry of an unknown kind")
	}
	if len(in.Log) > maxImportedLog {
		bad.Add("log", "is too long (maximum is "+strconv.Itoa(maxImportedLog)+" entries)")
	}
	if err := bad.Err(); err != nil {
		return record.Push{}, err
	}
	created := in.CreatedAt.UTC().Truncate(time.Millisecond)
	p := record.Push{
		ID: id, Kind: in.Kind, State: record.Live, Owner: in.Owner,
		CreatedAt: created, UpdatedAt: created, ExpiresAt: created.Add(time.Duration(in.Days) * record.Day),
		Days: in.Days, ViewLimit: in.Views, Views: in.views(),
		RetrievalStep: in.RetrievalStep, DeletableByViewer: in.DeletableByViewer && in.Kind != record.URL,
		Protected: !in.Passphrase.IsZero(), ClientEncrypted: isEnvelope(in.Kind, in.Payload),
	}
	over, doubtful := isDue(p, at)
	switch {
	case doubtful:
		return record.Push{}, record.ErrClock
	case over || p.ViewsRemaining() == 0:
		return record.Push{}, ErrEnded
	}
	return p, nil
}

// views counts the views in the log.
func (in ImportedPush) views() (n int) {
	for _, e := range in.Log {
		if e.Kind == record.EntryView {
			n++
		}
	}
	return n
}

// importLog returns the entries of the push and counts them in the record. The first one is always
// the creation. As in every log, the oldest minor entries stay.
func (s *Store) importLog(p *record.Push, in ImportedPush) record.Entry {
	first := LogEntry{Kind: record.EntryCreation, At: p.CreatedAt}
	rest := in.Log
	if len(rest) > 0 && rest[0].Kind == record.EntryCreation {
		first, rest = rest[0], rest[1:]
	}
	e := s.importEntry(p, first)
	for _, l := range rest {
		before := p.Seq
		if next := s.importEntry(p, l); p.Seq > before {
			e.Then = append(e.Then, next)
		}
	}
	return e
}

// importEntry seals an entry and counts it in the record.
func (s *Store) importEntry(p *record.Push, l LogEntry) record.Entry {
	at := l.At.UTC().Truncate(time.Millisecond)
	logEntry(p, l.Kind, clock.Instant{Now: at})
	by := Actor{IP: l.IP, UserAgent: l.UserAgent, Referrer: l.Referrer}
	var more []string
	if l.Kind == record.EntryMail || !l.Recipients.IsZero() {
		more = []string{l.Recipients.Reveal()}
	}
	return record.Entry{Kind: l.Kind, At: at, Sealed: s.sealActor(p.ID, by, more...)}
}

// NewImportedUpload is NewUpload for a push that ImportPush will keep under that token.
func (s *Store) NewImportedUpload(t Token) *Upload { return s.newUpload(t, s.Policy("")) }

// An ImportedAccount is an account of another server.
type ImportedAccount struct {
	Email     string
	Bcrypt    string      // the hash of its password; the first sign-in replaces it
	TOTP      secret.Text // the secret of its second factor in base32; empty: it has none
	Admin     bool        // it is an administrator
	CreatedAt time.Time
}

// ImportAccount adds an account of another server, without recovery codes. ErrExists if
// the address is taken; *InvalidError; ErrDenied for a client.
func (s *Store) ImportAccount(ctx context.Context, by Actor, in ImportedAccount) (record.Account, error) {
	if !by.administers() {
		return record.Account{}, record.ErrDenied
	}
	a, key, err := in.record()
	if err != nil {
		return record.Account{}, err
	}
	if a.ID, err = s.as(by).createAccount(ctx, a); err != nil || key == nil {
		return a, err
	}
	return s.changeAccount(ctx, by, a.Email, record.AdminFactorAdd, record.SessionChange{Revoke: record.RevokeOthers}, func(a *record.Account) { a.TOTP = s.sealTOTP(a.ID, key) })
}

// Check returns the *InvalidError that ImportAccount would.
func (in ImportedAccount) Check() error {
	_, _, err := in.record()
	return err
}

// record makes the record of the account, and returns the secret of its second factor.
func (in ImportedAccount) record() (a record.Account, totp []byte, err error) {
	var bad record.InvalidError
	a = record.Account{Email: cleanEmail(in.Email, &bad), PasswordHash: in.Bcrypt, Admin: in.Admin, CreatedAt: in.CreatedAt.UTC().Truncate(time.Millisecond)}
	if !seal.IsBcrypt(in.Bcrypt) {
		bad.Add(FieldPassword, "must be a bcrypt hash with a usual cost")
	}
	if !in.TOTP.IsZero() {
		totp, err = totpEncoding.DecodeString(strings.ToUpper(strings.TrimRight(in.TOTP.Reveal(), "=")))
		if err != nil || len(totp) < minImportedTOTP || len(totp) > maxImportedTOTP {
			bad.Add("second factor", "must be a secret in base32 with a usual length")
		}
	}
	return a, totp, bad.Err()
}

// ImportToken keeps an API token of another server for an account. ErrExists if it is
// there already; ErrNotFound if there is no such account; ErrDenied for a client.
func (s *Store) ImportToken(ctx context.Context, by Actor, owner record.Account, token secret.Text, label string, created time.Time) error {
	if !by.administers() {
		return record.ErrDenied
	}
	t := record.APIToken{Digest: seal.Digest(token), Owner: owner.ID, Label: label, Scopes: record.AllScopes, CreatedAt: created.UTC().Truncate(time.Millisecond)}
	_, err := s.as(by).createToken(ctx, owner.Email, t)
	return err
}

// AccountByEmail returns the account of an address, or ErrNotFound.
func (s *Store) AccountByEmail(ctx context.Context, email string) (record.Account, error) {
	return s.account(ctx, email)
}

// HasToken reports whether there is an API token with that secret, valid or not.
func (s *Store) HasToken(ctx context.Context, token secret.Text) (bool, error) {
	_, _, err := cold.Token(ctx, s.engine, seal.Digest(token))
	return err == nil, instead(err, record.ErrNotFound, nil)
}

// NoteImport writes to the instance log what was imported.
func (s *Store) NoteImport(ctx context.Context, by Actor, detail string) error {
	if !by.administers() {
		return record.ErrDenied
	}
	return s.as(by).note(ctx, record.AdminImport, matter{detail: detail})
}
