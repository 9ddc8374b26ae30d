// Package faultfs is a file system for tests: one directory of ordinary files,
// in memory, that records every change and every sync in order, and can fail any
// of them.
//
// A Disk holds the files, the log and the faults. Mount puts one under a
// directory by FUSE, on Linux, for root; a process of its own serves it, because a
// process that maps a file which it serves itself can wait for itself forever.
// A Replay goes through a log and makes images of what a power cut may leave at
// any moment of it:
//
//   - what was synced is there: the bytes and the size of a file by a sync of that
//     file, names by a sync of the directory;
//   - of everything later, any subset is there. A write is kept or lost by sectors
//     of 512 bytes, apart from the size that it gave the file; a link, a rename
//     or a removal is one step, kept or lost on its own.
//
// A sync that was made to fail has no effect in that account: what was to be
// synced may be there or not. Modes and times are not recorded.
package faultfs
