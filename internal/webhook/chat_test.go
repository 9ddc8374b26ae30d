package webhook

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"pushbox/internal/lang"
	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

const oddName = "a <b>&\\ *x* [l](u)\r\n@everyone \u202e"

// oddNotice is about a push made on 2026-01-01, 00:00.
func oddNotice() store.Notice {
	n := store.Notice{
		ID: "msg_1", Event: record.EventView, At: birth.Add(90 * time.Minute), Kind: record.Text, Views: 2, ViewLimit: 5, IP: "192.0.2.1", UserAgent: "agent-marker",
		Name: secret.New(oddName), URLToken: secret.New("token-marker"), Request: record.RequestID{1},
	}
	for i, at := 0, uint64(birth.UnixMilli())<<16; i < 6; i++ {
		n.Push[i] = byte(at >> (56 - 8*i))
	}
	n.Push[21] = 2
	return n
}

func TestEachChatGetsItsForm(t *testing.T) {
	t.Parallel()
	const plain = "The secret “a <b>&\\ *x* [l](u) @everyone” was opened on 2026-01-01 01:30 UTC: view 2 of 5."
	slack := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(plain)
	discord := "The secret “a \\<b\\>&\\\\ \\*x\\* \\[l\\](u) @everyone” was opened on 2026-01-01 01:30 UTC: view 2 of 5."
	for form, want := range map[record.HookForm]struct{ media, title, body string }{
		record.FormSlack: {jsonMedia, "", fmt.Sprintf(`{"text":%s,"mrkdwn":false}`, quoted(slack))},
		record.FormTeams: {jsonMedia, "", fmt.Sprintf(`{"type":"message","attachments":[{"contentType":"application/vnd.microsoft.card.adaptive","content":`+
			`{"$schema":"http://adaptivecards.io/schemas/adaptive-card.json","type":"AdaptiveCard","version":"1.4",`+
			`"body":[{"type":"RichTextBlock","inlines":[{"type":"TextRun","text":%s}]}]}}]}`, quoted(plain))},
		record.FormDiscord: {jsonMedia, "", fmt.Sprintf(`{"content":%s,"flags":4,"allowed_mentions":{"parse":[]}}`, quoted(discord))},
		record.FormNtfy:    {textMedia, "Push & Co", plain},
		record.FormText:    {textMedia, "", plain},
	} {
		t.Run(form.String(), func(t *testing.T) {
			t.Parallel()
			r := newReceiver(t, nil)
			s := patientSender(loopback(), nil)
			defer s.Close()
			to := targetOf(r.URL + "/path")
			to.Form = form
			if status, err := s.Send(t.Context(), to, oddNotice()); err != nil || status != http.StatusNoContent {
				t.Fatalf("status %d, %v", status, err)
			}
			p := r.next(t)
			if string(p.body) != want.body || p.header.Get("Content-Type") != want.media || p.header.Get("Title") != want.title {
				t.Errorf("it is %v\n%s, not\n%s", p.header, p.body, want.body)
			}
			if !p.verified() || p.header.Get("webhook-id") != "msg_1" || p.header.Get("user-agent") != "pushbox" {
				t.Errorf("it came with %v", p.header)
			}
		})
	}
}

func quoted(text string) string {
	b, _ := json.Marshal(text) // a text has a form
	return string(b)
}

// A sentence has nothing that opens the push or finds it, whatever happened, in any language.
func TestASentenceSaysWhatHappenedInEveryLanguage(t *testing.T) {
	t.Parallel()
	s := NewSender(loopback(), Words{Brand: "Push & Co", Language: "en"}, nil)
	for _, tag := range lang.Tags() {
		seen := make(map[string]bool)
		for _, e := range append(record.Events(), record.EventTest) {
			causes := []store.Cause{store.CauseNone}
			if e == record.EventExpire {
				causes = []store.Cause{store.CauseViews, store.CauseTime, store.CauseHand}
			}
			for _, cause := range causes {
				n := oddNotice()
				n.Event, n.Cause, n.Name = e, cause, secret.New("the name")
				named := s.sentence(tag, n)
				n.Name = secret.Text{}
				made := s.sentence(tag, n)
				n.Push = record.ID{21: 1} // from elsewhere
				for _, text := range []string{named, made, s.sentence(tag, n)} {
					if strings.ContainsAny(text, "{}\n") || strings.Contains(text, "hooks_said") || strings.Contains(text, "marker") ||
						strings.Contains(text, "://") || strings.Contains(text, "192.0.2.1") || strings.Contains(text, "  ") {
						t.Errorf("%s: it says %s", tag, text)
					}
				}
				about := e != record.EventTest && e != record.EventAnswer
				if strings.Contains(named, "the name") != about || strings.Contains(made, "2026-01-01 00:00 UTC") != about ||
					strings.Contains(named, "2026-01-01 01:30 UTC") != (e != record.EventTest) || strings.Contains(named, "Push & Co") != (e == record.EventTest) {
					t.Errorf("%s: it says %s, or %s", tag, named, made)
				}
				if seen[named] {
					t.Errorf("%s: %s is said of two events", tag, named)
				}
				seen[named] = true
			}
		}
	}
}

func TestTheTitleOfAMessageIsOneHeader(t *testing.T) {
	t.Parallel()
	for brand, want := range map[string]string{
		"Pusch ü": "=?utf-8?q?Pusch_=C3=BC?=", "a\r\nX: b": "=?utf-8?q?a=0D=0AX:_b?=", strings.Repeat("x", maxTitle): strings.Repeat("x", maxTitle), strings.Repeat("x", maxTitle+1): "",
	} {
		_, h, err := NewSender(loopback(), Words{Brand: brand}, nil).content(store.HookTarget{Form: record.FormNtfy}, oddNotice())
		env.OK(t, err)
		env.Equal(t, "the title is", h.Get("Title"), want)
	}
}

// A chat's messages come from the outbox like all others, in the language of the account.
func TestAChatReadsTheLanguageOfItsAccount(t *testing.T) {
	t.Parallel()
	w, r := newWorld(t, func(s *storetest.Setup) {
		s.Hooks.Instance, s.Mail.Languages = record.NewEventSet(record.EventView), lang.Tags()
	}), newReceiver(t, nil)
	instance := targetOf(r.URL + "/instance")
	instance.Form = record.FormText
	w.inst = &instance
	env.OK(t, w.SetPassword(t.Context(), storetest.Operator, storetest.Email, secret.New(storetest.Password), false))
	session := storetest.SignIn(t, w.Fixture)
	env.OK(t, w.SetWishes(t.Context(), store.Actor{}, session.Secret, store.Wishes{Language: "de"}))
	env.Must(w.AddHook(t.Context(), storetest.Operator, "ann@example.com", store.NewHook{URL: secret.New(r.URL + "/ann"), Form: record.FormText, Events: []record.Event{record.EventView}}))(t)
	p := env.Must(w.CreatePush(t.Context(), w.ann, store.NewPush{Kind: record.Text, Payload: secret.New("payload-marker"), Name: secret.New("Tür")}))(t)
	env.Must(w.Retrieve(t.Context(), store.Actor{}, p.Token, secret.Text{}, nil))(t)
	w.start()
	for range 2 {
		got := r.next(t)
		want := map[string]string{"/ann": "Das Geheimnis „Tür“ wurde am ", "/instance": "The secret made on "}[got.path]
		if text := string(got.body); !strings.HasPrefix(text, want) || strings.Contains(text, p.Token.Reveal()) || strings.Contains(text, "marker") {
			t.Errorf("%s: it says %s", got.path, text)
		}
	}
	w.drained()
	w.wantLog()
}
