package faultfs

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/rpc"
	"os"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
)

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
	disk := NewDisk()
	server, err := fuse.NewServer(fuseFS{fuse.NewDefaultRawFileSystem(), disk}, dir, &fuse.MountOptions{
		FsName: "faultfs", Name: "faultfs", DirectMountStrict: true,
		DisableXAttrs: true, DisableReadDirPlus: true, ExplicitDataCacheControl: true,
	})
	if err != nil {
		return err
	}
	go server.Serve()
	methods := rpc.NewServer()
	if err := errors.Join(server.WaitMount(), methods.RegisterName("Disk", &remote{disk})); err != nil {
		return errors.Join(err, syscall.Unmount(dir, syscall.MNT_DETACH))
	}
	methods.ServeConn(control) // until the other end closes
	if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
		return err
	}
	return nil
}

// A remote is a Disk for calls of the other process.
type remote struct{ disk *Disk }

// An Order asks for an image of what a power cut now may leave.
type Order struct {
	Dir         string
	Seed, Image uint64
}

// None means no argument, or no answer.
type None struct{}

// Ready answers when the file system is there.
func (r *remote) Ready(None, *None) error { return nil }

// Mark is Disk.Mark.
func (r *remote) Mark(n uint64, _ *None) error {
	r.disk.Mark(n)
	return nil
}

// Reset is Disk.Reset.
func (r *remote) Reset(None, *None) error {
	r.disk.Reset()
	return nil
}

// Save is Disk.Save.
func (r *remote) Save(n int, _ *None) error {
	r.disk.Save(n)
	return nil
}

// Restore is Disk.Restore.
func (r *remote) Restore(n int, _ *None) error {
	r.disk.Restore(n)
	return nil
}

// SetFault is Disk.SetFault.
func (r *remote) SetFault(f Fault, _ *None) error {
	r.disk.SetFault(f)
	return nil
}

// Met is Disk.Met.
func (r *remote) Met(_ None, met *bool) error {
	*met = r.disk.Met()
	return nil
}

// Log is Disk.Log.
func (r *remote) Log(_ None, log *[]Entry) error {
	*log = r.disk.Log()
	return nil
}

// replay is a Replay at the end of the log.
func (r *remote) replay() *Replay {
	log := r.disk.Log()
	p := NewReplay(log)
	p.Advance(len(log))
	return p
}

// CutAll makes an image of what a power cut now leaves at least.
func (r *remote) CutAll(dir string, _ *None) error {
	return r.replay().Image(dir, func(int, int) bool { return false })
}

// Cut makes a random image of what a power cut now may leave, and returns the choice.
func (r *remote) Cut(o Order, how *string) error {
	replay := r.replay()
	var keep Keep
	*how, keep = Chance(rand.New(rand.NewPCG(o.Seed, o.Image)), replay.Pending())
	return replay.Image(o.Dir, keep)
}
