package conformance

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"pushbox/store/cold"
	"pushbox/store/record"
)

var requestSuite = suite{
	"requests are kept and listed by owner":                         keepsRequests,
	"a request of an owner who may not act is refused":              refusesARequest,
	"an account has so many live requests":                          boundsRequests,
	"an account that asks at the same time has no request too many": boundsRequestsTogether,
	"an answer is kept with its push":                               answersARequest,
	"an answer that is refused leaves nothing":                      refusesAnswers,
	"the last answer is taken once":                                 takesTheLastAnswerOnce,
	"no answer comes after the end":                                 endsDuringAnswers,
	"a request is changed and removed":                              changesRequests,
	"requests go with their account":                                removesRequestsOfAnAccount,
	"mail about an answer that may not be sent is left out":         answersWithoutMail,
}

// requestOf is the n-th request, which takes so many answers for a day.
func requestOf(n int, owner record.AccountID, answers int) record.Request {
	at := epoch.Add(time.Duration(n) * time.Millisecond)
	return record.Request{
		ID: record.RequestID(pushID(n)), Owner: owner, CreatedAt: at, ExpiresAt: at.Add(24 * time.Hour),
		Texts: true, MaxAnswers: answers, Lifetime: time.Hour, Views: 3, Sealed: []byte("sealed request"),
	}
}

func ask(t *testing.T, e record.Engine, n int, owner record.AccountID, answers int) record.Request {
	t.Helper()
	r := requestOf(n, owner, answers)
	must(t, cold.CreateRequest(t.Context(), e, r))
	return r
}

// answerTo is the n-th push, as an answer.
func answerTo(r record.Request, n int) record.Push {
	p := livePush(n, r.Owner)
	p.Request, p.WrappedKey = r.ID, []byte("wrapped key")
	return p
}

func answer(t *testing.T, e record.Engine, r record.Request, n int) error {
	t.Helper()
	p := answerTo(r, n)
	_, err := e.AnswerRequest(t.Context(), p, payloadOf(n), creation(p))
	return err
}

func wantRequests(t *testing.T, e record.Engine, owner record.AccountID, want ...record.Request) {
	t.Helper()
	var all []record.Request
	for {
		list, err := cold.Requests(t.Context(), e, owner, record.Request{}, len(all), 2)
		must(t, err)
		all = append(all, list...)
		if len(list) < 2 {
			break
		}
	}
	same(t, "requests", all, want)
	all = nil
	for last := (record.Request{}); ; last = all[len(all)-1] {
		list, err := cold.Requests(t.Context(), e, owner, last, 0, 2)
		must(t, err)
		if all = append(all, list...); len(list) == 0 {
			break
		}
	}
	same(t, "requests behind each other", all, want)
}

// endRequest ends a request, at the time of its creation.
func endRequest(r record.Request) (record.Request, bool, error) {
	r.EndedAt = r.CreatedAt
	return r, false, nil
}

func dropRequest(r record.Request) (record.Request, bool, error) { return r, true, nil }

func mustChangeRequest(t *testing.T, e record.Engine, id record.RequestID, rule record.RequestRule) record.Request {
	t.Helper()
	r, err := cold.ChangeRequest(t.Context(), e, id, rule)
	must(t, err)
	return r
}

func keepsRequests(t *testing.T, e record.Engine) {
	ann, bob := account(t, e, "a@example.org"), account(t, e, "b@example.org")
	wantRequests(t, e, ann)
	first, other, second, third := ask(t, e, 1, ann, 1), ask(t, e, 2, bob, 1), ask(t, e, 3, ann, 2), ask(t, e, 4, ann, 1)
	wantErr(t, cold.CreateRequest(t.Context(), e, first), record.ErrExists)
	got, err := cold.Request(t.Context(), e, second.ID)
	must(t, err)
	same(t, "request", got, second)
	_, err = cold.Request(t.Context(), e, record.RequestID(pushID(9)))
	wantErr(t, err, record.ErrNotFound)
	third = mustChangeRequest(t, e, third.ID, endRequest)
	wantRequests(t, e, ann, second, first, third)
	wantRequests(t, e, bob, other)
	list, err := cold.ScanRequests(t.Context(), e, first.ID, 2)
	must(t, err)
	same(t, "requests behind the first", list, []record.Request{other, second})
	scribble(list[0].Sealed)
	wantRequests(t, e, bob, other)
}

func refusesARequest(t *testing.T, e record.Engine) {
	wantErr(t, cold.CreateRequest(t.Context(), e, requestOf(1, 7, 1)), record.ErrToken)
	owner := account(t, e, "a@example.org")
	kept := ask(t, e, 2, owner, 1)
	disable(t, e, owner)
	wantErr(t, cold.CreateRequest(t.Context(), e, requestOf(3, owner, 1)), record.ErrToken)
	wantErr(t, answer(t, e, kept, 4), record.ErrToken)
	wantRequests(t, e, owner, kept)
}

func disable(t *testing.T, e record.Engine, owner record.AccountID) {
	t.Helper()
	_, err := cold.ChangeAccount(t.Context(), e, owner, record.SessionDigest{}, func(a record.Account) (record.Account, record.SessionChange, record.AdminEvent, error) {
		a.Disabled = true
		return a, record.SessionChange{}, Told, nil
	})
	must(t, err)
}

func boundsRequests(t *testing.T, e record.Engine) {
	ann, bob := account(t, e, "a@example.org"), account(t, e, "b@example.org")
	for n := range record.MaxRequests {
		ask(t, e, n, ann, 1)
	}
	one := requestOf(200, ann, 1)
	wantErr(t, cold.CreateRequest(t.Context(), e, one), record.ErrRequests)
	ask(t, e, 201, bob, 1)
	must(t, answer(t, e, requestOf(0, ann, 1), 300)) // which ends it
	must(t, cold.CreateRequest(t.Context(), e, one))
	wantErr(t, cold.CreateRequest(t.Context(), e, requestOf(202, ann, 1)), record.ErrRequests)
	later := requestOf(203, ann, 1)
	later.CreatedAt = epoch.Add(25 * time.Hour) // when the time of all others is over
	must(t, cold.CreateRequest(t.Context(), e, later))
}

func boundsRequestsTogether(t *testing.T, e record.Engine) {
	ann := account(t, e, "a@example.org")
	for n := range record.MaxRequests - 1 {
		ask(t, e, n, ann, 1)
	}
	var made atomic.Int32
	together(8, func(i int) {
		switch err := cold.CreateRequest(t.Context(), e, requestOf(200+i, ann, 1)); {
		case err == nil:
			made.Add(1)
		case !errors.Is(err, record.ErrRequests):
			t.Error(err)
		}
	})
	same(t, "requests made", made.Load(), int32(1))
}

func answersARequest(t *testing.T, e record.Engine) {
	ann := account(t, e, "a@example.org")
	r := ask(t, e, 1, ann, 2)
	must(t, answer(t, e, r, 2))
	p := answerTo(r, 2)
	got, err := e.Push(t.Context(), p.ID)
	must(t, err)
	same(t, "push", got, p)
	r.Answers = []record.ID{p.ID}
	wantRequests(t, e, ann, r)
	must(t, answer(t, e, r, 3))
	r.Answers, r.EndedAt = append(r.Answers, pushID(3)), livePush(3, ann).CreatedAt
	wantRequests(t, e, ann, r)
	wantErr(t, answer(t, e, r, 4), record.ErrNotFound)
	pushes, err := e.Pushes(t.Context(), ann, true, record.ID{}, 0, 9)
	must(t, err)
	same(t, "pushes", len(pushes), 2)
}

func refusesAnswers(t *testing.T, e record.Engine) {
	ann, bob := account(t, e, "a@example.org"), account(t, e, "b@example.org")
	r := ask(t, e, 1, ann, 1)
	for n, change := range []func(*record.Push){
		func(p *record.Push) { p.Request = record.RequestID(pushID(9)) },
		func(p *record.Push) { p.Request = record.RequestID{} },
		func(p *record.Push) { p.Owner = bob },
		func(p *record.Push) { p.CreatedAt = r.ExpiresAt },
	} {
		p := answerTo(r, 10+n)
		change(&p)
		_, err := e.AnswerRequest(t.Context(), p, payloadOf(10+n), creation(p))
		wantErr(t, err, record.ErrNotFound)
		_, err = e.Push(t.Context(), p.ID)
		wantErr(t, err, record.ErrNotFound)
	}
	taken := create(t, e, 20, ann)
	wantErr(t, answer(t, e, r, 20), record.ErrExists)
	same(t, "push of that ID", mustPush(t, e, 20), taken)
	wantRequests(t, e, ann, r)
}

func takesTheLastAnswerOnce(t *testing.T, e record.Engine) {
	const racers = 16
	ann := account(t, e, "a@example.org")
	for n, most := range []int{1, 2, 5} {
		r := ask(t, e, n, ann, most)
		var taken atomic.Int32
		together(racers, func(i int) {
			switch err := answer(t, e, r, 100*(n+1)+i); {
			case err == nil:
				taken.Add(1)
			case !errors.Is(err, record.ErrNotFound):
				t.Error(err)
			}
		})
		same(t, "answers taken", int(taken.Load()), most)
		got, err := cold.Request(t.Context(), e, r.ID)
		must(t, err)
		same(t, "answers counted", len(got.Answers), most)
		if got.EndedAt.IsZero() {
			t.Error("it has not ended")
		}
		for _, id := range got.Answers {
			if p, err := e.Push(t.Context(), id); err != nil || p.Request != r.ID {
				t.Errorf("an answer is %+v, %v", p, err)
			}
		}
	}
	pushes, err := e.Pushes(t.Context(), ann, true, record.ID{}, 0, 99)
	must(t, err)
	same(t, "pushes", len(pushes), 8)
}

func endsDuringAnswers(t *testing.T, e record.Engine) {
	ann := account(t, e, "a@example.org")
	r := ask(t, e, 1, ann, record.MaxAnswers)
	var taken atomic.Int32
	var counted int
	together(9, func(i int) {
		if i == 8 {
			r, err := cold.ChangeRequest(t.Context(), e, r.ID, endRequest)
			if err != nil {
				t.Error(err)
			}
			counted = len(r.Answers)
			return
		}
		switch err := answer(t, e, r, 10+i); {
		case err == nil:
			taken.Add(1)
		case !errors.Is(err, record.ErrNotFound):
			t.Error(err)
		}
	})
	same(t, "answers before the end", int(taken.Load()), counted)
	got, err := cold.Request(t.Context(), e, r.ID)
	must(t, err)
	same(t, "answers", len(got.Answers), counted)
	wantErr(t, answer(t, e, r, 99), record.ErrNotFound)
}

func changesRequests(t *testing.T, e record.Engine) {
	ann := account(t, e, "a@example.org")
	r, other := ask(t, e, 1, ann, 1), ask(t, e, 2, ann, 1)
	_, err := cold.ChangeRequest(t.Context(), e, record.RequestID(pushID(9)), endRequest)
	wantErr(t, err, record.ErrNotFound)
	refusal := fmt.Errorf("a refusal")
	_, err = cold.ChangeRequest(t.Context(), e, r.ID, func(r record.Request) (record.Request, bool, error) { return record.Request{}, true, refusal })
	wantErr(t, err, refusal)
	same(t, "unchanged", mustChangeRequest(t, e, r.ID, func(r record.Request) (record.Request, bool, error) { return r, false, nil }), r)
	if _, err = cold.ChangeRequest(t.Context(), e, r.ID, func(record.Request) (record.Request, bool, error) { panic("secret") }); err == nil {
		t.Error("a rule panicked without an error")
	}
	r = mustChangeRequest(t, e, r.ID, endRequest)
	wantRequests(t, e, ann, other, r)
	same(t, "removed", mustChangeRequest(t, e, r.ID, dropRequest), r)
	_, err = cold.ChangeRequest(t.Context(), e, r.ID, dropRequest)
	wantErr(t, err, record.ErrNotFound)
	wantRequests(t, e, ann, other)
}

func removesRequestsOfAnAccount(t *testing.T, e record.Engine) {
	ann, bob := account(t, e, "a@example.org"), account(t, e, "b@example.org")
	mustChangeRequest(t, e, ask(t, e, 1, ann, 1).ID, endRequest)
	ask(t, e, 2, ann, 1)
	other := ask(t, e, 3, bob, 1)
	must(t, cold.RemoveAccount(t.Context(), e, ann, Told))
	list, err := cold.ScanRequests(t.Context(), e, record.RequestID{}, 9)
	must(t, err)
	same(t, "requests", list, []record.Request{other})
}

func answersWithoutMail(t *testing.T, e record.Engine) {
	ann := account(t, e, "a@example.org")
	r := ask(t, e, 1, ann, 5)
	for n, most := range []uint64{1, 1} {
		p := answerTo(r, 10+n)
		en := creation(p)
		en.Mail = mailOf(1, ann, 7, most)
		en.Mail.Sender, en.Mail.Optional = ann, true
		kept, err := e.AnswerRequest(t.Context(), p, payloadOf(10+n), en)
		must(t, err)
		same(t, "with mail", kept.Mail != nil, n == 0)
		wantWaiting(t, e, 1)
	}
	p := answerTo(r, 20)
	en := creation(p)
	en.Messages = []record.Message{messageAt(1)}
	kept, err := e.AnswerRequest(t.Context(), p, payloadOf(20), en)
	must(t, err)
	same(t, "messages", len(kept.Messages), 1)
	wantWaiting(t, e, 2)
}
