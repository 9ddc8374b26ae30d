// Faults checks that the harnesses which hold pushbox's promises notice when the
// code breaks one. It seeds faults into the code, one at a time, and runs the
// harnesses that must fail:
//
//	go run ./internal/tools/faults
//	go run ./internal/tools/faults --list
//	go run ./internal/tools/faults one-view-too-many journal-not-loaded
//	go run ./internal/tools/faults --by model
//	go run ./internal/tools/faults --matrix
//	go run ./internal/tools/faults --power --by model
//
// A fault is testdata/NAME.patch: a mistake that a tired engineer could make, as
// git apply reads it, below two lines that say what is wrong then and which
// harnesses of harness.go must notice it, in order. The source tree stays as it is:
// the compiler gets the patched copies with -overlay. The exit code is 0 if every
// fault was caught, else 1.
//
// When a patch no longer fits the code:
//
//  1. Commit or stage your own work (git add -A).
//  2. Make the same mistake in the new code.
//  3. go run ./internal/tools/faults record NAME: this writes the change under the
//     head of NAME.patch, and takes it out of the tree again.
//
// Where only a path or a name has changed, sed over testdata/*.patch is enough. For a
// new fault, write the two lines of NAME.patch first, then continue with step 1.
package main
