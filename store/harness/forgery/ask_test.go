package forgery

import (
	"fmt"
	"time"

	"pushbox/internal/secret"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

// ask asks a store all that it tells, and returns the answers. Questions that change
// something come last.
func (w *world) ask(f *storetest.Fixture) map[string]any {
	answers := make(map[string]any)
	note := func(answer any, err error, question string, of any) {
		if err != nil {
			answer = err
		}
		answers[fmt.Sprintf("%s of %v", question, of)] = answer
	}
	w.askAccounts(f, note)
	w.askPushes(f, note)
	_, err := f.Sweep(ctx)
	note(nil, err, "sweep", "all")
	for _, p := range w.pushes { // without the passphrase, which is answered at once
		got, err := f.Retrieve(ctx, storetest.Anonymous, p.token, secret.Text{}, nil)
		got.Grant = secret.Text{} // which is another each time
		note(got, err, "retrieval", p.name)
		for i := range p.files {
			content, err := storetest.Download(f, p.grant, i)
			note(content, err, fmt.Sprintf("file %d", i), p.name)
		}
	}
	return answers
}

// note notes the answer to a question, or its error.
type note func(answer any, err error, question string, of any)

func (w *world) askAccounts(f *storetest.Fixture, note note) {
	accounts, err := f.Accounts(ctx)
	note(accounts, err, "accounts", "all")
	events, err := f.AdminEvents(ctx, time.Time{}, 0, 100)
	note(events, err, "events", "all")
	for _, route := range []record.Route{record.ByMail, record.ByWebhook} {
		due, _, err := f.DueMessages(ctx, record.MessageQuery{Route: route, Limit: 100, Until: f.Clock.Now().Add(time.Hour)})
		note(due, err, "messages", route)
	}
	for _, a := range w.accounts {
		owner, token, err := f.Authenticate(ctx, storetest.Anonymous, a.apiToken)
		note([]any{owner, token}, err, "API token", a.email)
		session, err := f.Resume(ctx, a.session)
		note(session, err, "session", a.email)
		sessions, err := f.Sessions(ctx, a.session)
		note(sessions, err, "sessions", a.email)
		tokens, err := f.Tokens(ctx, a.email)
		note(tokens, err, "API tokens", a.email)
		hooks, err := f.Hooks(ctx, a.email)
		note(hooks, err, "webhooks", a.email)
		for _, live := range []bool{true, false} {
			list, err := f.Pushes(ctx, a.by, live, 1)
			note(list, err, fmt.Sprintf("pushes (live: %t)", live), a.email)
		}
	}
}

func (w *world) askPushes(f *storetest.Fixture, note note) {
	for _, p := range w.pushes {
		seen, err := f.Look(ctx, p.token)
		note(seen, err, "preview", p.name)
		if p.by.Account != 0 {
			h, err := f.History(ctx, p.by, p.token, 1)
			note(h, err, "history", p.name)
		}
	}
}
