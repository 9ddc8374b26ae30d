package storetest

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"reflect"
	"testing"
	"time"

	"pushbox/store"
)

// Conformance runs the suite that every store.Engine has to pass. Each test
// opens an empty engine of its own, and ends with a check that must find
// nothing.
func Conformance(t *testing.T, open func(t *testing.T) store.Engine) {
	t.Helper()
	for name, test := range conformance {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := open(t)
			t.Cleanup(func() {
				if err := e.Close(); err != nil {
					t.Errorf("close: %v", err)
				}
			})
			test(t, e)
			CheckClean(t, e)
		})
	}
}

var conformance = map[string]func(*testing.T, store.Engine){
	"a push is kept with its payload and first entry":       keepsAPush,
	"an ID that is taken is refused":                        refusesATakenID,
	"an owner who may not act is refused":                   refusesAnOwner,
	"what is not there is not found":                        findsNothing,
	"a change is applied with its entry":                    appliesAChange,
	"a change without an entry appends none":                appliesASilentChange,
	"a rule that changes nothing writes nothing":            leavesAlone,
	"an error of a rule is returned and changes nothing":    returnsRuleErrors,
	"a rule that panics changes nothing":                    survivesAPanic,
	"a rule that breaks the rules is refused":               refusesABadRule,
	"a push that ends loses its payload":                    destroysPayloads,
	"a purged push goes altogether":                         purges,
	"results are copies":                                    returnsCopies,
	"a context that ended stops every method":               heedsContexts,
	"a closed engine refuses every method":                  refusesWhenClosed,
	"an owner's pushes are listed newest first":             listsPushes,
	"pushes move between the lists":                         movesBetweenLists,
	"entries are listed oldest first":                       listsEntries,
	"what is due is listed earliest first":                  listsDue,
	"each shelf has its own rows":                           separatesShelves,
	"a scan finds every push":                               scansEverything,
	"accounts are kept and found":                           keepsAccounts,
	"accounts are listed by ID":                             listsAccounts,
	"a first account is kept where there is none":           keepsTheFirstAccount,
	"a changed account keeps its ID and address":            changesAccounts,
	"an account that owns pushes is not removed":            keepsOwners,
	"a removed account is forgotten with all that is its":   removesAccounts,
	"the ID of a removed account is not given out again":    givesOutNewIDs,
	"tokens are kept and found with their account":          keepsTokens,
	"tokens are listed by ID":                               listsTokens,
	"a token remembers when it was used":                    touchesTokens,
	"a removed token is not found":                          removesTokens,
	"sessions are kept and found with their account":        keepsSessions,
	"sessions are listed newest first":                      listsSessions,
	"a change of an account ends the sessions it says":      endsSessions,
	"a change is refused by a session that is not there":    refusesStrangeSessions,
	"a new session takes the place of the oldest":           replacesOldSessions,
	"a session remembers when it was used":                  touchesSessions,
	"a removed session is not found":                        removesSessions,
	"sessions that are over are cleared step by step":       clearsSessions,
	"a cleaner that panics changes nothing":                 survivesAClearingPanic,
	"a session and the change that ends it never miss":      ordersSessions,
	"webhooks are kept and listed by owner":                 keepsHooks,
	"a webhook of an owner who may not act is refused":      refusesAHook,
	"a removed webhook is gone, and its ID for good":        removesHooks,
	"messages wait in the order of their next try":          ordersMessages,
	"messages go with the change that they tell of":         tellsOfChanges,
	"a message is tried again when it was put off to":       retriesMessages,
	"messages that were delivered are gone":                 endsMessages,
	"a view that is told of stays a light one":              viewsWithMessages,
	"mail goes with the step that sends it, or neither":     sendsMail,
	"mail counts against the quotas of its day":             countsMail,
	"a new push may have two entries":                       createsWithTwoEntries,
	"the key ring is kept":                                  keepsTheKeyRing,
	"the latest time only grows":                            keepsTheLatestTime,
	"views at the same time never pass the limit":           countsConcurrently,
	"failing operations do no harm to those beside them":    isolatesFailures,
	"an account and its pushes never miss each other":       ordersOwnership,
	"random operations agree with a model":                  agreesWithAModel,
	"an operation is seen by the next one of any goroutine": isLinear,

	"chunks become a push's with its creation":               adoptsChunks,
	"files without their chunks are refused":                 refusesFilesWithoutChunks,
	"chunks of a push that was refused stay orphans":         keepsOrphansOfARefusedPush,
	"a push that is there gets no more chunks":               refusesChunksOfAPush,
	"chunks are told apart by push, file and number":         tellsChunksApart,
	"chunks and grants are copies":                           copiesChunks,
	"orphans are freed step by step and others left":         freesStepByStep,
	"orphans are listed by ID":                               listsOrphans,
	"files that are given up end their grants":               releasesFiles,
	"a grant is issued with its entry":                       issuesGrants,
	"a grant is issued where no entry is":                    issuesSilently,
	"a chunk is read under a grant for its push alone":       readsUnderAGrant,
	"a grant for files that are given up is not issued":      issuesNothingForNoFiles,
	"a push that has expired holds its files for its grants": closesWithGrants,
	"the end of a grant moves with that of its push":         slidesGrants,
	"the end of a grant moves nothing else of a live push":   slidesGrantsOfALivePush,
	"a grant that is not kept is gone":                       dropsGrants,
	"a grant rule that panics changes nothing":               survivesAGrantPanic,
	"grants that ended do not pile up":                       forgetsEndedGrants,
	"a new grant makes room by those that ended alone":       forgetsNoOtherGrants,
	"uploads and small operations go on beside each other":   uploadsConcurrently,
	"chunks are freed or become a push's, and never both":    ordersAdoption,
	"a grant and the end of its files never miss each other": ordersRelease,
}

// CheckClean fails the test for everything that the engine's check reports. An
// engine that the test closed is left alone.
func CheckClean(t *testing.T, e store.Engine) {
	t.Helper()
	err := e.Check(t.Context(), func(problem string) { t.Errorf("check: %s", problem) })
	if err != nil && !errors.Is(err, store.ErrClosed) {
		t.Errorf("check: %v", err)
	}
}

// epoch is when the pushes of the suite begin.
var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// pushID is the ID of the n-th push. Later ones are greater.
func pushID(n int) (id store.ID) {
	binary.BigEndian.PutUint64(id[:8], uint64(epoch.UnixMilli()+int64(n))<<16)
	mac := sha256.Sum256(binary.BigEndian.AppendUint64(nil, uint64(n)))
	copy(id[6:], mac[:])
	return id
}

// livePush is the n-th push, as a store would create it: it was created n
// milliseconds after epoch and ends n hours after that.
func livePush(n int, owner store.AccountID) store.Push {
	created := epoch.Add(time.Duration(n) * time.Millisecond)
	return store.Push{
		ID: pushID(n), Kind: store.Text, State: store.Live, Owner: owner,
		CreatedAt: created, UpdatedAt: created, ExpiresAt: created.Add(time.Duration(n) * time.Hour),
		Days: 7, ViewLimit: 5, RetrievalStep: true, Seq: 1,
		Wrap: []byte("sealed key"), Details: []byte("sealed details"),
	}
}

func payloadOf(n int) []byte { return binary.BigEndian.AppendUint64([]byte("payload "), uint64(n)) }

func creation(p store.Push) store.Entry {
	return store.Entry{Kind: store.EntryCreation, At: p.CreatedAt, Sealed: []byte("sealed sender")}
}

// create keeps the n-th push and returns it.
func create(t *testing.T, e store.Engine, n int, owner store.AccountID) store.Push {
	t.Helper()
	p := livePush(n, owner)
	must(t, e.CreatePush(t.Context(), p, payloadOf(n), creation(p)))
	return p
}

// account keeps an active account of that address.
func account(t *testing.T, e store.Engine, email string) store.AccountID {
	t.Helper()
	id, err := e.CreateAccount(t.Context(), store.Account{Email: email, PasswordHash: "$argon2id$", CreatedAt: epoch})
	must(t, err)
	return id
}

// change applies a rule that must not fail.
func change(t *testing.T, e store.Engine, id store.ID, r store.Rule) store.Change {
	t.Helper()
	c, err := e.Change(t.Context(), id, r)
	must(t, err)
	return c
}

var errLimit = errors.New("no view is left")

// view counts a view, or fails where none is left. The last one ends the push.
func view(p store.Push) (store.Push, store.Entry, error) {
	if !p.Live() {
		return p, store.Entry{}, errLimit
	}
	p.Views++
	p.Seq++
	p.UpdatedAt = p.UpdatedAt.Add(time.Second)
	e := store.Entry{Kind: store.EntryView, At: p.UpdatedAt, Sealed: []byte("sealed viewer")}
	if p.Views >= p.ViewLimit {
		p = ended(p, store.Expired)
	}
	return p, e, nil
}

// fail notes a wrong passphrase.
func fail(p store.Push) (store.Push, store.Entry, error) {
	p.Seq++
	p.Minor++
	return p, store.Entry{Kind: store.EntryFailedPassphrase, At: p.UpdatedAt}, nil
}

// end ends a push in that state, without an entry.
func end(s store.State) store.Rule {
	return func(p store.Push) (store.Push, store.Entry, error) {
		if p.Live() {
			p = ended(p, s)
		}
		return p, store.Entry{}, nil
	}
}

func ended(p store.Push, s store.State) store.Push {
	p.State, p.ExpiredAt, p.Wrap = s, p.UpdatedAt.Add(time.Minute), nil
	return p
}

func leave(p store.Push) (store.Push, store.Entry, error) { return p, store.Entry{}, nil }

func purge(p store.Push) (store.Push, store.Entry, error) {
	p.State = store.Purged
	return p, store.Entry{}, nil
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantErr(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("got error %v, want %v", err, want)
	}
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s:\n got %+v\nwant %+v", what, got, want)
	}
}
