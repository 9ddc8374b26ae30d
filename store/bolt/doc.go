// Package bolt keeps a store in one bbolt file. It is the only importer of
// bbolt, and nothing of bbolt leaves it.
//
// # What it promises
//
// Every method of DB is one step: it happens as a whole or not at all, and a
// change is on the disk when the method returns nil. All changes go through one
// goroutine, the committer, which takes all that wait, runs them in one bbolt
// transaction, syncs once and then answers each. Nobody waits for a timer:
// while one commit syncs, the next batch gathers.
//
// An operation decides before it writes. Where it fails nevertheless after it
// began to write, the batch is undone and run again without it, so that no
// operation suffers from its neighbours.
//
// # The journal
//
// A view alters two counts of a record and appends an audit entry, on pages that lie
// wherever the push does, and the disk takes such pages one by one. So changes that
// alter no more than counts go to a bucket called journal first, side by side. Memory
// knows which there are; readers add them to the rows that they find. Whatever else
// changes a push brings what the journal has of it along, so that the indexes and the
// order of the audit log never depend on the journal.
//
// When some thousand rows have gathered, or nobody has asked for anything for a moment,
// they are folded: written to their places, in the order of those places, a part in
// each commit, and then cut off. A row says what the counts are, so that folding it
// twice does no harm: opening a file after a crash only reads the journal.
//
// # When things go wrong
//
// A commit that found no room and provably left no trace is store.ErrFull, and
// the store goes on. After any other failed commit, and after damage to a page,
// nobody knows what the file holds: the DB refuses everything with
// store.ErrFailed until the file is opened again, which reads what is there.
//
// Before bbolt maps a file, its two header pages are read and compared with its
// length, because a mapped file that is too short kills the process.
//
// bbolt believes what it reads: over a page that leads back to itself, or a length of
// gigabytes, it takes the process away, and no recover helps. So opening looks at all
// branches, a check at every page before bbolt's own does, and a write at the leaf that
// bbolt is about to read and at those beside it, once for each. Of the list of free pages,
// opening knows that nothing leads to them but rows of more than a page.
//
// # Files and compaction
//
// Chunks of files are rows like others, of 64 KiB, in operations that queue apart:
// each commit takes a little of them. They are read from the file and not through
// its mapping, which would count to the memory of the process.
//
// A backup is a compaction whose copy becomes a file of its own. A compaction
// copies all rows to a new file, in transactions that end soon, while the
// committer notes which rows it writes. Those are copied again, until so few are
// left that writers can wait for them; then the new file takes the name and the
// place of the old one. A DB therefore holds a handle, not a file, and a reader
// keeps the handle that it began with.
package bolt
