package store

import (
	"context"
	"slices"
	"strings"

	"pushbox/store/cold"
	"pushbox/store/record"
)

// maxAccountsRead is how many account IDs one call of FindAccounts passes at most.
const maxAccountsRead = 20 * listBatch

// FindAccounts lists accounts whose addresses contain words, newest first: up to PageSize
// of those with a lower ID than before, or of all if before is 0. It reads a bounded number
// of accounts, so it may find fewer. rest is the before of the next call; 0 if there are no
// more accounts.
func (s *Store) FindAccounts(ctx context.Context, words string, before record.AccountID) (found []record.Account, rest record.AccountID, err error) {
	last, err := cold.LastAccount(ctx, s.engine)
	if err != nil {
		return nil, 0, err
	}
	if before == 0 || before > last {
		before = last + 1
	}
	words = accountKey(words)
	for range maxAccountsRead / listBatch {
		if before <= 1 {
			return found, 0, nil
		}
		after := before - min(before, listBatch+1)
		list, err := cold.Accounts(ctx, s.engine, after, int(before-1-after))
		if err != nil {
			return nil, 0, err
		}
		for _, a := range slices.Backward(list) { // where IDs are missing, the list continues past before
			if a.ID >= before || !strings.Contains(a.Email, words) {
				continue
			}
			if len(found) == PageSize {
				return found, found[PageSize-1].ID, nil
			}
			found = append(found, a)
		}
		before = after + 1
	}
	return found, before, nil
}
