package mail

import (
	"bytes"
	"fmt"
	"html/template"
	"net/mail"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"

	"pushbox/internal/secret"
	"pushbox/server/display"
	"pushbox/store"
)

type text struct {
	id       string // of the mail, the same for each try
	to       secret.Text
	language string
	subject  string
	link     secret.Text // empty: none
	code     secret.Text // in the place of the link; empty: none
	before   []string    // paragraphs before the link
	after    []string    // paragraphs after the link
}

// page is a mail as HTML. It contains nothing that a mail program would fetch.
var page = template.Must(template.New("mail").Parse(`<!doctype html>
<html lang="{{.Language}}">
<head><meta charset="utf-8"><title>{{.Subject}}</title></head>
<body>
{{range .Before}}<p>{{.}}</p>
{{end}}{{with .Link}}<p><a href="{{.}}">{{.}}</a></p>
{{end}}{{with .Code}}<p><strong>{{.}}</strong></p>
{{end}}{{range .After}}<p>{{.}}</p>
{{end}}</body>
</html>
`))

func (m *Mailer) textOf(l store.Mail) text {
	words := m.words.Choose(l.Language, "", m.Language)
	t := text{id: l.ID, to: l.To, language: words.Tag}
	say := func(key string, pairs ...any) string { return words.Text(key, append(pairs, "brand", m.Brand)...) }
	switch l.About {
	case store.MailCode:
		t.code, t.subject, t.before = l.Code, say("mail_code_subject"), []string{say("mail_code_intro")}
		t.after = []string{say("mail_code_careful", "minutes", int(store.CodeLasts/time.Minute))}
	case store.MailRecipient:
		t.code, t.subject, t.before = l.Code, say("mail_code_subject"), []string{say("mail_recipient_intro", "sender", l.Sender)}
		t.after = []string{say("mail_recipient_careful", "minutes", int(store.RecipientCodeLasts/time.Minute))}
	case store.MailPassword:
		t.setPassword(l, say)
	case store.MailFreeze, store.MailAnswer, store.MailFirstView, store.MailLastView, store.MailExpired, store.MailGuessed, store.MailReminder:
		t.tellOwner(l, say, m.Base)
	case store.MailLinkMade, store.MailFactorsGone:
		did := map[store.MailSubject]string{store.MailLinkMade: "mail_admin_password", store.MailFactorsGone: "mail_admin_mfa"}[l.About]
		t.subject, t.before = say("mail_admin_subject"), []string{say(did), say("mail_admin_careful")}
	case store.MailAsk:
		t.link = secret.New(display.RequestLink(l.Base, l.Asked.Reveal()))
		t.subject, t.before = say("mail_ask_subject", "sender", l.Sender), []string{say("mail_ask_intro", "sender", l.Sender)}
		t.after = []string{say("mail_ask_careful", "until", display.NewTime(l.Push.ExpiresAt).Text)}
	default:
		t.sendPush(l, say)
	}
	t.after = append(t.after, say("mail_sent_by"))
	return t
}

// A sayer returns a message of a language, filled in from pairs of a name and a value.
type sayer func(key string, pairs ...any) string

// setPassword is about the link that sets a password, for the first time or another one.
func (t *text) setPassword(l store.Mail, say sayer) {
	t.link = secret.New(display.PasswordLink(l.Base, l.Code.Reveal()))
	if l.First {
		t.subject, t.before = say("mail_invite_subject"), []string{say("mail_invite_intro")}
		t.after = []string{say("mail_invite_careful", "days", int(store.InviteLasts/(24*time.Hour)))}
		return
	}
	t.subject, t.before = say("mail_password_subject"), []string{say("mail_password_intro")}
	t.after = []string{say("mail_password_careful", "minutes", int(store.ResetLasts/time.Minute))}
}

// tellOwner is about a push or a request, for its owner. It has a link to a page that is for the owner
// alone, and names a frozen push by its times.
func (t *text) tellOwner(l store.Mail, say sayer, base string) {
	made, until := display.NewTime(l.Push.CreatedAt).Text, display.NewTime(l.Push.ExpiresAt).Text
	t.link = secret.New(base + "/p")
	switch l.About {
	case store.MailFreeze:
		t.subject, t.after = say("mail_freeze_subject"), []string{say("mail_freeze_careful")}
		t.before = []string{say("mail_freeze_intro", "made", made, "until", until), say("mail_freeze_thaw")}
		return
	case store.MailAnswer:
		t.link = secret.New(base + "/requests/" + l.Push.Request.String())
		t.subject, t.before = say("mail_answer_subject"), []string{say("mail_answer_intro", "at", made, "until", until)}
		return
	}
	news := map[store.MailSubject]string{
		store.MailFirstView: "mail_first_view", store.MailLastView: "mail_last_view", store.MailExpired: "mail_expired", store.MailGuessed: "mail_guessed",
		store.MailReminder: "mail_reminder",
	}[l.About]
	t.subject, t.before = say(news), []string{say(news)}
	if name := l.Push.Name.Reveal(); name != "" {
		t.before = append(t.before, say("mail_news_name", "name", name))
	}
	when := say("mail_news_when", "at", display.NewTime(l.At).Text, "made", made)
	if l.About == store.MailReminder {
		when = say("mail_reminder_when", "made", made, "until", until)
	}
	t.before = append(t.before, when, say("mail_news_more"))
}

// sendPush is for a recipient of the link of a push.
func (t *text) sendPush(l store.Mail, say sayer) {
	t.link = secret.New(display.PushLink(l.Base, l.Push.Token.Reveal(), l.Push.RetrievalStep))
	t.subject, t.before = say("mail_subject", "sender", l.Sender), []string{say("mail_intro", "sender", l.Sender)}
	t.after = []string{say("mail_limits", "count", l.Push.ViewsRemaining(), "until", display.NewTime(l.Push.ExpiresAt).Text)}
	if l.Push.Protected {
		t.after = append(t.after, say("made_message_passphrase"))
	}
	careful := "mail_careful"
	if !l.Push.Recipient.IsZero() {
		careful = "mail_named"
	}
	t.after = append(t.after, say(careful))
}

func (t text) plain() string {
	parts := append([]string{}, t.before...)
	if !t.link.IsZero() {
		parts = append(parts, t.link.Reveal())
	}
	if !t.code.IsZero() {
		parts = append(parts, t.code.Reveal())
	}
	return strings.Join(append(parts, t.after...), "\n\n") + "\n"
}

func (t text) html() (string, error) {
	var b bytes.Buffer
	err := page.Execute(&b, struct {
		Language, Subject, Link, Code string
		Before, After                 []string
	}{t.language, t.subject, t.link.Reveal(), t.code.Reveal(), t.before, t.after})
	return b.String(), err
}

func (t text) message(from mail.Address, at time.Time) (*gomail.Msg, error) {
	m := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	_, domain, _ := strings.Cut(from.Address, "@")
	m.FromMailAddress(&from)
	m.ToMailAddress(&mail.Address{Address: t.to.Reveal()})
	m.Subject(t.subject)
	m.SetDateWithValue(at)
	m.SetMessageIDWithValue(t.id + "@" + domain)
	m.SetGenHeader("Auto-Submitted", "auto-generated")
	m.SetBodyString(gomail.TypeTextPlain, t.plain())
	html, err := t.html()
	if err != nil {
		return nil, fmt.Errorf("write a mail: %T", err) // err may quote it
	}
	m.AddAlternativeString(gomail.TypeTextHTML, html)
	return m, nil
}

func testText(to, brand string) text {
	return text{
		id: store.NewNoticeID(), to: secret.New(to), language: "en", subject: brand + ": a test mail",
		before: []string{"This is a test mail from " + brand + ". Mail can be delivered."},
	}
}
