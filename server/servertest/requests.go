package servertest

import (
	"net/http"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/internal/endtoend"
	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
)

// TakesRequests enables requests for secrets.
func TakesRequests(c *config.Config) { c.EnableRequests = true }

// TypedRequest returns the fields of an unchanged form for a request, except for these
// changes.
func TypedRequest(changes ...string) []string {
	fields := []string{"text", "The password of web-03", "expire_after_duration", "12", "max_answers", "1", "kinds", "text,file", "answer_expire_after_duration", "12", "public_key_p256", "", "public_key_x25519", ""}
	return append(fields, changes...)
}

// AskFor makes a request on its page, and returns the path of its own page and of its link.
func (b *Browser) AskFor(changes ...string) (own, link string) {
	b.a.T.Helper()
	own = b.Post("/requests/new", TypedRequest(changes...)...).Want(http.StatusSeeOther).Header.Get("Location")
	_, path, ok := strings.Cut(b.Get(own).Link(), "/q/")
	if !ok || !strings.HasPrefix(own, "/requests/") {
		b.a.T.Fatalf("the request is at %s with the link %s", own, path)
	}
	return own, "/q/" + path
}

// AnswerRequest sends the form of a stranger, as a browser without scripts does.
func (a *Server) AnswerRequest(link, text string, files ...File) Answer {
	a.T.Helper()
	body := TextPart("push[payload]", text)
	for _, f := range files {
		body += FilePart(f)
	}
	if len(files) == 0 {
		body += NothingChosen
	}
	return a.Do(http.MethodPost, link, body+"--b--\r\n", Multi)
}

// Envelope is the text of a push that its sender encrypted.
func Envelope(t *testing.T, text string) string {
	t.Helper()
	return env.Must(endtoend.NewKey().Seal(endtoend.Content{Text: secret.New(text)}))(t).Reveal()
}
