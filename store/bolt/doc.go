// Package bolt keeps a store in one bbolt file. It is the only importer of
// bbolt, and nothing of bbolt leaves it.
//
// # What it promises
//
// Every method of DB is one step: it happens as a whole or not at all, and a change is
// on the disk when the method returns nil. All changes go through one goroutine, the
// committer: it takes all operations that wait, runs them in one bbolt transaction, syncs
// once, and then answers each, since a sync costs more than all else that a request does.
// There is no timer: while one commit syncs, the next batch gathers.
//
// An operation decides before it writes. Where it fails all the same after it began to
// write, the committer undoes the batch and runs it again without that operation, so
// operations of one batch do not affect each other.
//
// # The journal
//
// A view changes a few counts of a record and appends an audit entry, on two pages that lie
// where the push does, and a disk writes scattered pages one by one: about 15 µs each. The
// end of a push also destroys its key and its payload, and moves its rows in two indexes:
// seven pages. So these changes first go to the bucket journal, where they lie side by side.
// An index in memory says which rows the journal has; readers apply them to the records and
// to the index rows that they find. So a push that has ended in the journal is over for all
// of them. Only the count of what its sender has live changes at once: the next create
// decides by it. Any other change of a push writes to its places, and before it what the
// journal has of the push.
//
// After 8,192 rows, one second after the first end, or when no operation has come for five
// seconds, the rows are folded: written to their places, in the order of those places, a part
// with each commit, and then removed. Close folds ends, too. A row says what a push is, not
// what to add to it, so folding it twice does no harm, and opening a file after a crash only
// reads the journal. No second generation of rows begins before the first is folded; from
// 32,768 rows on, changes go to their places. A push whose places are damaged or forged
// cannot be folded: its rows stay in the journal, and the others are folded.
//
// A reader must not combine what the journal says on one side of a commit with rows from the
// other. Each commit has a number. A reader notes the last one before its transaction begins,
// and begins again if a later commit changed what it reads.
//
// # Keys that grow
//
// Every key of a push begins with the time of its creation. Random keys would put each record
// on a leaf page of its own; keys that grow lie side by side, so that a batch of creates writes
// few pages. The time is part of the url_token, 45 of its 170 bits, so the ID can be derived
// from the token alone. A server gives each url_token a millisecond of its own, so lists have
// the order of the creations.
//
// # Erasure
//
// bbolt leaves in the file what it deletes, until it uses the page again. A goroutine of
// the DB, the eraser, overwrites pages about a second after they were freed, in small
// portions between two commits; all that is free after a start, which it reads first, in
// turns; and for at most ten seconds the rest, before a file is closed. It gives the blocks of long values back to the file system where that
// takes them. A page that a reader may still read waits until that reader has left: a
// check is the one reader that stays for long. The rule which pages may be overwritten
// is at the head of erase.go. A file that a compaction or a backup is done with is
// overwritten as a whole, unless it has another name.
//
// # Rows that are not believed
//
// A row that decides something ends with a tag: half of an HMAC over its bucket, its key
// and its value. All rows are read in tx, which verifies the tag and cuts it off. A row
// that does not have its tag is record.ErrCorrupt for the operation that reads it, and the
// store keeps running. Index rows of pushes have no tag: what they lead to is compared with
// them. Payloads and chunks are sealed for their place.
//
// A tag cannot show that a row was removed, or is one of another time. For that each
// commit also keeps, under a tag, what the other halves of all HMACs of a bucket add up
// to, and the last number that the bucket gave out. Check adds the rows up; only the
// numbers are compared when another is given out.
//
// # When things go wrong
//
// A commit that found the disk full, and of which the file's own transaction number shows that it
// left no trace, returns record.ErrFull, and the store keeps running. After any other failed commit, and after a panic of bbolt over a
// damaged page, it is unknown what the file holds: the DB refuses everything with
// record.ErrFailed until the file is opened again, which reads what is there.
//
// Before bbolt maps a file, the engine reads its two header pages and compares them with
// the file's length, because a mapped file that is too short kills the process.
//
// bbolt believes what it reads: a page that leads back to itself, or a length of
// gigabytes, ends the process, and no recover helps. So package page verifies all
// branches when a file is opened, every page before bbolt's own check, and before a write
// the leaf that bbolt is about to read, with its siblings, once each. For the list of free
// pages, opening verifies that no branch leads to a page in it.
//
// # Keys and upgrades
//
// Open reads the sealed key ring and no more: all else waits for Unlock, which gets the
// keys of the ring. A file of an older schema is then written anew by the machinery of a
// compaction, row by row through a record.Converter, and with the tags that rows have. It is
// synced before the old file gets a second name and the new one takes the first, so a crash
// leaves one or the other. The time of the old file is then that of the upgrade, by which
// RemoveCopies removes it.
//
// # Files and compaction
//
// Chunks of files are rows of 64 KiB. Operations that write them queue apart, and each
// commit takes a few. They are read from the file and not through its mapping, which
// would count as memory of the process.
//
// A compaction copies all rows to a new file, in short transactions, while the committer
// notes which rows it writes. Those are copied again, until so few are left that writers
// can wait for them; then the new file takes the name and the place of the old one. A DB
// therefore holds a handle, not a file, and a reader keeps the handle that it began with.
// A backup is a compaction whose copy becomes a file of its own.
package bolt
