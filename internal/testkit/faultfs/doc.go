// Package faultfs is a file system for tests: one directory of ordinary files in memory,
// which records every change and every sync in order, and can make any of them fail.
//
// A Disk holds the files, the log and the faults. Mount mounts one on a directory by
// FUSE, on Linux, for root. A process of its own serves it, because a process that maps
// a file which it serves itself can deadlock. A Replay goes through a log and makes
// images of what a power cut may leave at any moment:
//
//   - everything that was synced: the bytes and the size of a file by a sync of that
//     file, names by a sync of the directory;
//   - any subset of the later changes. A write is kept or lost by sectors of 512 bytes,
//     independently of the size that it gave the file; a link, a rename or a removal is
//     kept or lost as a whole.
//
// A sync that was made to fail guarantees nothing: its changes may be kept or lost.
// Modes and times are not recorded.
package faultfs
