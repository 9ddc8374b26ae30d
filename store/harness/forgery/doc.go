// Package forgery changes a database as an attacker would who can write the file without keys,
// and then asks the store all that it tells. The rows stay well formed: it is bbolt that
// writes them.
//
// Bytes of values are changed, values exchanged, rows moved to other keys, removed, and
// put back as they were some time before; index rows are added that lead to pushes of
// others; the sequences of buckets are set back. A row that does not say what
// pushbox wrote is never believed: each answer is an error, or the one that the store gave
// before. Rows that were removed or put back may be believed where no other row tells. A
// check names the bucket of every forgery.
//
// What it does not test: setting the whole file back, which nothing can show, and pages
// that bbolt could not have written, which are for package damage.
//
// PUSHBOX_TEST_FORGERIES sets how many forgeries are tried; docs/testing.md has the ordinary
// number. With PUSHBOX_TEST_FORGERY_ALL=1 it is every byte of every row instead:
//
//	PUSHBOX_TEST_FORGERY_ALL=1 go test ./store/harness/forgery -timeout 3h -v
package forgery
