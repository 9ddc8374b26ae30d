package postgres

import (
	"context"

	"github.com/jackc/pgx/v5/pgxpool"

	"pushbox/store/record"
)

// answerPlan is what an answer does to its request, and the row that this was decided by.
// The zero value is no answer.
type answerPlan struct {
	next     record.Request
	old, row []byte // nil: none
}

// planAnswer decides whether a push may answer its request, if it has one.
func (s sealer) planAnswer(ctx context.Context, c *pgxpool.Conn, p record.Push) (a answerPlan, err error) {
	if p.Request == (record.RequestID{}) {
		return a, nil
	}
	t := &tableTx{sealer: s, ctx: ctx, conn: c}
	r, err := record.Requests.Get(t, p.Request[:])
	if err != nil {
		return a, t.outcome(err)
	}
	if a.next, err = r.Answer(p); err != nil {
		return a, decide(err)
	}
	a.old = t.row(record.Requests.Table, r.Key())
	a.row, err = s.seal(tableRequest, r.ID[:], a.next)
	return a, decide(err)
}

// lock adds the part t, which has a row if the request is as it was read.
func (a answerPlan) lock(st *statement) {
	if a.old == nil {
		st.part("t", "select 1")
		return
	}
	st.part("t", "select 1 from request where id = "+st.arg("bytea", a.next.ID[:])+" and value = "+st.arg("bytea", a.old)+" for update")
}

// write adds the part that counts the answer.
func (a answerPlan) write(st *statement) {
	if a.old == nil {
		return
	}
	st.part("tu", "update request set live = "+st.arg("boolean", a.next.EndedAt.IsZero())+", value = "+st.arg("bytea", a.row)+
		" from p where request.id = "+st.arg("bytea", a.next.ID[:]))
}
