package faultfs

import (
	"errors"
	"fmt"
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
