package env

import (
	"os"
	"testing"
)

// A Work is how much a long test does.
type Work struct {
	Name  string // of the environment variable that sets another amount
	What  string // is counted, and where
	Least uint64 // at which the test catches each seeded fault that names it first 20 times of 20; 0 if none does
	Usual uint64 // with go test; 0 leaves the test to the long run
	Long  uint64 // with PUSHBOX_TEST_LONG
}

// long is the environment variable that asks for the long run.
const long = "PUSHBOX_TEST_LONG"

// Works are all of them, in the order of their names. internal/tools/faults --power measures the
// least lengths. A usual length is at least twice as much, or all that there is.
func Works() []Work {
	return []Work{
		{"PUSHBOX_TEST_BACKUPS", "backups under load and their restores, `internal/harness/kill`", 0, 1, 1},
		{"PUSHBOX_TEST_BACKUP_KILLS", "kills during a backup, `internal/harness/kill`", 0, 1, 3},
		{"PUSHBOX_TEST_BOOT_PERCENT", "per cent of the power cuts at a start, a rotation and an upgrade, `internal/instance`", 4, 10, 100},
		{"PUSHBOX_TEST_CLOCK_TRACES", "traces of the clock, `store`, NoTraceOfTheClock", 1, 40, 2000},
		{"PUSHBOX_TEST_DAMAGE_FLIPS", "damages of a database, `store/harness/damage`", 1, 400, 20_000},
		{"PUSHBOX_TEST_DAMAGE_STARTS", "starts on a damaged file, `internal/harness/disk`", 0, 4, 80},
		{"PUSHBOX_TEST_DISK_SIZES", "disks that fill up, `internal/harness/disk`", 4, 8, 80},
		{"PUSHBOX_TEST_ERASE_ROUNDS", "rounds of erasing beside load, `store/bolt`", 0, 60, 1500},
		{"PUSHBOX_TEST_FAILOVERS", "failovers of each kind, `internal/harness/scale`", 0, 0, 1},
		{"PUSHBOX_TEST_FILE_KILLS", "kills during uploads, `internal/harness/kill`", 1, 2, 6},
		{"PUSHBOX_TEST_FILE_MIB", "MiB of a file, `internal/harness/soak`, MemoryDoesNotGrow", 0, 0, 192},
		{"PUSHBOX_TEST_FORGERIES", "forgeries, `store/harness/forgery`", 8, 100, 4000},
		{"PUSHBOX_TEST_HOOK_KILLS", "kills while webhooks are sent, `internal/harness/kill`", 1, 2, 12},
		{"PUSHBOX_TEST_IO_PERCENT", "per cent of the operations of a disk that fail, `store/harness/power`", 0, 2, 100},
		{"PUSHBOX_TEST_JOURNAL_VIEWS", "views of each push beside readers, `store/bolt`", 256, 512, 2000},
		{"PUSHBOX_TEST_KILLS", "kills under load, `internal/harness/kill`", 1, 5, 120},
		{"PUSHBOX_TEST_LINEAR_OPS", "operations, `server/harness/linear`", 32, 8000, 120_000},
		{"PUSHBOX_TEST_MAIL_KILLS", "kills while mail is sent, `internal/harness/kill`", 1, 2, 12},
		{"PUSHBOX_TEST_MODEL_SEQUENCES", "sequences, a tenth of them on PostgreSQL, `store/harness/model`", 512, 1100, 10_000},
		{"PUSHBOX_TEST_MOVE_KILLS", "kills during a move to PostgreSQL and back, `internal/harness/kill`", 0, 2, 8},
		{"PUSHBOX_TEST_POWER_IMAGES", "images of power cuts, `store/harness/power`", 256, 512, 5000},
		{"PUSHBOX_TEST_PROXY_MIB", "MiB of a large file, `internal/harness/proxy`", 0, 48, 64},
		{"PUSHBOX_TEST_RACE_PUSHES", "pushes whose last views many ask for, `store`", 1, 20, 1000},
		{"PUSHBOX_TEST_RELEASE", "1: the .deb in a booted Debian, `internal/tools/release`", 0, 0, 0},
		{"PUSHBOX_TEST_RELOADS", "reloads under load, `internal/daemon`", 0, 50, 500},
		{"PUSHBOX_TEST_RESIDUE_PUSHES", "pushes that end, `store/harness/residue`", 1, 30, 3000},
		{"PUSHBOX_TEST_RESTORE_KILLS", "kills during a restore, `internal/harness/kill`", 1, 2, 16},
		{"PUSHBOX_TEST_SERVER_KILLS", "kills of one of several servers, `internal/harness/scale`", 0, 1, 6},
		{"PUSHBOX_TEST_SLOW_CLIENTS", "slow clients beside a healthy one, `internal/harness/slow`", 128, 256, 1000},
		{"PUSHBOX_TEST_SOAK", "seconds of a steady load, `internal/harness/soak`", 0, 0, 120},
	}
}

// Length is the amount of work of a test: the value of the environment variable, else what Works
// has for it. A value that is not a number fails the test; a length of 0 skips it.
func Length(t testing.TB, name string) uint64 {
	t.Helper()
	for _, w := range Works() {
		if w.Name != name {
			continue
		}
		length := w.Usual
		if Long() {
			length = w.Long
		}
		if length = Number(t, name, length); length == 0 {
			t.Skipf("%s is 0: .ci/long runs this", name)
		}
		return length
	}
	t.Fatalf("env.Works has no row for %s", name)
	return 0
}

// Long says whether this is the long run.
func Long() bool { return os.Getenv(long) != "" }

// NeedLong skips a test outside the long run, because it takes long and rarely finds what others
// do not.
func NeedLong(t testing.TB, why string) {
	t.Helper()
	if !Long() {
		t.Skipf("%s: .ci/long runs this", why)
	}
}
