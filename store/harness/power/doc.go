// Package power cuts the power of a store, and has its disk fail.
//
// Package faultfs mounts a directory by FUSE and records, in order, what the store
// changes and syncs there, beside marks of what was asked and what was acknowledged.
//
//   - TestAPowerCutLosesNothingThatWasAcknowledged makes images of what a power cut at
//     any point of that record may leave: what was synced, and any subset of the rest,
//     sizes and names included, in sectors of 512 bytes. A store opens each image as
//     after a restart, a quarter of them with the clock set back, and must keep every
//     promise.
//   - TestEveryOperationOfTheDiskMayFail has one operation after the other fail: EIO,
//     ENOSPC, half a write, a failed sync, opening or reading, a dead disk. The store
//     answers with one of its errors, refuses everything where it does not know the
//     outcome, opens again, acknowledges one more push, and keeps it through a cut.
//   - TestTheOracleSeesADiskThatDoesNotSync shows that the oracle sees loss.
//
// The tests need Linux, root and /dev/fuse; elsewhere they are skipped and say why.
// PUSHBOX_TEST_SEED repeats the choices but not the timing of the six writers: a
// failure prints the log before the cut and what was kept, and -artifacts keeps the
// image. A sync that failed is taken to have written any part, and a later one to
// write the rest. Kernels that forget pages whose sync failed are not tried, nor are
// directories that are made anew.
//
// Longer:
//
//	PUSHBOX_TEST_POWER_IMAGES=100000 go test ./store/harness/power -run PowerCut -timeout 2h
//	PUSHBOX_TEST_IO_PERCENT=1000 go test ./store/harness/power -run EveryOperationOfTheDisk -timeout 1h
package power
