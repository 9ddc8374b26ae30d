package store

import (
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Limits of what a push may hold.
const (
	MaxText       = 1 << 20   // bytes of a text or url payload
	MaxQR         = 1024      // characters of a qr payload
	MaxPassphrase = 1024      // bytes
	MaxName       = 255       // bytes
	MaxNote       = 10 * 1024 // bytes
)

// Range is a default and the bounds of what may be asked for instead.
type Range struct{ Default, Min, Max int }

// Choice is a default, and whether anything else may be asked for. Where it is
// off the answer is no.
type Choice struct{ Enabled, Default bool }

// Terms are what a sender may ask for and what silence means, for one kind of
// push.
type Terms struct {
	Enabled       bool
	Days, Views   Range
	RetrievalStep Choice
	Deletable     Choice
}

// resolve fills in what the sender left open and refuses what the terms do not
// allow with an *InvalidError. ID, token and sealed parts are not its business.
func (t Terms) resolve(in NewPush, at instant) (Push, error) {
	var bad InvalidError
	if !t.Enabled {
		bad.Add("kind", in.Kind.String()+" pushes are disabled")
		return Push{}, bad.Err()
	}
	days, lifetime := t.lifetime(in, &bad)
	p := Push{
		Kind: in.Kind, State: Live,
		CreatedAt: at.now, UpdatedAt: at.now, ExpiresAt: at.now.Add(lifetime),
		Days:              days,
		ViewLimit:         t.Views.pick("expire_after_views", in.Views, &bad),
		RetrievalStep:     t.RetrievalStep.pick(in.RetrievalStep),
		DeletableByViewer: t.Deletable.pick(in.DeletableByViewer) && in.Kind != URL,
		Protected:         !in.Passphrase.IsZero(),
	}
	checkPayload(in, &bad)
	checkLength("passphrase", in.Passphrase.Len(), MaxPassphrase, &bad)
	checkLength("name", in.Name.Len(), MaxName, &bad)
	checkLength("note", in.Note.Len(), MaxNote, &bad)
	return p, bad.Err()
}

// lifetime is the time limit, also as whole days rounded up. A lifetime in
// hours or minutes is bounded as its days are.
func (t Terms) lifetime(in NewPush, bad *InvalidError) (int, time.Duration) {
	if in.Days != nil || in.Lifetime == 0 {
		days := t.Days.pick("expire_after_days", in.Days, bad)
		return days, time.Duration(days) * day
	}
	days := int((in.Lifetime + day - 1) / day)
	return t.Days.pick("expire_after_duration", &days, bad), in.Lifetime
}

func (r Range) pick(field string, asked *int, bad *InvalidError) int {
	switch {
	case asked == nil:
		return r.Default
	case *asked < r.Min || *asked > r.Max:
		unit := ""
		if field == "expire_after_duration" {
			unit = " days"
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

func checkPayload(in NewPush, bad *InvalidError) {
	text := in.Payload.Reveal()
	if in.Kind == File {
		checkFiles(in, bad)
		return
	}
	if strings.TrimSpace(text) == "" {
		bad.Add("payload", "is required")
		return
	}
	switch in.Kind {
	case URL:
		checkLength("payload", len(text), MaxText, bad)
		if !isWebURL(text) {
			bad.Add("payload", "must be an absolute http or https URL without user name or password")
		}
	case QR:
		if utf8.RuneCountInString(text) > MaxQR {
			bad.Add("payload", "is too long (maximum is "+strconv.Itoa(MaxQR)+" characters)")
		}
	default:
		checkLength("payload", len(text), MaxText, bad)
	}
}

// checkFiles asks for a file at least; the text is as long as any, or missing.
func checkFiles(in NewPush, bad *InvalidError) {
	if in.Files == nil || in.Files.Len() == 0 {
		bad.Add("files", "are required: a file push has at least one")
	}
	checkLength("payload", in.Payload.Len(), MaxText, bad)
}

func isWebURL(text string) bool {
	if strings.ContainsFunc(text, unicode.IsControl) {
		return false
	}
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.User == nil
}

func checkLength(field string, n, limit int, bad *InvalidError) {
	if n > limit {
		bad.Add(field, "is too long (maximum is "+strconv.Itoa(limit)+" bytes)")
	}
}
