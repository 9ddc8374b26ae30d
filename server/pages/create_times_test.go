package pages_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"pushbox/internal/testkit/env"
	"pushbox/server/servertest"
	"pushbox/store"
)

// The clock of the server begins at 2026-01-01 00:00 UTC. A script adds how many minutes a typed time is behind UTC.
func TestTheFormTakesExactTimes(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	for name, test := range map[string]struct {
		typed              map[string]string
		opens, ends, close string
	}{
		"in UTC":            {map[string]string{"open_from": "2026-01-02T08:00", "expires_at": "2026-01-03T16:30"}, "2026-01-02T08:00:00.000Z", "2026-01-03T16:30:00.000Z", "null"},
		"east of it":        {map[string]string{"open_from": "2026-01-02T08:00 -60", "expires_at": "2026-03-29T16:30 -120"}, "2026-01-02T07:00:00.000Z", "2026-03-29T14:30:00.000Z", "null"},
		"west of it":        {map[string]string{"expires_at": "2026-01-03T16:30 210"}, "null", "2026-01-03T20:00:00.000Z", "null"},
		"with its zone":     {map[string]string{"expires_at": "2026-01-03T16:30:00+01:00"}, "null", "2026-01-03T15:30:00.000Z", "null"},
		"beside days":       {map[string]string{"expires_at": "2026-01-03T16:30", "expire_after_days": ""}, "null", "2026-01-03T16:30:00.000Z", "null"},
		"beside a choice":   {map[string]string{"expires_at": "2026-01-03T16:30", "expire_after_duration": "6"}, "null", "2026-01-03T16:30:00.000Z", "null"},
		"without any field": {map[string]string{"expires_at": "2026-01-03T16:30", "expire_after_days": servertest.Unticked, "expire_after_duration": servertest.Unticked}, "null", "2026-01-03T16:30:00.000Z", "null"},
		"none":              {map[string]string{"open_from": "", "expires_at": "", "close_after_first_view": ""}, "null", "2026-01-08T00:00:00.000Z", "null"},
		"after a view":      {map[string]string{"close_after_first_view": "3"}, "null", "2026-01-08T00:00:00.000Z", "3"},
	} {
		token := a.SendForm(servertest.Typed(test.typed)).PushToken()
		got := env.Must(a.Store.Preview(t.Context(), env.Must(store.ParseToken(token))(t)))(t)
		moment := func(at time.Time) string {
			if at.IsZero() {
				return "null"
			}
			return at.UTC().Format("2006-01-02T15:04:05.000Z")
		}
		closes := "null"
		if got.CloseAfter == time.Hour {
			closes = "3"
		}
		if moment(got.OpensAt) != test.opens || moment(got.ExpiresAt) != test.ends || closes != test.close {
			t.Errorf("%s: it opens %v, ends %v, closes after %v", name, got.OpensAt, got.ExpiresAt, got.CloseAfter)
		}
	}
}

func TestWrongTimesAreToldAtTheirFieldsAndStay(t *testing.T) {
	t.Parallel()
	const (
		opens  = "Choose a time in the future, before the secret expires."
		ends   = "Choose a time in the future. The end must be 1 to 90 days from now; a part of a day counts as one."
		closes = "For this kind, the time must be between 1 and 90 days."
	)
	a := servertest.New(t)
	for _, test := range []struct{ field, typed, stays, says string }{
		{"expires_at", "2026-01-01T00:00", "2026-01-01T00:00", ends},
		{"expires_at", "2026-01-01T00:01", "", ""},
		{"expires_at", "2026-01-01T01:00 -60", "2026-01-01T01:00", ends},
		{"expires_at", "2026-01-01T01:01 -60", "", ""},
		{"expires_at", "2026-04-01T00:01", "2026-04-01T00:01", ends},
		{"expires_at", "2026-04-01T00:00", "", ""},
		{"expires_at", "tomorrow", "tomorrow", ends},
		{"expires_at", "2026-01-03T16:30 1440", "2026-01-03T16:30 1440", ends},
		{"expires_at", "2026-01-03T16:30 x", "2026-01-03T16:30 x", ends},
		{"expires_at", strings.Repeat("9", 65), "", ends},
		{"open_from", "2026-01-01T00:00", "2026-01-01T00:00", opens},
		{"open_from", "2026-01-01T00:01", "", ""},
		{"open_from", "2026-01-08T00:00", "2026-01-08T00:00", opens},
		{"open_from", "2026-01-07T23:59", "", ""},
		{"open_from", "2026-01-08T09:00 -540", "2026-01-08T09:00", opens},
		{"close_after_first_view", "17", "", ""},
		{"close_after_first_view", "18", "", closes},
	} {
		got := a.SendForm(servertest.Typed(map[string]string{test.field: test.typed}))
		if test.says == "" {
			got.PushToken()
			continue
		}
		id := strings.TrimSuffix(test.field, "_after_first_view")
		if told := got.Problems(); len(told) != 1 || told[0] != test.says || !strings.Contains(got.Body, `id="`+id+`-error"`) {
			t.Errorf("%s %q: %q", test.field, test.typed, told)
		}
		if back := got.TypedInto(id); back != test.stays {
			t.Errorf("%s %q came back as %q", test.field, test.typed, back)
		}
		if !has(got.Page().ID("more"), "open") {
			t.Errorf("%s %q: the options are folded", test.field, test.typed)
		}
	}
}

// What was typed is kept with other problems, too, and the sentence about the end stays true.
func TestTimesStayBesideOtherProblems(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	const after, always = "Deleted after 7 days or 5 views.", "Deleted when the link expires."
	for _, test := range []struct {
		typed map[string]string
		says  string
	}{
		{map[string]string{"expire_after_duration": "12", "open_from": "2026-01-02T08:00 -60"}, after},
		{map[string]string{"expire_after_duration": "12", "expires_at": "2026-01-03T16:30 -60"}, always},
		{map[string]string{"expire_after_duration": "12", "close_after_first_view": "3"}, always},
	} {
		test.typed["payload"] = ""
		got := a.SendForm(servertest.Typed(test.typed)).Want(http.StatusUnprocessableEntity)
		for _, field := range []string{"open_from", "expires_at"} {
			if want, _, _ := strings.Cut(test.typed[field], " "); got.TypedInto(field) != want {
				t.Errorf("%v: %s is %q", test.typed, field, got.TypedInto(field))
			}
		}
		if closes := chosenIn(got.Page().ID("close")); closes != test.typed["close_after_first_view"] {
			t.Errorf("%v: it closes after %q", test.typed, closes)
		}
		if gone := got.Page().ID("gone"); gone == nil || gone.FirstChild.Data != test.says {
			t.Errorf("%v: the page does not say %q", test.typed, test.says)
		}
	}
}

// chosenIn returns the value of the chosen option of a list.
func chosenIn(list servertest.Node) (value string) {
	for option := range list.Descendants() {
		if has(option, "selected") {
			value = servertest.Attr(option, "value")
		}
	}
	return value
}

func TestTheSameOptionsCloseAfterTheFirstView(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	receipt, _ := made(t, a, map[string]string{"expire_after_duration": "12", "expire_after_days": servertest.Unticked, "close_after_first_view": "3", "open_from": "2026-01-01T00:01"})
	push, _, _ := strings.Cut(receipt, "/receipt/")
	want := url.Values{"kind": {"text"}, "expire_after_duration": {"12"}, "expire_after_views": {"5"}, "retrieval_step": {"on"}, "deletable_by_viewer": {"on"}, "close_after_first_view": {"3"}}
	same := func() string { return a.Get(receipt).Page().Link("Send again with the same options") }
	if got := same(); got != "/?"+want.Encode() {
		t.Errorf("it leads to %s", got)
	}
	if got := chosenIn(a.Get(same()).Page().ID("close")); got != "3" {
		t.Errorf("the form closes after %q", got)
	}
	a.Store.Clock.Advance(5 * time.Minute)
	a.Send(push, nil).Want(http.StatusOK)
	want.Del("expire_after_duration") // the view has brought the end forward
	if got := same(); got != "/?"+want.Encode() {
		t.Errorf("after a view it leads to %s", got)
	}
}

// Recipients are told that the first view brings the end forward, while it is still to come and does so.
func TestPagesSayHowLongAPushStaysAfterItsFirstView(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ann := a.AddSessionUser("ann@example.com")
	const owner, step = "Closes 1 hour after the first view", "After it is first opened, it stays open for 1 hour; then it is deleted."
	for name, test := range map[string]struct {
		members       string
		toAll, toMine bool
	}{
		"several views":   {`"close_after_first_view":3`, true, true},
		"one view":        {`"close_after_first_view":3,"expire_after_views":1`, false, true},
		"ends as soon":    {`"close_after_first_view":3,"expire_after_duration":3`, false, true},
		"ends a bit late": {`"close_after_first_view":3,"expires_at":"2026-01-01T01:00:01Z"`, true, true},
		"no such time":    {`"expire_after_views":5`, false, false},
	} {
		token := a.Do("POST", "/api/v2/pushes", `{"push":{"payload":"x",`+test.members+`}}`, a.AddToken("ann@example.com")).Want(http.StatusCreated).Text("url_token")
		if got := a.Get("/p/" + token + "/r").Page().Words(); strings.Contains(got, step) != test.toAll {
			t.Errorf("%s: %s", name, got)
		}
		if got := a.Get("/p/"+token+"/audit", ann).Page().Words(); strings.Contains(got, owner) != test.toMine {
			t.Errorf("%s: %s", name, got)
		}
	}
	receipt, _ := made(t, a, map[string]string{"close_after_first_view": "3"}, ann)
	a.Get(receipt, ann).Page().Has(owner)
	push, _, _ := strings.Cut(receipt, "/receipt/")
	a.Send(push, nil).Want(http.StatusOK)
	a.Get(push + "/r").Page().Has("Expires on 2026-01-01 01:00 UTC (60 minutes left).").Lacks(step)
	a.Get("/p", ann).Page().Has("60 minutes")
}
