package store

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"pushbox/internal/endtoend"
	"pushbox/internal/secret"
	"pushbox/internal/weburl"
	"pushbox/store/clock"
	"pushbox/store/record"
)

// Limits of what a push may hold.
const (
	MaxText       = 1 << 20   // bytes of a text or url payload
	MaxQR         = 1024      // characters of a qr payload
	MaxPassphrase = 1024      // bytes
	MaxName       = 255       // bytes
	MaxNote       = 10 * 1024 // bytes
	MaxNetworks   = 2 * 1024  // bytes of the text with the networks from which a push opens
)

// A Range is a default, and the bounds of other values.
type Range struct{ Default, Min, Max int }

// A Choice is a default, and whether the sender may choose. If it is not enabled, the answer is no.
type Choice struct{ Enabled, Default bool }

// Terms are the defaults and bounds of what a sender may ask for, for one kind of push.
type Terms struct {
	Enabled       bool
	Days, Views   Range
	RetrievalStep Choice
	Deletable     Choice
}

// termsOf returns the terms of a push. A push of any kind with files must also meet the terms of
// file pushes.
func termsOf(all map[record.Kind]Terms, k record.Kind, files bool) Terms {
	t := all[k]
	if !files || k == record.File {
		return t
	}
	f := all[record.File]
	t.Days, t.Views = t.Days.within(f.Days), t.Views.within(f.Views)
	t.Deletable = Choice{t.Deletable.Enabled && f.Deletable.Enabled, t.Deletable.Default && f.Deletable.Default}
	return t
}

// within returns the intersection of both bounds. If it is empty, the lower maximum is the only
// value. The default is that of r, or the nearest value within the bounds.
func (r Range) within(o Range) Range {
	r.Max = min(r.Max, o.Max)
	r.Min = min(max(r.Min, o.Min), r.Max)
	r.Default = r.near(r.Default)
	return r
}

// resolve makes the record of a new push, without ID, owner and sealed parts. It fills in the
// defaults, and adds fields to bad that the terms do not allow.
func (t Terms) resolve(in NewPush, at clock.Instant, bad *record.InvalidError) record.Push {
	if !t.Enabled {
		bad.Add(FieldKind, in.Kind.String()+" pushes are disabled")
		return record.Push{}
	}
	days, lifetime := t.lifetime(in, at.Now, bad)
	p := record.Push{
		Kind: in.Kind, State: record.Live,
		CreatedAt: at.Now, UpdatedAt: at.Now, ExpiresAt: at.Now.Add(lifetime),
		Days:              days,
		ViewLimit:         t.Views.pick(FieldViews, in.Views, bad),
		RetrievalStep:     t.RetrievalStep.pick(in.RetrievalStep),
		TypedReveal:       in.TypedReveal || in.mails(),
		DeletableByViewer: t.Deletable.pick(in.DeletableByViewer) && in.Kind != record.URL,
		ClientEncrypted:   isEnvelope(in.Kind, in.Payload),
		Protected:         !in.Passphrase.IsZero(),
		Restricted:        in.Networks != "",
		OpensAt:           in.OpensAt, CloseAfter: in.CloseAfter,
	}
	if !in.OpensAt.IsZero() && !(at.Now.Before(in.OpensAt) && in.OpensAt.Before(p.ExpiresAt)) {
		bad.Add(FieldOpenFrom, "must be in the future, and before the push expires")
	}
	checkPayload(in, bad)
	checkLength(FieldPassphrase, in.Passphrase.Len(), MaxPassphrase, bad)
	checkLength(FieldName, in.Name.Len(), MaxName, bad)
	checkLength(FieldNote, in.Note.Len(), MaxNote, bad)
	return p
}

// isEnvelope reports whether the sender encrypted a push of that kind.
func isEnvelope(k record.Kind, payload secret.Text) bool {
	return (k == record.Text || k == record.File) && endtoend.IsEnvelope(payload.Reveal())
}

// lifetime returns the time limit, and its whole days, rounded up. The bounds of days
// also hold for a lifetime in hours or minutes, and for an exact end.
func (t Terms) lifetime(in NewPush, now time.Time, bad *record.InvalidError) (int, time.Duration) {
	if !in.ExpiresAt.IsZero() {
		left := in.ExpiresAt.Sub(now)
		if left <= 0 {
			bad.Add(FieldExpiresAt, "must be in the future")
			return t.Days.Default, record.Day
		}
		days := record.WholeDays(left)
		return t.Days.pick(FieldExpiresAt, &days, bad), left
	}
	if in.Days != nil || in.Lifetime == 0 {
		days := t.Days.pick(FieldDays, in.Days, bad)
		return days, time.Duration(days) * record.Day
	}
	days := record.WholeDays(in.Lifetime)
	return t.Days.pick(FieldDuration, &days, bad), in.Lifetime
}

func (r Range) pick(field string, asked *int, bad *record.InvalidError) int {
	switch {
	case asked == nil:
		return r.Default
	case *asked < r.Min || *asked > r.Max:
		unit := ""
		switch field {
		case FieldDuration:
			unit = " days"
		case FieldExpiresAt:
			unit = " days from now"
		}
		bad.Add(field, "must be between "+strconv.Itoa(r.Min)+" and "+strconv.Itoa(r.Max)+unit)
		return r.Default
	default:
		return *asked
	}
}

func (c Choice) pick(asked *bool) bool {
	switch {
	case !c.Enabled:
		return false
	case asked == nil:
		return c.Default
	default:
		return *asked
	}
}

func checkPayload(in NewPush, bad *record.InvalidError) {
	text := in.Payload.Reveal()
	if in.Kind == record.File {
		checkFiles(in, bad)
		return
	}
	if strings.TrimSpace(text) == "" {
		bad.Add(FieldPayload, "is required")
		return
	}
	switch in.Kind {
	case record.URL:
		checkLength(FieldPayload, len(text), MaxText, bad)
		if _, err := weburl.Parse(text); err != nil {
			bad.Add(FieldPayload, err.Error())
		}
	case record.QR:
		if utf8.RuneCountInString(text) > MaxQR {
			bad.Add(FieldPayload, "is too long (maximum is "+strconv.Itoa(MaxQR)+" characters)")
		}
	default:
		checkLength(FieldPayload, len(text), MaxText, bad)
	}
}

// checkFiles requires a file; the text beside it may be empty. Pushes of other kinds may
// have files too.
func checkFiles(in NewPush, bad *record.InvalidError) {
	if !in.hasFiles() {
		bad.Add(FieldFiles, "are required: a file push has at least one")
	}
	checkLength(FieldPayload, in.Payload.Len(), MaxText, bad)
}

func checkLength(field string, n, limit int, bad *record.InvalidError) {
	if n > limit {
		bad.Add(field, "is too long (maximum is "+strconv.Itoa(limit)+" bytes)")
	}
}

// Names of the fields of a push: in an *InvalidError, in the API, and in the forms of
// pages.
const (
	FieldKind          = "kind"
	FieldPayload       = "payload"
	FieldPassphrase    = "passphrase"
	FieldName          = "name"
	FieldNote          = "note"
	FieldFiles         = "files"
	FieldDays          = "expire_after_days"
	FieldDuration      = "expire_after_duration" // a code, in place of days
	FieldExpiresAt     = "expires_at"            // a time, in place of both
	FieldOpenFrom      = "open_from"
	FieldCloseAfter    = "close_after_first_view" // a code as of FieldDuration
	FieldViews         = "expire_after_views"
	FieldRetrievalStep = "retrieval_step"
	FieldReveal        = "reveal"   // RevealPress or RevealType
	FieldNetworks      = "networks" // from which it opens
	FieldDeletable     = "deletable_by_viewer"
	FieldMailTo        = "notify_emails_to"
	FieldRecipient     = "recipient_email" // an address, or "@" and a domain
	FieldLanguage      = "language"
	FieldMailLanguage  = "notify_emails_to_locale"
)

// What people do on the page of a push to open it.
const (
	RevealPress = "press" // a button
	RevealType  = "type"  // a button, after they have typed a number that the page shows
)

// FieldMail is whether an invitation is mailed.
const FieldMail = "mail"

// Names of the fields of a request, beside FieldDays and FieldDuration of its own time limit.
const (
	FieldText           = "text"
	FieldKinds          = "kinds"
	FieldMaxAnswers     = "max_answers"
	FieldAnswerDays     = "answer_expire_after_days"
	FieldAnswerDuration = "answer_expire_after_duration"
	FieldAnswerViews    = "answer_expire_after_views"
	FieldAnswerStep     = "answer_retrieval_step"
	FieldX25519         = "public_key_x25519"
	FieldP256           = "public_key_p256"
)

// FieldWrappedKey is the field of an answer with the key of its envelope.
const FieldWrappedKey = "wrapped_key"

// FieldRepeat names the key of a create in an *InvalidError: the header that it comes in.
const FieldRepeat = "Idempotency-Key"

// FieldPolicy is the field of an account's policy in an *InvalidError.
const FieldPolicy = "policy"

// FieldPassword is the field of an account's password in an *InvalidError.
const FieldPassword = "password"

// NewPush has the fields of a new push. Nil and zero fields take the defaults of the kind's Terms.
type NewPush struct {
	Kind       record.Kind
	Payload    secret.Text
	Files      *Upload     // of a push of any kind; nil: none; an upload has the token of its push
	Passphrase secret.Text // empty: none
	Name, Note secret.Text

	Days      *int          // used only if ExpiresAt is zero
	Lifetime  time.Duration // used only if both are
	ExpiresAt time.Time     // the exact end
	Views     *int

	OpensAt    time.Time     // it cannot be opened before; zero: it can at once
	CloseAfter time.Duration // from its first view to its end, unless that comes before; 0: as long as without a view

	RetrievalStep     *bool
	TypedReveal       bool // always of a push whose link pushbox mails, and by some policies
	DeletableByViewer *bool
	Networks          string // as clientip.ParseNetworks reads them: others than the owner open it only from there; empty: from anywhere

	Recipient secret.Text // the address, or "@" and the domain, whose mailbox opens it; empty: the link opens it

	Mail    *MailRequest // the recipients of its link by mail; nil: no mail
	Receipt bool         // makes a receipt with a code, for the sender
	Repeat  RepeatKey    // makes the push only once; zero: each create makes one

	// The sender of an answer to a request gives only kind, payload and files. The request sets the
	// rest, and its owner owns the push.
	Request    RequestToken // the request that it answers; zero: none
	WrappedKey []byte       // of an envelope that answers a request with public keys
}

// A RepeatKey is how a sender says that creates are the same one, sent again.
type RepeatKey struct {
	Key    secret.Text // that the sender chose; empty: none
	Fields [32]byte    // a digest of all that the create asks for
}

// mails reports whether the link is to be sent by mail. Mail gateways open links and press buttons.
func (in NewPush) mails() bool { return in.Mail != nil && !in.Mail.To.IsZero() }

// hasFiles reports whether the push is to hold files.
func (in NewPush) hasFiles() bool { return in.Files != nil && in.Files.Len() > 0 }
