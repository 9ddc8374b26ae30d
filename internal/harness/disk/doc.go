// Package disk gives pushbox disks that are full and files that are damaged.
//
//   - TestAFullDiskLosesNothing mounts disks of 1 to 64 MiB and fills each with the texts
//     and files of four clients until the server answers 507. On the full disk clients
//     view, delete and list; then deletes make room, the clients fill the disk again, and
//     the server starts again. Nothing that was acknowledged is lost and nothing that was
//     refused is there. Above min_free_space no view and no delete is refused. One disk in
//     three has no min_free_space, so its last byte is used.
//   - TestADiskBelowItsFloorTakesNoPushes and
//     TestADiskWithoutRoomForADatabaseIsAClearError start on disks with too little room.
//   - TestTheProgramReportsADamagedFile runs `pushbox check` and `pushbox serve` over
//     damaged files: exit codes 0, 1 or 3, a hint, never a stack, never another payload.
//     store/harness/damage tries far more damages on the store alone.
//
// Mounting needs Linux and root; elsewhere those tests are skipped and say why.
//
// PUSHBOX_TEST_SEED repeats sizes and what the clients choose. Longer:
//
//	PUSHBOX_TEST_DISK_SIZES=1000 go test ./internal/harness/disk -run AFullDisk -timeout 60m -v
//	PUSHBOX_TEST_DAMAGE_STARTS=1000 go test ./internal/harness/disk -run ReportsADamagedFile -timeout 60m -v
//
// The ordinary lengths are in docs/testing.md.
package disk
