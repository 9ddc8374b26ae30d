package webhook

import (
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"time"
	"unicode"

	"pushbox/server/display"
	"pushbox/store"
	"pushbox/store/record"
)

// Words say how a Sender tells people what happened.
type Words struct {
	Brand    string // the name of the server
	Language string // for the webhook of the instance, and for accounts that chose none
}

const (
	jsonMedia = "application/json"
	textMedia = "text/plain; charset=utf-8"

	headerTitle = "Title" // of ntfy
	maxTitle    = 250     // bytes
)

// content returns the body of a message in the form of its webhook, and the headers that the form needs.
func (s *Sender) content(to store.HookTarget, n store.Notice) (b []byte, h http.Header, err error) {
	h = http.Header{"Content-Type": {jsonMedia}}
	var message any
	switch to.Form {
	case record.FormSlack:
		message = newSlackMessage(s.sentence(to.Language, n))
	case record.FormTeams:
		message = newTeamsMessage(s.sentence(to.Language, n))
	case record.FormDiscord:
		message = newDiscordMessage(s.sentence(to.Language, n))
	case record.FormNtfy, record.FormText:
		h.Set("Content-Type", textMedia)
		if title := mime.QEncoding.Encode("utf-8", s.words.Brand); to.Form == record.FormNtfy && len(title) <= maxTitle {
			h.Set(headerTitle, title)
		}
		return []byte(s.sentence(to.Language, n)), h, nil
	default:
		message = newMessage(n)
	}
	if b, err = json.Marshal(message); err != nil {
		return nil, nil, fmt.Errorf("encode a message of %s", n.Event) // err may quote it
	}
	return b, h, nil
}

// sentence says what happened, without anything that opens or finds the push. It has the name of the
// push, as the mail about it has.
func (s *Sender) sentence(language string, n store.Notice) string {
	say := s.catalog.Choose(language, "", s.words.Language).Text
	key := "hooks_said_" + strings.ReplaceAll(n.Event.String(), ".", "_")
	if n.Event == record.EventExpire {
		if n.Cause != store.CauseViews && n.Cause != store.CauseTime {
			n.Cause = store.CauseHand
		}
		key += "_" + n.Cause.String()
	}
	which := ""
	if name := oneLine(n.Name.Reveal()); name != "" {
		which = say("hooks_said_name", "name", name)
	} else if made := n.MadeAt(); !made.IsZero() {
		which = say("hooks_said_made", "made", minute(made))
	}
	return oneLine(say(key, "which", which, "at", minute(n.At), "views", n.Views, "most", n.ViewLimit, "brand", s.words.Brand))
}

func minute(t time.Time) string { return display.NewTime(t).Text }

// oneLine replaces what cannot be seen, and ends of lines, by single blanks. It keeps the no-break
// spaces of French.
func oneLine(text string) string {
	words := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || !unicode.IsGraphic(r) })
	return strings.Join(words, " ")
}

// A slackMessage is the message of an incoming webhook, which Mattermost and Rocket.Chat take too.
type slackMessage struct {
	Text     string `json:"text"`
	Markdown bool   `json:"mrkdwn"`
}

var slackEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

func newSlackMessage(text string) slackMessage { return slackMessage{Text: slackEscapes.Replace(text)} }

// A teamsMessage is an Adaptive Card for a workflow. Unlike a TextBlock, a TextRun has no Markdown.
type teamsMessage struct {
	Type        string      `json:"type"`
	Attachments []teamsCard `json:"attachments"`
}

type teamsCard struct {
	ContentType string       `json:"contentType"`
	Content     adaptiveCard `json:"content"`
}

type adaptiveCard struct {
	Schema  string      `json:"$schema"`
	Type    string      `json:"type"`
	Version string      `json:"version"`
	Body    []richBlock `json:"body"`
}

type richBlock struct {
	Type    string    `json:"type"`
	Inlines []textRun `json:"inlines"`
}

type textRun struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

func newTeamsMessage(text string) teamsMessage {
	return teamsMessage{"message", []teamsCard{{"application/vnd.microsoft.card.adaptive", adaptiveCard{
		"http://adaptivecards.io/schemas/adaptive-card.json", "AdaptiveCard", "1.4",
		[]richBlock{{"RichTextBlock", []textRun{{"TextRun", text}}}},
	}}}}
}

// A discordMessage mentions no one, and shows no preview of an address in a name.
type discordMessage struct {
	Content         string          `json:"content"`
	Flags           int             `json:"flags"`
	AllowedMentions discordMentions `json:"allowed_mentions"`
}

type discordMentions struct {
	Parse []string `json:"parse"`
}

const suppressEmbeds = 1 << 2

var discordEscapes = strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "~", `\~`, "`", "\\`", "|", `\|`, "<", `\<`, ">", `\>`, "[", `\[`, "]", `\]`)

func newDiscordMessage(text string) discordMessage {
	return discordMessage{discordEscapes.Replace(text), suppressEmbeds, discordMentions{[]string{}}}
}
