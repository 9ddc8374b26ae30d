package mail

import (
	"bytes"
	"fmt"
	"html/template"
	"net/mail"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"

	"pushbox/internal/lang"
	"pushbox/internal/secret"
	"pushbox/server/display"
	"pushbox/store"
)

// A text is the content of a mail.
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

// textOf returns the text of a mail.
func (m *Mailer) textOf(l store.Mail) text {
	words := m.words.Choose(l.Language, "", m.Language)
	switch l.About {
	case store.MailCode:
		return codeText(l, words, m.Brand)
	case store.MailPassword:
		return passwordText(l, words, m.Brand)
	case store.MailFreeze:
		return freezeText(l, words, m.Brand, m.Base)
	case store.MailAnswer:
		return answerText(l, words, m.Brand, m.Base)
	case store.MailFirstView:
		return newsText(l, words, m.Brand, m.Base, "mail_first_view")
	case store.MailLastView:
		return newsText(l, words, m.Brand, m.Base, "mail_last_view")
	case store.MailExpired:
		return newsText(l, words, m.Brand, m.Base, "mail_expired")
	case store.MailGuessed:
		return newsText(l, words, m.Brand, m.Base, "mail_guessed")
	case store.MailLinkMade:
		return adminText(l, words, m.Brand, "mail_admin_password")
	case store.MailFactorsGone:
		return adminText(l, words, m.Brand, "mail_admin_mfa")
	default:
		return letterText(l, words, m.Brand)
	}
}

// codeText returns the text with the code that confirms an address.
func codeText(l store.Mail, words *lang.Locale, brand string) text {
	return text{
		id: l.ID, to: l.To, code: l.Code, language: words.Tag,
		subject: words.Text("mail_code_subject", "brand", brand),
		before:  []string{words.Text("mail_code_intro", "brand", brand)},
		after: []string{
			words.Text("mail_code_careful", "minutes", int(store.CodeLasts/time.Minute)),
			words.Text("mail_sent_by", "brand", brand),
		},
	}
}

// passwordText returns the text with the link that sets a password, for the first time or
// another one.
func passwordText(l store.Mail, words *lang.Locale, brand string) text {
	subject, intro := "mail_password_subject", "mail_password_intro"
	careful := words.Text("mail_password_careful", "minutes", int(store.ResetLasts/time.Minute))
	if l.First {
		subject, intro = "mail_invite_subject", "mail_invite_intro"
		careful = words.Text("mail_invite_careful", "days", int(store.InviteLasts/(24*time.Hour)))
	}
	return text{
		id: l.ID, to: l.To, link: secret.New(display.PasswordLink(l.Base, l.Code.Reveal())), language: words.Tag,
		subject: words.Text(subject, "brand", brand),
		before:  []string{words.Text(intro, "brand", brand)},
		after:   []string{careful, words.Text("mail_sent_by", "brand", brand)},
	}
}

// freezeText returns the text for the owner of a push that is frozen. It names the push by
// its times, and has a link to the list of pushes alone.
func freezeText(l store.Mail, words *lang.Locale, brand, base string) text {
	return text{
		id: l.ID, to: l.To, link: secret.New(base + "/p"), language: words.Tag,
		subject: words.Text("mail_freeze_subject"),
		before: []string{
			words.Text("mail_freeze_intro", "made", display.NewTime(l.Push.CreatedAt).Text, "until", display.NewTime(l.Push.ExpiresAt).Text),
			words.Text("mail_freeze_thaw"),
		},
		after: []string{words.Text("mail_freeze_careful"), words.Text("mail_sent_by", "brand", brand)},
	}
}

// answerText returns the text for the owner of a request that was answered. It has a link to
// the page of the request, which is for the owner alone.
func answerText(l store.Mail, words *lang.Locale, brand, base string) text {
	return text{
		id: l.ID, to: l.To, link: secret.New(base + "/requests/" + l.Push.Request.String()), language: words.Tag,
		subject: words.Text("mail_answer_subject"),
		before:  []string{words.Text("mail_answer_intro", "at", display.NewTime(l.Push.CreatedAt).Text, "until", display.NewTime(l.Push.ExpiresAt).Text)},
		after:   []string{words.Text("mail_sent_by", "brand", brand)},
	}
}

// newsText returns the text for the owner of a push about which there is news. It names the
// push, and has a link to the list of pushes alone.
func newsText(l store.Mail, words *lang.Locale, brand, base, key string) text {
	t := text{
		id: l.ID, to: l.To, link: secret.New(base + "/p"), language: words.Tag,
		subject: words.Text(key),
		before:  []string{words.Text(key)},
		after:   []string{words.Text("mail_sent_by", "brand", brand)},
	}
	if name := l.Push.Name.Reveal(); name != "" {
		t.before = append(t.before, words.Text("mail_news_name", "name", name))
	}
	t.before = append(t.before, words.Text("mail_news_when", "at", display.NewTime(l.At).Text, "made", display.NewTime(l.Push.CreatedAt).Text), words.Text("mail_news_more"))
	return t
}

// adminText returns the text for the user of an account to which an administrator did something.
func adminText(l store.Mail, words *lang.Locale, brand, key string) text {
	return text{
		id: l.ID, to: l.To, language: words.Tag,
		subject: words.Text("mail_admin_subject", "brand", brand),
		before:  []string{words.Text(key, "brand", brand), words.Text("mail_admin_careful")},
		after:   []string{words.Text("mail_sent_by", "brand", brand)},
	}
}

// letterText returns the text for a recipient of the link of a push.
func letterText(l store.Mail, words *lang.Locale, brand string) text {
	t := text{
		id: l.ID, to: l.To, link: secret.New(display.PushLink(l.Base, l.Push.Token.Reveal(), l.Push.RetrievalStep)), language: words.Tag,
		subject: words.Text("mail_subject", "sender", l.Sender),
		before:  []string{words.Text("mail_intro", "sender", l.Sender)},
		after:   []string{words.Text("mail_limits", "count", l.Push.ViewsRemaining(), "until", display.NewTime(l.Push.ExpiresAt).Text)},
	}
	if l.Push.Protected {
		t.after = append(t.after, words.Text("made_message_passphrase"))
	}
	t.after = append(t.after, words.Text("mail_careful"), words.Text("mail_sent_by", "brand", brand))
	return t
}

// plain returns the mail as plain text.
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

// html returns the mail as HTML.
func (t text) html() (string, error) {
	var b bytes.Buffer
	err := page.Execute(&b, struct {
		Language, Subject, Link, Code string
		Before, After                 []string
	}{t.language, t.subject, t.link.Reveal(), t.code.Reveal(), t.before, t.after})
	return b.String(), err
}

// message returns the mail in the form in which it is sent.
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

// testText returns the text of a test mail.
func testText(to, brand string) text {
	return text{
		id: store.NewNoticeID(), to: secret.New(to), language: "en", subject: brand + ": a test mail",
		before: []string{"This is a test mail of " + brand + ". Mail arrives."},
	}
}
