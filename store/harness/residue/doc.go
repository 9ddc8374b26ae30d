// Package residue looks for what should be gone.
//
// A test ends pushes in one of the ways in which a push ends, and then reads the file
// of the database as a thief would, with every key and every link: each page,
// in use or not, and each byte. It looks for two things:
//
//   - what still opens: records, wraps, payloads, chunks and links that are decoded from
//     whatever looks like a row, with the keys that opened them while they lived;
//   - what is still there in part: eight bytes in a row of anything that was sealed.
//
// Five seconds after an end there must be none, on a quiet server and on a busy one; after
// a clean stop none at once; after a kill five seconds after the next start.
//
//   - TestNothingIsLeftFiveSecondsAfterAnEnd runs all scenarios.
//   - TestWithoutErasureEverythingIsFound runs them with the eraser off, and shows that
//     the search finds each kind of thing.
//
// The file lies in the test's temporary directory: TMPDIR chooses the file system.
// Longer:
//
//	PUSHBOX_TEST_RESIDUE_PUSHES=100000 go test ./store/harness/residue -timeout 30m
package residue
