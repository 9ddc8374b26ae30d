// Package scale runs several servers over one PostgreSQL, each in a process of its own, and
// has servers and databases fail under load. Clients of all servers keep one ledger, as in
// the package kill.
//
//   - TestServersAreOne: two and three servers deliver a push as often as it may be to 64
//     readers, count wrong passphrases together, and give each other's files.
//   - TestAKilledServerLosesNothing kills one of three servers, again and again.
//   - TestAFailoverLosesNothing has three nodes of PostgreSQL, where a commit waits for one
//     standby. The primary is killed with all its processes, clients get 503 with
//     Retry-After, and the standby that has received most takes its place.
//   - TestAnOldPrimaryThatComesBackDeliversNothing freezes the primary and thaws it when the
//     servers use another one.
//   - TestNothingIsDeliveredTwiceBesideAnOldPrimary thaws it before they have noticed.
//   - TestFrozenStandbysPutWritesOff freezes one standby, which delays nothing, and then both.
//   - TestServersBesideALaterVersion changes the tables as a later version does: the servers
//     keep running, and end with a message once that version says that they may not.
//   - TestPgBouncerInBetween has PgBouncer in transaction mode between servers and database.
//
// After each, every push that was acknowledged must be there, or what was sent explains its
// end: no more deliveries than its limit, each one counted and in the audit log. No answer
// may take longer than two minutes where a request may run for 15 seconds. `pushbox check` must find nothing.
//
// It does not test asynchronous replication, which may lose what was acknowledged, nor the
// programs that promote a standby, such as Patroni: the tests do that themselves, in the
// order that is safe. A killed process leaves the page cache behind: what a loss of power
// does to PostgreSQL is PostgreSQL's to answer.
//
// Longer:
//
//	PUSHBOX_TEST_FAILOVERS=50 go test ./internal/harness/scale -run 'Failover|Old|Frozen' -timeout 4h -v
//	PUSHBOX_TEST_SERVER_KILLS=500 go test ./internal/harness/scale -run AKilledServer -timeout 2h -v
package scale
