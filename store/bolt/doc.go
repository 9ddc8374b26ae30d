// Package bolt keeps a store in one bbolt file. Only this package imports bbolt, and its API does
// not show bbolt.
//
// # What it promises
//
// Every method of DB is one step: it happens as a whole or not at all, and a change is on the disk
// when the method returns nil. All changes go through one goroutine, the committer: it takes all
// operations that wait, runs them in one bbolt transaction, syncs once, and then answers each,
// since a sync costs more than the rest of a request. There is no timer: while one commit syncs,
// the next batch gathers.
//
// An operation decides before it writes. If it still fails after it began to write, the committer
// undoes the batch and runs it again without that operation, so operations of one batch do not
// affect each other.
//
// # The journal
//
// A view changes a few counts of a record and appends an audit entry, on two pages that lie where
// the push does, and a disk writes scattered pages one by one: about 15 µs each. The end of a push
// also destroys its key and its payload, and moves its rows in two indexes: seven pages. So these
// changes first go to the bucket journal, where they lie side by side. An index in memory says
// which rows the journal has; readers apply them to the records and to the index rows that they
// find. So all readers see that a push has ended in the journal. Only the sender's count of live
// pushes changes immediately, because the next create depends on it. Any other change of a push
// first folds the push's journal rows, and then writes to the places of its rows.
//
// After 8,192 rows, one second after the first end, or when no operation has come for five seconds,
// the rows are folded: written to their places, in the order of those places, a part with each
// commit, and then removed. Close folds ends, too. A row has the state of a push, not a difference,
// so folding it twice does no harm, and opening a file after a crash only reads the journal. No
// second generation of rows begins before the first is folded; from 32,768 rows on, changes go to
// their places. A push whose places are damaged or forged cannot be folded: its rows stay in the
// journal, and the others are folded.
//
// A reader must not combine the journal from before a commit with rows from after it, or the
// reverse. Each commit has a number. A reader notes the last one before its transaction begins, and
// begins again if a later commit changed what it reads.
//
// # Keys that grow
//
// Every key of a push begins with the time of its creation. Random keys would put each record on a
// different leaf page; growing keys lie side by side, so that a batch of creates writes few pages.
// The time is part of the url_token, 45 of its 170 bits, so the ID can be derived from the token
// alone. A server gives each url_token a different millisecond, so lists have the order of the
// creations.
//
// # Erasure
//
// bbolt leaves deleted data in the file until it uses the page again. A goroutine of the DB, the
// eraser, overwrites pages about a second after they were freed, in small portions between two
// commits. After a start it reads all free pages in turns, and overwrites those that are not
// erased. Before a file is closed it overwrites the rest, for at most ten seconds. It gives the
// blocks of long values back to the file system if that supports it. A page that a reader may still
// read waits until that reader has left: only a check reads for a long time. The head of erase.go
// has the rule which pages may be overwritten. When a compaction or a backup no longer needs a
// file, the file is overwritten as a whole, unless it has another name.
//
// # Rows that pushbox did not write
//
// A row that affects decisions ends with a tag: half of an HMAC over its bucket, its key and its
// value. All rows are read in tx, which verifies the tag and cuts it off. An operation that reads a
// row with a wrong tag fails with record.ErrCorrupt, and the store keeps running. Index rows of
// pushes have no tag: they are compared with the records to which they lead. Payloads and chunks
// are sealed for their place.
//
// A tag cannot show that a row was removed, or comes from another time. For that, each commit also
// stores, under a tag, the sum of the other halves of all HMACs of a bucket, and the bucket's last
// number. Check adds up the rows; an operation that takes a new number compares only the last
// number.
//
// # When things go wrong
//
// If a commit finds the disk full, and the transaction number in the file shows that it left no
// trace, it returns record.ErrFull, and the store keeps running. After any other failed commit, and
// after a panic of bbolt over a damaged page, it is unknown what the file holds: the DB refuses
// everything with record.ErrFailed until the file is opened again, which reads what is there.
//
// Before bbolt maps a file, the engine reads its two header pages and compares them with
// the file's length, because a mapped file that is too short kills the process.
//
// bbolt trusts what it reads: a page that leads back to itself, or a length of gigabytes, ends the
// process, and no recover helps. So package page verifies all branches when a file is opened, every
// page before bbolt's own check, and before a write the leaf that bbolt is about to read, with its
// siblings, once each. For the list of free pages, opening verifies that no branch leads to a page
// in it.
//
// # Keys and upgrades
//
// Open reads only the sealed key ring: everything else waits for Unlock, which gets the keys of the
// ring. Unlock then rewrites a file of an older schema with the code of a compaction, row by row
// through a record.Converter, and adds tags. It syncs the new file before the old one gets a second
// name and the new one takes the first, so a crash leaves one or the other. The old file then has
// the time of the upgrade, so that RemoveCopies knows when to remove it.
//
// # Files and compaction
//
// Chunks of files are rows of 64 KiB. Operations that write them have their own queue, and each
// commit takes a few. They are read from the file, because the mapping would count as memory of the
// process.
//
// A compaction copies all rows to a new file, in short transactions, while the committer notes
// which rows it writes. Those are copied again, until so few are left that writers can wait for
// them; then the new file takes the name and the place of the old one. A DB therefore holds a
// handle, not a file, and a reader keeps the handle that it began with. A backup is a compaction
// whose copy becomes a separate file.
package bolt
