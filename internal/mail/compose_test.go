package mail

import (
	"bytes"
	"net/mail"
	"strings"
	"testing"
	"time"

	"pushbox/internal/email"
	"pushbox/internal/lang"
	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/mailtest"
	"pushbox/store"
	"pushbox/store/record"
)

// letterOf is a letter about a push with a passphrase.
func letterOf(to string) store.Mail {
	return store.Mail{
		About: store.MailLink, ID: "msg_1", To: secret.New(to), Base: "https://push.example/a&b", Sender: `ann+"<b>@example.com`,
		Push: store.PushInfo{Token: store.Token{Text: secret.New("abc")}, Push: record.Push{
			ExpiresAt: time.Date(2026, 11, 28, 9, 5, 0, 0, time.UTC), ViewLimit: 3, Protected: true, RetrievalStep: true,
		}},
	}
}

// written is a letter as it would be sent.
func written(t *testing.T, x text) mailtest.Mail {
	t.Helper()
	m := env.Must(x.message(mail.Address{Name: "Pusch ü, \"Co\"", Address: "push@example.org"}, time.Now()))(t)
	var b bytes.Buffer
	env.Must(m.WriteTo(&b))(t)
	read := env.Must(mail.ReadMessage(bytes.NewReader(b.Bytes())))(t)
	return mailtest.Mail{Header: read.Header, Raw: b.Bytes()}
}

func TestAMailToANamedRecipientSaysWhoCanOpenIt(t *testing.T) {
	t.Parallel()
	l := letterOf("bob@example.net")
	for recipient, want := range map[string]string{"": "Anyone who has this link can open it", "bob@example.net": "the page of the link mails a code there"} {
		l.Push.Recipient = secret.New(recipient)
		if plain := parts(t, written(t, writer().textOf(l)))["text/plain"]; !strings.Contains(plain, want) {
			t.Errorf("for %q:\n%s", recipient, plain)
		}
	}
}

func TestAMailIsWrittenInTheLanguageOfItsReader(t *testing.T) {
	t.Parallel()
	for _, tag := range lang.Tags() {
		l := letterOf("bob@example.net")
		l.Language = tag
		m := written(t, writer().textOf(l))
		all := parts(t, m)
		plain, html := all["text/plain"], all["text/html"]
		for _, want := range []string{"https://push.example/a&b/p/abc/r", `ann+"<b>@example.com`, "3", "2026-11-28 09:05 UTC", "Push & Co"} {
			if !strings.Contains(plain, want) {
				t.Errorf("%s: the text has no %s:\n%s", tag, want, plain)
			}
		}
		if strings.ContainsAny(plain, "{}") || strings.Contains(plain, "mail_") || strings.Contains(subject(t, m), "{") {
			t.Errorf("%s: a word is missing:\n%s\n%s", tag, subject(t, m), plain)
		}
		if !strings.Contains(html, `<html lang="`+tag+`">`) || !strings.Contains(html, `<a href="https://push.example/a&amp;b/p/abc/r">`) || strings.Contains(html, "<b>") {
			t.Errorf("%s: the page is\n%s", tag, html)
		}
		for _, remote := range []string{"<img", "<link", "<script", "<style", "src=", "url("} {
			if strings.Contains(html, remote) {
				t.Errorf("%s: the page has %s", tag, remote)
			}
		}
	}
}

// writer writes mails as a Mailer does.
func writer() *Mailer {
	return New(Options{Brand: "Push & Co", Base: "https://push.example/a&b", Language: "en"})
}

func TestAMailWithACodeIsWrittenInTheLanguageOfItsReader(t *testing.T) {
	t.Parallel()
	for _, tag := range lang.Tags() {
		m := written(t, writer().textOf(store.Mail{About: store.MailCode, ID: "msg_1", To: secret.New("eve@example.net"), Language: tag, Code: secret.New("01234567")}))
		plain, html := parts(t, m)["text/plain"], parts(t, m)["text/html"]
		for _, want := range []string{"\n\n01234567\n\n", "30", "Push & Co"} {
			if !strings.Contains(plain, want) {
				t.Errorf("%s: the text has no %q:\n%s", tag, want, plain)
			}
		}
		whole := subject(t, m) + plain
		if strings.ContainsAny(whole, "{}@") || strings.Contains(whole, "mail_") || strings.Contains(whole, "http") || strings.Contains(subject(t, m), "0123") {
			t.Errorf("%s: it is\n%s", tag, whole)
		}
		if !strings.Contains(html, `<html lang="`+tag+`">`) || !strings.Contains(html, "<strong>01234567</strong>") || strings.Contains(html, "<a") {
			t.Errorf("%s: the page is\n%s", tag, html)
		}
	}
}

// A named recipient learns who sends what the code opens, and gets no link.
func TestAMailWithTheCodeOfARecipientIsWrittenInTheLanguageOfItsReader(t *testing.T) {
	t.Parallel()
	for _, tag := range lang.Tags() {
		m := written(t, writer().textOf(store.Mail{About: store.MailRecipient, ID: "msg_1", To: secret.New("eve@example.net"), Language: tag, Code: secret.New("012345"), Sender: "Ann (ann@example.com)"}))
		plain := parts(t, m)["text/plain"]
		for _, want := range []string{"\n\n012345\n\n", "15", "Push & Co", "Ann (ann@example.com)"} {
			if !strings.Contains(plain, want) {
				t.Errorf("%s: the text has no %q:\n%s", tag, want, plain)
			}
		}
		whole := subject(t, m) + plain
		if strings.ContainsAny(whole, "{}") || strings.Contains(whole, "mail_") || strings.Contains(whole, "http") || strings.Contains(subject(t, m), "0123") {
			t.Errorf("%s: it is\n%s", tag, whole)
		}
	}
}

func TestAMailThatSetsAPasswordIsWrittenInTheLanguageOfItsReader(t *testing.T) {
	t.Parallel()
	for i, tag := range append(lang.Tags(), lang.Tags()...) {
		first, lasts := i%2 == 0, "60"
		if first {
			lasts = "7"
		}
		m := written(t, writer().textOf(store.Mail{
			About: store.MailPassword, ID: "msg_1", To: secret.New("eve@example.net"), Base: "https://push.example/a&b", Language: tag, Code: secret.New("code-marker"), First: first,
		}))
		plain, html := parts(t, m)["text/plain"], parts(t, m)["text/html"]
		for _, want := range []string{"\n\nhttps://push.example/a&b/users/password/new/code-marker\n\n", lasts, "Push & Co"} {
			if !strings.Contains(plain, want) {
				t.Errorf("%s: the text has no %q:\n%s", tag, want, plain)
			}
		}
		whole := subject(t, m) + plain
		if strings.ContainsAny(whole, "{}@") || strings.Contains(whole, "mail_") || strings.Contains(subject(t, m), "code-marker") {
			t.Errorf("%s: it is\n%s", tag, whole)
		}
		if !strings.Contains(html, `<html lang="`+tag+`">`) || !strings.Contains(html, `<a href="https://push.example/a&amp;b/users/password/new/code-marker">`) {
			t.Errorf("%s: the page is\n%s", tag, html)
		}
	}
}

func TestAMailAboutAFreezeIsWrittenInTheLanguageOfTheServer(t *testing.T) {
	t.Parallel()
	for _, tag := range lang.Tags() {
		w := writer()
		w.Language = tag
		l := letterOf("ann@example.com")
		l.About, l.Base, l.Sender, l.Push.Token, l.Push.Name = store.MailFreeze, "", "", store.Token{}, secret.New("name-marker")
		l.Push.CreatedAt = time.Date(2026, 11, 21, 8, 4, 0, 0, time.UTC)
		m := written(t, w.textOf(l))
		plain, html := parts(t, m)["text/plain"], parts(t, m)["text/html"]
		for _, want := range []string{"\n\nhttps://push.example/a&b/p\n\n", "2026-11-21 08:04 UTC", "2026-11-28 09:05 UTC", "Push & Co"} {
			if !strings.Contains(plain, want) {
				t.Errorf("%s: the text has no %q:\n%s", tag, want, plain)
			}
		}
		whole := subject(t, m) + plain
		if strings.ContainsAny(whole, "{}") || strings.Contains(whole, "mail_") || strings.Contains(whole, "marker") || strings.Contains(whole, "/p/") {
			t.Errorf("%s: it is\n%s", tag, whole)
		}
		if !strings.Contains(html, `<html lang="`+tag+`">`) || !strings.Contains(html, `<a href="https://push.example/a&amp;b/p">`) {
			t.Errorf("%s: the page is\n%s", tag, html)
		}
	}
}

func TestAMailAboutAnAnswerLeadsToTheRequestAlone(t *testing.T) {
	t.Parallel()
	for _, tag := range lang.Tags() {
		w := writer()
		w.Language = tag
		l := letterOf("ann@example.com")
		l.About, l.Base, l.Sender, l.Push.Token, l.Push.Name = store.MailAnswer, "", "", store.Token{}, secret.New("name-marker")
		l.Push.CreatedAt, l.Push.Request = time.Date(2026, 11, 21, 8, 4, 0, 0, time.UTC), record.RequestID{1}
		m := written(t, w.textOf(l))
		plain := parts(t, m)["text/plain"]
		for _, want := range []string{"\n\nhttps://push.example/a&b/requests/" + l.Push.Request.String() + "\n\n", "2026-11-21 08:04 UTC", "2026-11-28 09:05 UTC", "Push & Co"} {
			if !strings.Contains(plain, want) {
				t.Errorf("%s: the text has no %q:\n%s", tag, want, plain)
			}
		}
		if whole := subject(t, m) + plain; strings.ContainsAny(whole, "{}") || strings.Contains(whole, "mail_") || strings.Contains(whole, "marker") || strings.Contains(whole, "/p/") {
			t.Errorf("%s: it is\n%s", tag, whole)
		}
	}
}

func TestAMailWithTheLinkOfARequestSaysNothingOfIt(t *testing.T) {
	t.Parallel()
	for _, tag := range lang.Tags() {
		w := writer()
		l := letterOf("ann@example.com")
		l.About, l.Language, l.Push.Token = store.MailAsk, tag, store.Token{}
		l.Asked, _ = store.ParseRequestToken(strings.Repeat("a", 34))
		m := written(t, w.textOf(l))
		plain := parts(t, m)["text/plain"]
		for _, want := range []string{"\n\n" + l.Base + "/q/" + l.Asked.Reveal() + "\n\n", l.Sender, "2026-11-28 09:05 UTC", "Push & Co"} {
			if !strings.Contains(plain, want) {
				t.Errorf("%s: the text has no %q:\n%s", tag, want, plain)
			}
		}
		if whole := subject(t, m) + plain; strings.ContainsAny(whole, "{}") || strings.Contains(whole, "mail_") || strings.Contains(whole, "/p/") || !strings.Contains(subject(t, m), l.Sender) {
			t.Errorf("%s: it is\n%s", tag, whole)
		}
	}
}

func TestNewsNamesThePushAndHasNoLinkOfIt(t *testing.T) {
	t.Parallel()
	for _, tag := range lang.Tags() {
		seen := make(map[string]bool)
		for _, about := range []store.MailSubject{store.MailFirstView, store.MailLastView, store.MailExpired, store.MailGuessed, store.MailReminder} {
			l := letterOf("ann@example.com")
			l.About, l.Base, l.Language, l.Push.Name = about, "", tag, secret.New("the <b>name</b>")
			l.Push.CreatedAt, l.At = time.Date(2026, 11, 21, 8, 4, 0, 0, time.UTC), time.Date(2026, 11, 22, 9, 5, 0, 0, time.UTC)
			m := written(t, writer().textOf(l))
			plain, html := parts(t, m)["text/plain"], parts(t, m)["text/html"]
			when := "2026-11-22 09:05 UTC" // it happened
			if about == store.MailReminder {
				when = "2026-11-28 09:05 UTC" // the push ends
			}
			for _, want := range []string{"\n\nhttps://push.example/a&b/p\n\n", "2026-11-21 08:04 UTC", when, "Push & Co", "the <b>name</b>"} {
				if !strings.Contains(plain, want) {
					t.Errorf("%s: the text has no %q:\n%s", tag, want, plain)
				}
			}
			whole := subject(t, m) + plain
			if strings.ContainsAny(whole, "{}") || strings.Contains(whole, "mail_") || strings.Contains(whole, "/p/") || strings.Contains(subject(t, m), "name</b>") || seen[subject(t, m)] {
				t.Errorf("%s: it is\n%s", tag, whole)
			}
			seen[subject(t, m)] = true
			if !strings.Contains(html, `<html lang="`+tag+`">`) || strings.Contains(html, "<b>") {
				t.Errorf("%s: the page is\n%s", tag, html)
			}
		}
	}
}

func TestAMailSaysOnceAndLeavesThePassphraseOut(t *testing.T) {
	t.Parallel()
	l := letterOf("bob@example.net")
	l.Push.ViewLimit, l.Push.Protected = 1, false
	plain := parts(t, written(t, writer().textOf(l)))["text/plain"]
	if !strings.Contains(plain, "The link works once, until") || strings.Contains(plain, "passphrase") {
		t.Error(plain)
	}
}

func TestTheHeaderOfAMail(t *testing.T) {
	t.Parallel()
	m := written(t, writer().textOf(letterOf("bob@example.net")))
	from, err := m.Header.AddressList("From")
	if err != nil || len(from) != 1 || *from[0] != (mail.Address{Name: "Pusch ü, \"Co\"", Address: "push@example.org"}) {
		t.Errorf("it is from %v, %v", from, err)
	}
	if m.Header.Get("Message-Id") != "<msg_1@example.org>" || m.Header.Get("Auto-Submitted") != "auto-generated" || m.Header.Get("To") != "<bob@example.net>" {
		t.Errorf("%v", m.Header)
	}
	if _, err := m.Header.Date(); err != nil {
		t.Error(err)
	}
	for name := range m.Header {
		if !strings.Contains(" From To Subject Date Message-Id Mime-Version Content-Type Auto-Submitted ", " "+name+" ") {
			t.Errorf("it has %s: %s", name, m.Header.Get(name))
		}
	}
}

// FuzzHeader holds that no address that the store takes, and no name of a sender or of the
// server, makes another header, another recipient, or a mail that cannot be read.
func FuzzHeader(f *testing.F) {
	for _, text := range []string{"bob@example.net", "a\r\nBcc: x@y.example", "\n", "a,b@c", "<a@b>", "=?utf-8?q?=0d=0aX:y?=", "ä@ü.example", strings.Repeat("a", 300) + "@b"} {
		f.Add(text, text, text)
	}
	w := writer()
	f.Fuzz(func(t *testing.T, to, sender, brand string) {
		if !email.IsSendable(to) {
			to = "bob@example.net"
		}
		if !email.IsSendable(sender) {
			return
		}
		l := letterOf(to)
		l.Sender = sender
		w.Brand = brand
		m := written(t, w.textOf(l))
		list, err := m.Header.AddressList("To")
		if err != nil || len(list) != 1 || list[0].Address != to || len(m.Header) != 8 || m.Header.Get("Subject") == "" {
			t.Fatalf("to %q it became %v, %v, %v", to, list, err, m.Header)
		}
	})
}

func TestAMailAboutAnAdministratorIsWrittenInTheLanguageOfItsReader(t *testing.T) {
	t.Parallel()
	for _, tag := range lang.Tags() {
		told := make(map[string]bool)
		for _, about := range []store.MailSubject{store.MailLinkMade, store.MailFactorsGone} {
			m := written(t, writer().textOf(store.Mail{About: about, ID: "msg_1", To: secret.New("ann@example.net"), Language: tag}))
			plain, html := parts(t, m)["text/plain"], parts(t, m)["text/html"]
			whole := subject(t, m) + plain
			if strings.ContainsAny(whole, "{}@") || strings.Contains(whole, "mail_") || strings.Contains(whole, "http") || strings.Count(whole, "Push & Co") < 3 {
				t.Errorf("%s: it is\n%s", tag, whole)
			}
			if !strings.Contains(html, `<html lang="`+tag+`">`) {
				t.Errorf("%s: the page is\n%s", tag, html)
			}
			told[plain] = true
		}
		if len(told) != 2 {
			t.Errorf("%s: both say the same", tag)
		}
	}
}
