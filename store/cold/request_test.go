package cold_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"pushbox/store/cold"
	"pushbox/store/record"
	"pushbox/store/storetest/conformance"
)

func TestRequests(t *testing.T) {
	suite{
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
	}.run(t)
}

func ask(t *testing.T, e record.Engine, n int, owner record.AccountID, answers int) record.Request {
	t.Helper()
	r := conformance.RequestOf(n, owner, answers)
	must(t, cold.CreateRequest(t.Context(), e, r, nil))
	return r
}

func answer(t *testing.T, e record.Engine, r record.Request, n int) error {
	t.Helper()
	p := conformance.AnswerTo(r, n)
	_, err := e.CreatePush(t.Context(), p, conformance.Payload(n), conformance.Creation(p))
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
	wantErr(t, cold.CreateRequest(t.Context(), e, first, nil), record.ErrExists)
	got, err := cold.Request(t.Context(), e, second.ID)
	must(t, err)
	same(t, "request", got, second)
	_, err = cold.Request(t.Context(), e, record.RequestID(conformance.PushID(9)))
	wantErr(t, err, record.ErrNotFound)
	third = mustChangeRequest(t, e, third.ID, conformance.EndRequest)
	wantRequests(t, e, ann, second, first, third)
	wantRequests(t, e, bob, other)
	list, err := cold.ScanRequests(t.Context(), e, first.ID, 2)
	must(t, err)
	same(t, "requests behind the first", list, []record.Request{other, second})
	clear(list[0].Sealed)
	wantRequests(t, e, bob, other)
}

func refusesARequest(t *testing.T, e record.Engine) {
	wantErr(t, cold.CreateRequest(t.Context(), e, conformance.RequestOf(1, 7, 1), nil), record.ErrToken)
	owner := account(t, e, "a@example.org")
	kept := ask(t, e, 2, owner, 1)
	disable(t, e, owner)
	wantErr(t, cold.CreateRequest(t.Context(), e, conformance.RequestOf(3, owner, 1), nil), record.ErrToken)
	wantErr(t, answer(t, e, kept, 4), record.ErrToken)
	wantRequests(t, e, owner, kept)
}

func disable(t *testing.T, e record.Engine, owner record.AccountID) {
	t.Helper()
	_, err := cold.ChangeAccount(t.Context(), e, owner, record.SessionDigest{}, func(a record.Account) (record.Account, record.SessionChange, record.AdminEvent, error) {
		a.Disabled = true
		return a, record.SessionChange{}, conformance.Told, nil
	})
	must(t, err)
}

func boundsRequests(t *testing.T, e record.Engine) {
	ann, bob := account(t, e, "a@example.org"), account(t, e, "b@example.org")
	for n := range record.MaxRequests {
		ask(t, e, n, ann, 1)
	}
	one := conformance.RequestOf(200, ann, 1)
	wantErr(t, cold.CreateRequest(t.Context(), e, one, nil), record.ErrRequests)
	ask(t, e, 201, bob, 1)
	must(t, answer(t, e, conformance.RequestOf(0, ann, 1), 300)) // which ends it
	must(t, cold.CreateRequest(t.Context(), e, one, nil))
	wantErr(t, cold.CreateRequest(t.Context(), e, conformance.RequestOf(202, ann, 1), nil), record.ErrRequests)
	later := conformance.RequestOf(203, ann, 1)
	later.CreatedAt = epoch.Add(25 * time.Hour) // when the time of all others is over
	must(t, cold.CreateRequest(t.Context(), e, later, nil))
}

func boundsRequestsTogether(t *testing.T, e record.Engine) {
	ann := account(t, e, "a@example.org")
	for n := range record.MaxRequests - 1 {
		ask(t, e, n, ann, 1)
	}
	var made atomic.Int32
	together(8, func(i int) {
		switch err := cold.CreateRequest(t.Context(), e, conformance.RequestOf(200+i, ann, 1), nil); {
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
	p := conformance.AnswerTo(r, 2)
	got, err := conformance.Push(t.Context(), e, p.ID)
	must(t, err)
	same(t, "push", got, p)
	r.Answers = []record.ID{p.ID}
	wantRequests(t, e, ann, r)
	must(t, answer(t, e, r, 3))
	r.Answers, r.EndedAt = append(r.Answers, conformance.PushID(3)), conformance.LivePush(3, ann).CreatedAt
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
		func(p *record.Push) { p.Request = record.RequestID(conformance.PushID(9)) },
		func(p *record.Push) { p.Owner = bob },
		func(p *record.Push) { p.CreatedAt = r.ExpiresAt },
	} {
		p := conformance.AnswerTo(r, 10+n)
		change(&p)
		_, err := e.CreatePush(t.Context(), p, conformance.Payload(10+n), conformance.Creation(p))
		wantErr(t, err, record.ErrNotFound)
		_, err = conformance.Push(t.Context(), e, p.ID)
		wantErr(t, err, record.ErrNotFound)
	}
	taken := create(t, e, 20, ann)
	wantErr(t, answer(t, e, r, 20), record.ErrExists)
	got, err := conformance.Push(t.Context(), e, taken.ID)
	must(t, err)
	same(t, "push of that ID", got, taken)
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
			if p, err := conformance.Push(t.Context(), e, id); err != nil || p.Request != r.ID {
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
			r, err := cold.ChangeRequest(t.Context(), e, r.ID, conformance.EndRequest)
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
	_, err := cold.ChangeRequest(t.Context(), e, record.RequestID(conformance.PushID(9)), conformance.EndRequest)
	wantErr(t, err, record.ErrNotFound)
	refusal := fmt.Errorf("a refusal")
	_, err = cold.ChangeRequest(t.Context(), e, r.ID, func(r record.Request) (record.Request, bool, error) { return record.Request{}, true, refusal })
	wantErr(t, err, refusal)
	same(t, "unchanged", mustChangeRequest(t, e, r.ID, func(r record.Request) (record.Request, bool, error) { return r, false, nil }), r)
	if _, err = cold.ChangeRequest(t.Context(), e, r.ID, func(record.Request) (record.Request, bool, error) { panic("secret") }); err == nil {
		t.Error("a rule panicked without an error")
	}
	r = mustChangeRequest(t, e, r.ID, conformance.EndRequest)
	wantRequests(t, e, ann, other, r)
	same(t, "removed", mustChangeRequest(t, e, r.ID, dropRequest), r)
	_, err = cold.ChangeRequest(t.Context(), e, r.ID, dropRequest)
	wantErr(t, err, record.ErrNotFound)
	wantRequests(t, e, ann, other)
}

func removesRequestsOfAnAccount(t *testing.T, e record.Engine) {
	ann, bob := account(t, e, "a@example.org"), account(t, e, "b@example.org")
	mustChangeRequest(t, e, ask(t, e, 1, ann, 1).ID, conformance.EndRequest)
	ask(t, e, 2, ann, 1)
	other := ask(t, e, 3, bob, 1)
	must(t, cold.RemoveAccount(t.Context(), e, ann, conformance.Told))
	list, err := cold.ScanRequests(t.Context(), e, record.RequestID{}, 9)
	must(t, err)
	same(t, "requests", list, []record.Request{other})
}
