package faultfs

import (
	"errors"
	"fmt"
	"net"
	"net/rpc"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"pushbox/internal/testkit/env"
)

// An FS is a mounted file system, served by another process.
type FS struct {
	Dir string // where it is mounted

	t      testing.TB
	client *rpc.Client
}

// Mount mounts an empty file system until the test ends. A process of its own, with this
// test's binary, serves it. Where that is not possible the test is skipped.
func Mount(t testing.TB) *FS {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root may mount a file system")
	}
	if f, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0); err != nil {
		t.Skipf("no file system of our own can be mounted: %v", err)
	} else if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	fs := &FS{Dir: t.TempDir(), t: t}
	ours, theirs, err := socketPair()
	env.OK(t, err)
	server := exec.Command(os.Args[0])
	server.Env = append(os.Environ(), serveEnv+"="+fs.Dir)
	server.Stderr = os.Stderr
	server.ExtraFiles = []*os.File{theirs}
	err = errors.Join(server.Start(), theirs.Close())
	if err != nil {
		t.Fatal(errors.Join(err, ours.Close()))
	}
	fs.client = rpc.NewClient(ours)
	t.Cleanup(func() { fs.end(server) })
	fs.call("Ready", None{}, nil)
	return fs
}

// end makes the server unmount and waits for it, or forces both. A file system in use is
// unmounted when it is no longer used.
func (fs *FS) end(server *exec.Cmd) {
	_ = fs.client.Close()
	late := time.AfterFunc(env.Patience, func() { _ = server.Process.Kill() })
	defer late.Stop()
	if err := server.Wait(); err != nil {
		fs.t.Errorf("the server of the file system: %v", err)
		_ = syscall.Unmount(fs.Dir, syscall.MNT_DETACH)
	}
}

// socketPair returns two ends of a connection, the second for another process.
func socketPair() (ours net.Conn, theirs *os.File, err error) {
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	theirs = os.NewFile(uintptr(fds[1]), "control")
	end := os.NewFile(uintptr(fds[0]), "control")
	ours, err = net.FileConn(end)
	return ours, theirs, errors.Join(err, end.Close())
}

// call sends a call to the server. The test fails without an answer within the limit.
func (fs *FS) call(method string, in, out any) {
	fs.t.Helper()
	if out == nil {
		out = new(None)
	}
	late := time.NewTimer(env.Patience)
	defer late.Stop()
	select {
	case call := <-fs.client.Go("Disk."+method, in, out, make(chan *rpc.Call, 1)).Done:
		if call.Error != nil {
			fs.t.Errorf("%s: %v", method, call.Error)
		}
	case <-late.C:
		fs.t.Errorf("%s: the server of the file system does not answer", method)
	}
}

// Mark puts a mark into the log.
func (fs *FS) Mark(n uint64) { fs.call("Mark", n, nil) }

// Reset removes all files, the log and the fault. No file may be open.
func (fs *FS) Reset() { fs.call("Reset", None{}, nil) }

// Save saves files and log under a number. No file may be open.
func (fs *FS) Save(n int) { fs.call("Save", n, nil) }

// Restore restores what was saved under a number, without a fault. No file may be open.
func (fs *FS) Restore(n int) { fs.call("Restore", n, nil) }

// SetFault replaces the fault.
func (fs *FS) SetFault(f Fault) { fs.call("SetFault", f, nil) }

// Met reports whether an operation was hit by the fault.
func (fs *FS) Met() (met bool) {
	fs.call("Met", None{}, &met)
	return met
}

// Log is the log so far.
func (fs *FS) Log() (log []Entry) {
	fs.call("Log", None{}, &log)
	return log
}

// CutAll makes, in an empty directory, an image of what a power cut now leaves if it
// keeps only synced changes.
func (fs *FS) CutAll(dir string) { fs.call("CutAll", dir, nil) }

// Cut makes, in an empty directory, a random image of what a power cut now may leave,
// from a seed. It returns the choice in a word.
func (fs *FS) Cut(dir string, seed, image uint64) (how string) {
	fs.call("Cut", Order{dir, seed, image}, &how)
	return how
}

// serveEnv makes a test binary serve a file system on the directory that it names.
const serveEnv = "PUSHBOX_TEST_FAULTFS"

// controlFile is the descriptor from which the server reads its calls.
const controlFile = 3

// Serve serves a file system if Mount has started this process for that. It returns true
// when Mount's process has ended or asked it to stop: then this process must end. A
// package whose tests call Mount must call it first, in TestMain.
func Serve() bool {
	dir := os.Getenv(serveEnv)
	if dir == "" {
		return false
	}
	if err := serve(dir); err != nil {
		fmt.Fprintln(os.Stderr, "serve a file system:", err)
	}
	return true
}

func serve(dir string) error {
	control, err := net.FileConn(os.NewFile(controlFile, "control"))
	if err != nil {
		return err
	}
	disk := newDisk()
	server, err := fuse.NewServer(fuseFS{fuse.NewDefaultRawFileSystem(), disk}, dir, &fuse.MountOptions{
		FsName: "faultfs", Name: "faultfs", DirectMountStrict: true,
		DisableXAttrs: true, DisableReadDirPlus: true, ExplicitDataCacheControl: true,
	})
	if err != nil {
		return err
	}
	go server.Serve()
	methods := rpc.NewServer()
	if err := errors.Join(server.WaitMount(), methods.RegisterName("Disk", disk)); err != nil {
		return errors.Join(err, syscall.Unmount(dir, syscall.MNT_DETACH))
	}
	methods.ServeConn(control) // until the other end closes
	return syscall.Unmount(dir, syscall.MNT_DETACH)
}
