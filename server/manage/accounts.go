// Package manage has the actions of administrators, for pages and the API: to find and change
// accounts, and to read the instance log and the findings about the installation.
package manage

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"pushbox/config"
	"pushbox/server/action"
	"pushbox/server/body"
	"pushbox/store"
	"pushbox/store/record"
)

// A Desk runs the actions of administrators on accounts, the instance log and the installation.
type Desk struct {
	Store  *store.Store
	Config config.Config
	Recent *Recent

	Findings func(context.Context) ([]Finding, error) // findings about the installation; nil: none
	Settings func() []config.Value                    // those in force; nil: none
}

// SetPolicy gives an account a policy, or none. record.ErrNotFound also if the settings do not
// have it.
func (s *Desk) SetPolicy(r *action.Request, email, name string) error {
	err := s.Store.SetPolicy(r.Context(), r.Actor, email, name)
	if unknown := (*record.InvalidError)(nil); errors.As(err, &unknown) {
		return record.ErrNotFound
	}
	return err
}

// An AccountQuery selects accounts for a list.
type AccountQuery struct {
	Words  string
	Before record.AccountID // only accounts of lower numbers; 0: from the newest
}

// BeforeField is the field of a query for items that are older than a number.
const BeforeField = "before"

// ReadAccountQuery reads the query of a list of accounts.
func ReadAccountQuery(query string) (q AccountQuery, err error) {
	pairs, err := body.ParseQuery(query)
	if err != nil {
		return q, err
	}
	words, _, err := pairs.Only(SearchField)
	if err != nil {
		return q, err
	}
	if q.Words = strings.TrimSpace(words.Reveal()); len(q.Words) > MaxSearch {
		return q, ErrSearch
	}
	before, err := numberIn(pairs, BeforeField)
	q.Before = record.AccountID(before)
	return q, err
}

// numberIn returns a number of a query; 0 if there is none.
func numberIn(pairs body.Pairs, name string) (uint64, error) {
	text, has, err := pairs.Only(name)
	if err != nil || !has || text.IsZero() {
		return 0, err
	}
	n, err := strconv.ParseUint(text.Reveal(), 10, 64)
	if err != nil {
		return 0, ErrNumber
	}
	return n, nil
}

// ErrNumber refuses a number in a query.
const ErrNumber = action.BadRequest("A number in the query must be a whole number, without a sign.")

// FindAccounts returns a part of the list of accounts, with the room of their live pushes, and the
// number before which there may be more; 0 if there are no more.
func (s *Desk) FindAccounts(r *action.Request, q AccountQuery) (found []record.Account, rooms map[record.AccountID]record.Room, rest record.AccountID, err error) {
	found, rest, err = s.Store.FindAccounts(r.Context(), q.Words, q.Before)
	if err != nil {
		return nil, nil, 0, err
	}
	ids := make([]record.AccountID, len(found))
	for i, a := range found {
		ids[i] = a.ID
	}
	rooms, err = s.Store.AccountRooms(r.Context(), ids)
	return found, rooms, rest, err
}

// AccountInPath returns the account whose number the path has, or record.ErrNotFound.
func (s *Desk) AccountInPath(r *action.Request) (record.Account, error) {
	id, err := strconv.ParseUint(r.Name.Reveal(), 10, 64)
	if err != nil {
		return record.Account{}, record.ErrNotFound
	}
	return s.Store.AccountByID(r.Context(), record.AccountID(id))
}

// maxSearch is the length in bytes of the longest text to search for.
// SearchField is the field of the query with words to search for.
const SearchField = "q"

// MaxSearch is how many bytes the words may have.
const MaxSearch = 255

// ErrSearch refuses a text that is too long.
const ErrSearch = action.BadRequest("The text to search for is too long.")
