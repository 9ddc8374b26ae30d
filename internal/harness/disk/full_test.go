package disk

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"pushbox/internal/proctest"
	"pushbox/internal/testkit/env"
)

const (
	smallestDisk = 1 << 20
	largestDisk  = 64 << 20
	leastFloor   = 256 << 10 // of min_free_space; enough for the pages of a batch of views
	mostFloor    = 4 << 20
)

// A server whose disk is full reports that, keeps delivering and deleting, and
// accepts pushes when there is room again. PUSHBOX_TEST_DISK_SIZES sets how many disks
// are tried, of 1 to 64 MiB. One in three has a min_free_space of 0, so that the last
// byte is used.
func TestAFullDiskLosesNothing(t *testing.T) {
	t.Parallel()
	canMount(t)
	n, seed := env.Length(t, "PUSHBOX_TEST_DISK_SIZES"), env.Seed(t)
	template := newDiskTemplate(t)
	for i := range n {
		rng := rand.New(rand.NewPCG(seed, i))
		// As many sizes between 1 and 2 MiB as between 32 and 64: small ones are cheap.
		size := int64(smallestDisk * math.Exp2(rng.Float64()*math.Log2(largestDisk/smallestDisk)))
		floor := min(max(size/4, leastFloor), mostFloor)
		if i%3 == 2 {
			floor = 0
		}
		t.Run(fmt.Sprintf("%d of %d KiB, %d kept free", i, size>>10, floor>>10), func(t *testing.T) {
			t.Parallel()
			d := &fullDisk{size: size, floor: floor, rng: rng, dir: t.TempDir()}
			d.Crowd = &proctest.Crowd{T: t, Ledger: proctest.NewLedger(), Seed: seed + i, Bearer: template.bearer}
			mountDisk(t, d.data(), size)
			template.copyTo(t, d.data())
			d.run()
		})
	}
}

// run fills a disk, uses its pushes, makes room, and fills it again.
func (d *fullDisk) run() {
	d.T.Helper()
	server := d.start()
	d.fill()
	d.look()
	d.makeRoom()
	if d.T.Failed() {
		return
	}
	d.fillAgain()
	d.verifyAll()
	proctest.CheckFile(d.T, d.dir) // through the server
	server.stop(d.T)
	proctest.CheckFile(d.T, d.dir)
	proctest.WantNoOrphans(d.T, d.dir)
	server = d.start()
	d.verifyAll()
	server.stop(d.T)
	d.T.Logf("%d pushes, %d with files; refused: %d creates, %d uploads, %d views, %d deletes",
		len(d.Ledger.All()), len(d.files.All), d.refused[creates], d.refused[uploads], d.refused[views], d.refused[deletes])
}

// A diskServer is a server on a disk that becomes full.
type diskServer struct{ *proctest.Process }

// startOnDisk starts a server in dir, which keeps that much free.
func startOnDisk(t *testing.T, dir string, settings ...string) diskServer {
	t.Helper()
	p := env.Must(proctest.Start(dir, append(proctest.LoadEnviron(), settings...), nil))(t)
	t.Cleanup(p.Kill)
	return diskServer{p}
}

// stop ends the server. Its log may have only errors about a lack of room.
func (s diskServer) stop(t *testing.T) {
	t.Helper()
	code, err := s.Signal("TERM")
	log := s.Log()
	if err != nil || code != 0 {
		t.Fatalf("%v, exit code %d:\n%s", err, code, log[max(0, len(log)-4000):])
	}
	for line := range strings.Lines(log) {
		full := strings.Contains(line, `"status":507`) && strings.Contains(line, `"error":"the store is full`)
		if strings.Contains(line, `"level":"error"`) && !full || strings.Contains(line, "panic:") || strings.Contains(line, "DATA RACE") {
			t.Errorf("in its log: %s", line)
		}
	}
}

// start starts the server of the disk.
func (d *fullDisk) start() diskServer {
	d.T.Helper()
	s := startOnDisk(d.T, d.dir, "PUSHBOX_LIMITS_ANONYMOUS_SHARE=0", "PUSHBOX_LIMITS_MIN_FREE_SPACE="+strconv.FormatInt(d.floor, 10))
	d.Next(s.URL)
	d.filer = proctest.NewFileClient(d.T, s.URL, d.Bearer)
	return s
}

// On a disk that has less free space than min_free_space from the start, all operations
// that need no more space work.
func TestADiskBelowItsFloorTakesNoPushes(t *testing.T) {
	t.Parallel()
	canMount(t)
	d := &fullDisk{dir: t.TempDir(), rng: rand.New(rand.NewPCG(1, 1))}
	d.Crowd = &proctest.Crowd{T: t, Ledger: proctest.NewLedger()}
	mountDisk(t, d.data(), 8<<20)
	server := startOnDisk(t, d.dir, "PUSHBOX_LIMITS_MIN_FREE_SPACE=0")
	d.Bearer = proctest.APIToken(t, d.dir)
	server.stop(t)
	server = startOnDisk(t, d.dir)
	d.Next(server.URL)
	if err := d.createOf(100); !isFull(err) {
		t.Errorf("a create with the default floor: %v", err)
	}
	if l, err := d.List("active", 1); err != nil || len(l) != 0 {
		t.Errorf("the list has %d pushes, %v", len(l), err)
	}
	server.stop(t)
	proctest.CheckFile(t, d.dir)
}

// On a disk without room for a database a start fails with a clear error, and leaves
// nothing that would break the next start.
func TestADiskWithoutRoomForADatabaseIsAClearError(t *testing.T) {
	t.Parallel()
	canMount(t)
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	mountDisk(t, data, 12<<10)
	p, err := proctest.Start(dir, proctest.LoadEnviron(), nil)
	if err == nil {
		p.Kill()
	}
	if err == nil || !strings.Contains(err.Error(), "no space left on device") || !strings.Contains(err.Error(), "hint: ") || strings.Contains(err.Error(), "goroutine ") {
		t.Errorf("a start: %v", err)
	}
	if out, err := exec.CommandContext(t.Context(), "mount", "-o", "remount,size=4m", data).CombinedOutput(); err != nil {
		t.Fatalf("remount: %v: %s", err, out)
	}
	startOnDisk(t, dir).stop(t)
	proctest.CheckFile(t, dir)
}

func canMount(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" || os.Getuid() != 0 {
		t.Skip("mounting a small file system needs root on Linux")
	}
	if out, err := exec.CommandContext(t.Context(), "mount", "-f", "-t", "tmpfs", "tmpfs", "/mnt").CombinedOutput(); err != nil {
		t.Skipf("a small file system cannot be mounted: %v: %s", err, out)
	}
}

// mountDisk mounts a file system of that many bytes.
func mountDisk(t *testing.T, dir string, size int64) {
	t.Helper()
	env.OK(t, os.Mkdir(dir, 0o700))
	options := fmt.Sprintf("mode=0700,size=%d", size)
	if out, err := exec.CommandContext(t.Context(), "mount", "-t", "tmpfs", "-o", options, "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("a small file system cannot be mounted: %v: %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil { //nolint:noctx // the test's context has ended
			t.Errorf("umount: %v: %s", err, out)
		}
	})
}

// A diskTemplate is a data directory with an account, made once for all disks.
type diskTemplate struct {
	bearer string
	files  map[string][]byte
}

func newDiskTemplate(t *testing.T) diskTemplate {
	t.Helper()
	dir := t.TempDir()
	server := proctest.StartServer(t, dir)
	template := diskTemplate{bearer: proctest.APIToken(t, dir), files: make(map[string][]byte)}
	server.Stop()
	for _, name := range []string{"pushbox.db", "master.key"} {
		b := env.Read(t, filepath.Join(dir, "data", name))
		template.files[name] = b
	}
	return template
}

// copyTo copies the directory, and leaves holes where a file has only zeros.
func (d diskTemplate) copyTo(t *testing.T, dir string) {
	t.Helper()
	for name, b := range d.files {
		path := filepath.Join(dir, name)
		env.OK(t, os.WriteFile(path, []byte(strings.TrimRight(string(b), "\x00")), 0o600))
		env.OK(t, os.Truncate(path, int64(len(b))))
	}
}

func TestMain(m *testing.M) { proctest.Main(m) }

// fillAgain creates and uploads again, without a restart: a small push as soon as half
// the pushes are deleted, larger ones when enough are.
func (d *fullDisk) fillAgain() {
	ctx, cancel := context.WithTimeout(d.T.Context(), proctest.Patience)
	defer cancel()
	d.wait(ctx, func() error { return d.createOf(edgeBytes) }, func() {})
	if records := int64(len(d.Ledger.All())) * recordBytes; records > (d.size-d.floor)/4 {
		return // the records that deletes leave take too much of the disk
	}
	d.wait(ctx, func() error { return d.createOf(d.mostText() / 2) }, d.deleteMore)
	d.wait(ctx, func() error { return d.upload(ctx, d.mostText()/2) }, d.deleteMore)
}

// wait repeats something until there is room for it, and calls more in between. The
// room of files comes back a moment after their delete.
func (d *fullDisk) wait(ctx context.Context, again func() error, more func()) {
	for {
		err := again()
		if err == nil {
			return
		}
		if !isFull(err) {
			d.T.Errorf("after there was room: %v", err)
			return
		}
		more()
		select {
		case <-ctx.Done():
			d.T.Errorf("there is no room again: %v", err)
			return
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// deleteMore deletes another file, or some pushes, or nothing if all are deleted.
func (d *fullDisk) deleteMore() {
	if n := len(d.files.All); n > 0 {
		d.deleteFile(d.files.All[n-1])
		d.files.All = d.files.All[:n-1]
		return
	}
	const some = 10
	deleted := 0
	for _, p := range d.Ledger.All() {
		if p.Deletes == 0 && deleted < some {
			d.note(deletes, d.Remove(p))
			deleted++
		}
	}
}

// verifyAll compares all pushes with what was acknowledged: all of that is there, and
// nothing that was refused.
func (d *fullDisk) verifyAll() {
	d.Verify(d.Ledger.All())
	names := make(map[string]bool)
	for _, p := range d.Ledger.All() {
		names[p.Name] = true
	}
	for _, state := range []string{"active", "expired"} {
		for page := 1; ; page++ {
			l, err := d.List(state, page)
			if err != nil {
				d.T.Errorf("list: %v", err)
			}
			for _, r := range l {
				if r.Name != "" && !names[r.Name] { // files have none
					d.T.Errorf("%s was refused, and it is there", r.Name)
				}
			}
			if len(l) < proctest.PerPage {
				break
			}
		}
	}
	for _, x := range d.files.All {
		if err := d.filer.Compare(d.T.Context(), x); err != nil {
			d.T.Errorf("a file of %d bytes: %v", x.Size, err)
		}
	}
}
