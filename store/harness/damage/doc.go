// Package damage changes bits, bytes, sectors and pages of a database that holds every
// kind of record, or cuts its end off, and then does everything that a store can do.
//
// A damaged file is refused, or gives errors, or does no harm: it never gives another
// payload, a panic, an endless loop, or memory without end. What goes wrong may end a
// process, so other processes do the work, 2,000 damages each. The file of the root
// key has each bit flipped and is cut to each shorter length.
//
// Damage is what disks do: package forgery has what forgers do. What the store tells is
// what it was given, or a call ends with an error, or the check reports a problem. It is
// the check alone where a row has gone, since no other row shows it.
// PUSHBOX_TEST_SEED repeats the choices but not where bbolt puts its pages: with
// -artifacts a failure keeps the file before and after.
//
// PUSHBOX_TEST_DAMAGE_FLIPS sets how many damages are tried; docs/testing.md has the ordinary
// number. Longer, with a bit flipped in each byte of a database of a MiB:
//
//	PUSHBOX_TEST_DAMAGE_ALL=1 go test ./store/harness/damage -run ADamagedFile -timeout 3h -v
package damage
