package pwpush

import (
	"errors"
	"slices"
	"time"

	"pushbox/internal/secret"
)

// A Row is a row of Password Pusher's database: a User, Push, Entry, Blob or Attachment.
type Row any

// A User is a row of users.
type User struct {
	ID       int64
	Email    string
	Password secret.Text // its bcrypt hash
	Token    secret.Text // for the API; empty: none
	Admin    bool
	// Unconfirmed says that the address had to be confirmed, and was not: the account could
	// not sign in.
	Unconfirmed bool
	Locked      bool   // after too many wrong passwords, until mail unlocks it
	Language    string // that mails have; empty: the default one
	MFA         bool   // a code is asked for
	TOTP        Sealed // the secret of the codes, in base32
	CreatedAt   time.Time
}

// A Ref names a push. Before version 1.56 each kind had a table of its own.
type Ref struct {
	Table string // pushes, passwords, file_pushes or urls
	ID    int64
}

// A Push is a row of pushes, or of the older tables. One that has expired has no payload, no
// passphrase and no files.
type Push struct {
	Ref

	Kind      string      // text, file, url or qr
	URLToken  secret.Text // 11 to 19 characters: a to z, 0 to 9, - and _
	UserID    int64       // 0: an anonymous client's
	CreatedAt time.Time
	UpdatedAt time.Time

	Days      int // from CreatedAt; 0: none stored
	Views     int // how many it may have; 0: none stored
	Expired   bool
	ExpiredAt time.Time
	Deleted   bool // by a person; since version 1.56 an Entry of kind expire says so

	DeletableByViewer bool
	RetrievalStep     bool

	Name                      secret.Text
	Payload, Note, Passphrase Sealed
}

// ExpiresAt is when the time limit ends the push.
func (p Push) ExpiresAt() time.Time { return p.CreatedAt.AddDate(0, 0, p.Days) }

// Live reports whether Password Pusher would still deliver the push, with so many entries
// that count. It may not have marked it as expired yet.
func (p Push) Live(at time.Time, counted int) bool {
	return !p.Expired && !p.Deleted && at.Before(p.ExpiresAt()) && counted < p.Views
}

// An Entry is a row of audit_logs, or of the older table views. It counts by its push and its
// kind, also where the rest of it cannot be read.
type Entry struct {
	ID        int64
	Push      Ref
	Kind      string // one of entryKinds
	UserID    int64  // 0: an anonymous client
	IP        string // this and the other texts may not be in UTF-8
	UserAgent string
	Referrer  string
	CreatedAt time.Time // zero: it cannot be read
}

// Counts reports whether Password Pusher counts the entry against the view limit.
func (e Entry) Counts() bool { return e.Kind == "view" || e.Kind == "failed_view" }

// A Blob is a row of active_storage_blobs: a file.
type Blob struct {
	ID          int64
	Key         string // names it in the storage
	Filename    string
	ContentType string
	Size        int64
	MD5         string // of the content, in base64
	Service     string // where it is: local, amazon, google, microsoft, ...
}

// An Attachment is a row of active_storage_attachments: a file of a push.
type Attachment struct {
	ID     int64
	Push   Ref
	BlobID int64
}

// A table is a table that matters.
type table struct {
	needs []string // columns without which a row means nothing
	row   func(*record) Row
}

// limited are the columns that every table of pushes has.
var limited = []string{"id", "url_token", "expire_after_days", "expire_after_views", "expired", "created_at", "user_id", "payload_ciphertext"}

// tables are all tables that matter.
var tables = map[string]table{
	"users":                      {[]string{"id", "email", "encrypted_password"}, (*record).user},
	"pushes":                     {append([]string{"kind"}, limited...), func(r *record) Row { return r.push(r.word("kind", kinds)) }},
	"passwords":                  {limited, func(r *record) Row { return r.push("text") }},
	"file_pushes":                {limited, func(r *record) Row { return r.push("file") }},
	"urls":                       {limited, func(r *record) Row { return r.push("url") }},
	"audit_logs":                 {[]string{"id", "push_id", "kind", "created_at"}, (*record).entry},
	"views":                      {[]string{"id", "password_id", "successful", "created_at"}, (*record).view},
	"active_storage_blobs":       {[]string{"id", "key", "filename", "byte_size"}, (*record).blob},
	"active_storage_attachments": {[]string{"id", "record_type", "record_id", "blob_id"}, (*record).attachment},
}

func matters(name string) bool {
	_, ok := tables[name]
	return ok
}

func missing(name string, columns []string) error {
	for _, c := range tables[name].needs {
		if !slices.Contains(columns, c) {
			return errors.New("there is no column " + c + ": no supported version of Password Pusher has such a table")
		}
	}
	return nil
}

// The words for the numbers in the columns named kind.
var (
	kinds      = []string{"text", "file", "url", "qr"}
	entryKinds = []string{"creation", "view", "failed_view", "expire", "failed_passphrase", "admin_view", "owner_view", "edit", "creation_email_send"}
)

func (r *record) word(column string, words []string) string {
	n := r.int(column)
	if n < 0 || n >= int64(len(words)) || r.get(column).null {
		r.wrong(column, errors.New("is a number that Password Pusher 2.11 does not have"))
		return ""
	}
	return words[n]
}

func (r *record) user() Row {
	return User{
		ID: r.id("id"), Email: r.text("email"), Password: r.secret("encrypted_password"), Token: r.secret("authentication_token"),
		Admin: r.bool("admin"), Unconfirmed: r.time("confirmed_at").IsZero() && r.text("confirmation_token") != "", Locked: !r.time("locked_at").IsZero(), Language: r.text("preferred_language"),
		MFA: r.bool("otp_required_for_login"), TOTP: r.sealed("otp_secret_ciphertext"), CreatedAt: r.time("created_at"),
	}
}

func (r *record) push(kind string) Row {
	return Push{
		Ref: Ref{r.table, r.id("id")}, Kind: kind, URLToken: r.urlToken(), UserID: r.int("user_id"),
		CreatedAt: r.must("created_at"), UpdatedAt: r.time("updated_at"),
		Days: r.count("expire_after_days"), Views: r.count("expire_after_views"),
		Expired: r.bool("expired"), ExpiredAt: r.time("expired_on"), Deleted: r.bool("deleted"),
		DeletableByViewer: r.bool("deletable_by_viewer"), RetrievalStep: r.bool("retrieval_step"), Name: r.secret("name"),
		Payload: r.sealed("payload_ciphertext"), Note: r.sealed("note_ciphertext"), Passphrase: r.sealed("passphrase_ciphertext"),
	}
}

func (r *record) must(column string) time.Time {
	t := r.time(column)
	if t.IsZero() {
		r.wrong(column, errors.New("is not a time"))
	}
	return t
}

// urlToken returns the url_token, of the characters that Password Pusher draws. Longer ones
// than it draws are taken, too.
func (r *record) urlToken() secret.Text {
	const most = 255 // bytes, as the column in MySQL
	t := r.text("url_token")
	for _, c := range t {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_' {
			t = ""
			break
		}
	}
	if t == "" || len(t) > most {
		r.wrong("url_token", errors.New("is not a url_token"))
		return secret.Text{}
	}
	r.token = secret.New(t)
	return r.token
}

// entry returns nil for a row of a push that is gone.
func (r *record) entry() Row {
	if !r.belongs("pushes", "push_id") {
		return nil
	}
	e := Entry{ID: r.id("id"), Push: r.of, Kind: r.word("kind", entryKinds)}
	r.describe(&e)
	return e
}

// describe sets what an entry says beside its push and its kind, as far as that can be read.
func (r *record) describe(e *Entry) {
	strict := r.err
	e.UserID, e.IP, e.UserAgent, e.Referrer, e.CreatedAt = r.int("user_id"), r.get("ip").text, r.get("user_agent").text, r.get("referrer").text, r.time("created_at")
	r.err = strict
}

// view returns a row of the older table as the entry that Password Pusher 1.56 made of it;
// nil for other rows than those of views and deletes, and for those of a push that is gone.
func (r *record) view() Row {
	if !r.belongs("passwords", "password_id") && !r.belongs("file_pushes", "file_push_id") && !r.belongs("urls", "url_id") {
		return nil
	}
	e := Entry{ID: r.id("id"), Push: r.of}
	r.describe(&e)
	switch kind := r.int("kind"); {
	case kind == 0 && r.bool("successful"):
		e.Kind = "view"
	case kind == 0:
		e.Kind = "failed_view"
	case kind == 1:
		e.Kind = "expire"
	default:
		return nil
	}
	return e
}

func (r *record) blob() Row {
	b := Blob{
		ID: r.id("id"), Key: r.text("key"), Filename: r.text("filename"), ContentType: r.text("content_type"), Size: r.int("byte_size"),
		MD5: r.text("checksum"), Service: r.text("service_name"),
	}
	if b.Size < 0 {
		r.wrong("byte_size", errors.New("is negative"))
	}
	return b
}

// attachment returns nil for files of other things than pushes.
func (r *record) attachment() Row {
	owner, ok := map[string]string{"Push": "pushes", "FilePush": "file_pushes"}[r.text("record_type")]
	if r.lost = r.err != nil; !ok || !r.belongs(owner, "record_id") {
		return nil
	}
	return Attachment{ID: r.id("id"), Push: r.of, BlobID: r.id("blob_id")}
}
