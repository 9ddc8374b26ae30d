// Package soak puts pushbox under a steady load and looks at what it takes of the
// machine.
//
//   - TestWhatALoadTakesComesBack creates 12 pushes a second of every kind and uses them:
//     views, pages, files, sessions, deletes, expiry. When the load ends, memory,
//     descriptors and goroutines are back where they were and the file is small again. The
//     numbers come from the system, the goroutines from SIGQUIT. Before the load the store
//     fills the directory under a clock that is behind, so that pushes expire and are
//     purged by the real clock during the run.
//   - TestMemoryDoesNotGrowWithFiles sends and downloads files that are larger than the
//     memory a server may take, one and eight at once, as multipart and in base64, with a
//     file and with PostgreSQL.
//
// PUSHBOX_TEST_SOAK is the length in seconds; docs/testing.md has the ordinary one. From 90
// on the server must also shrink its file by itself; from 1,200 on pushes of the load expire
// by time; a leak of less than some 40 MiB shows from 600 on. A line a minute goes to standard
// error, or to the file that PUSHBOX_TEST_SOAK_LOG names. Go gives memory back after it has looked for what is
// unused; the test hastens that with some large texts.
//
// PUSHBOX_TEST_FILE_MIB is the size of files. Without it they are smaller where there are
// eight at once. 1024 needs 16 GiB of disk. PUSHBOX_TEST_SEED repeats what clients choose.
//
//	PUSHBOX_TEST_SOAK=86400 go test ./internal/harness/soak -run WhatALoadTakes -timeout 25h -v
//	PUSHBOX_TEST_FILE_MIB=1024 go test ./internal/harness/soak -run MemoryDoesNotGrow -timeout 60m -v
//
// Measured in 120 s before e53b252 (2026-11-22): 1,430 pushes, 2,400 views, 265 downloads,
// 500 pages. The server's own memory was 2 MiB at first, 158 at most, 35 to 50 at last; its
// descriptors 12, 28 and 12; its goroutines 9 and 9; its file 98 MiB, and 22 when it had
// shrunk by itself.
package soak
