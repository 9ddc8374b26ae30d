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
	"pushbox/store"
)

// A text is what a mail says.
type text struct {
	id       string // of the mail: the same for each try
	to       string
	language string
	subject  string
	link     string   // empty: none
	before   []string // paragraphs before the link
	after    []string // and behind it
}

// page is a mail as HTML. There is nothing in it that a reader's program would fetch.
var page = template.Must(template.New("mail").Parse(`<!doctype html>
<html lang="{{.Language}}">
<head><meta charset="utf-8"><title>{{.Subject}}</title></head>
<body>
{{range .Before}}<p>{{.}}</p>
{{end}}{{with .Link}}<p><a href="{{.}}">{{.}}</a></p>
{{end}}{{range .After}}<p>{{.}}</p>
{{end}}</body>
</html>
`))

// letterText is what is written to somebody who gets the link of a push.
func letterText(l store.Letter, words *lang.Locale, brand string) text {
	t := text{
		id: l.ID, to: l.To.Reveal(), link: l.Link.Reveal(), language: words.Tag,
		subject: words.Text("mail_subject", "sender", l.Sender),
		before:  []string{words.Text("mail_intro", "sender", l.Sender)},
		after:   []string{words.Text("mail_limits", "count", l.Views, "until", l.ExpiresAt.UTC().Format("2006-01-02 15:04")+" UTC")},
	}
	if l.Protected {
		t.after = append(t.after, words.Text("made_words_passphrase"))
	}
	t.after = append(t.after, words.Text("mail_careful"), words.Text("mail_sent_by", "brand", brand))
	return t
}

// plain is the mail as plain text.
func (t text) plain() string {
	parts := append([]string{}, t.before...)
	if t.link != "" {
		parts = append(parts, t.link)
	}
	return strings.Join(append(parts, t.after...), "\n\n") + "\n"
}

// html is the mail as HTML.
func (t text) html() (string, error) {
	var b bytes.Buffer
	err := page.Execute(&b, struct {
		Language, Subject, Link string
		Before, After           []string
	}{t.language, t.subject, t.link, t.before, t.after})
	return b.String(), err
}

// message is the mail as it is sent.
func (t text) message(from mail.Address, at time.Time) (*gomail.Msg, error) {
	m := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	_, domain, _ := strings.Cut(from.Address, "@")
	m.FromMailAddress(&from)
	m.ToMailAddress(&mail.Address{Address: t.to})
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

// testText is what is written to somebody who tries whether mail arrives.
func testText(to, brand string) text {
	return text{
		id: store.NewNoticeID(), to: to, language: "en", subject: brand + ": a test mail",
		before: []string{"This is a test mail of " + brand + ". Mail arrives."},
	}
}
