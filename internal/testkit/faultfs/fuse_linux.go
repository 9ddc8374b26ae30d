package faultfs

import (
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// A fuseFS serves a Disk to the kernel. The kernel does not cache names and attributes,
// so the Disk answers each time. It caches bytes, because mappings need that: writes go
// through the cache to the Disk at once, and opening a file empties its cache. Locks
// are the kernel's own.
type fuseFS struct {
	fuse.RawFileSystem // answers all else with ENOSYS
	disk               *Disk
}

// do runs an operation of the kernel.
func (f fuseFS) do(fn func(d *Disk) syscall.Errno) fuse.Status {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	return fuse.Status(fn(f.disk))
}

// on is do for an operation on a file, which must exist.
func (f fuseFS) on(node uint64, fn func(d *Disk, file *file) syscall.Errno) fuse.Status {
	return f.do(func(d *Disk) syscall.Errno {
		if file := d.files[node]; file != nil {
			return fn(d, file)
		}
		return syscall.ENOENT
	})
}

func attributes(node uint64, file *file, out *fuse.Attr) {
	*out = fuse.Attr{
		Ino: node, Size: uint64(file.size), Blocks: uint64(file.size+SectorSize-1) / SectorSize, Blksize: 4096,
		Mode: syscall.S_IFREG | file.mode, Nlink: uint32(file.links),
	}
}

func entry(node uint64, file *file, out *fuse.EntryOut) syscall.Errno {
	out.NodeId, out.Generation = node, 1
	attributes(node, file, &out.Attr)
	return 0
}

// Lookup finds a file by its name.
func (f fuseFS) Lookup(_ <-chan struct{}, _ *fuse.InHeader, name string, out *fuse.EntryOut) fuse.Status {
	return f.do(func(d *Disk) syscall.Errno {
		node, file, err := d.find(name)
		if err != 0 {
			return err
		}
		return entry(node, file, out)
	})
}

// GetAttr returns the size and the mode of a file.
func (f fuseFS) GetAttr(_ <-chan struct{}, in *fuse.GetAttrIn, out *fuse.AttrOut) fuse.Status {
	if in.NodeId == fuse.FUSE_ROOT_ID {
		out.Attr = fuse.Attr{Ino: fuse.FUSE_ROOT_ID, Mode: syscall.S_IFDIR | 0o700, Nlink: 2}
		return fuse.OK
	}
	return f.on(in.NodeId, func(_ *Disk, file *file) syscall.Errno {
		attributes(in.NodeId, file, &out.Attr)
		return 0
	})
}

// SetAttr sets the size or the mode of a file, and ignores times and owners.
func (f fuseFS) SetAttr(_ <-chan struct{}, in *fuse.SetAttrIn, out *fuse.AttrOut) fuse.Status {
	return f.on(in.NodeId, func(d *Disk, file *file) syscall.Errno {
		if mode, ok := in.GetMode(); ok {
			file.mode = mode & 0o7777
		}
		if size, ok := in.GetSize(); ok {
			if err := d.resize(in.NodeId, int64(size)); err != 0 {
				return err
			}
		}
		attributes(in.NodeId, file, &out.Attr)
		return 0
	})
}

// Create makes a file and opens it.
func (f fuseFS) Create(_ <-chan struct{}, in *fuse.CreateIn, name string, out *fuse.CreateOut) fuse.Status {
	return f.do(func(d *Disk) syscall.Errno {
		node, file, err := d.create(name, in.Mode&0o7777)
		if err != 0 {
			return err
		}
		return entry(node, file, &out.EntryOut)
	})
}

// Open opens a file, and truncates it with O_TRUNC.
func (f fuseFS) Open(_ <-chan struct{}, in *fuse.OpenIn, _ *fuse.OpenOut) fuse.Status {
	return f.on(in.NodeId, func(d *Disk, file *file) syscall.Errno {
		err := d.meet(Open)
		if err == 0 && in.Flags&syscall.O_TRUNC != 0 {
			err = d.resize(in.NodeId, 0)
		}
		if err == 0 {
			file.open++
		}
		return err
	})
}

// Release closes a file.
func (f fuseFS) Release(_ <-chan struct{}, in *fuse.ReleaseIn) {
	_ = f.on(in.NodeId, func(d *Disk, file *file) syscall.Errno {
		file.open--
		d.drop(in.NodeId)
		return 0
	})
}

// Flush has nothing to do: all writes are on the Disk.
func (fuseFS) Flush(<-chan struct{}, *fuse.FlushIn) fuse.Status { return fuse.OK }

// Access allows everything: only root sees the file system.
func (fuseFS) Access(<-chan struct{}, *fuse.AccessIn) fuse.Status { return fuse.OK }

// Read reads from a file.
func (f fuseFS) Read(_ <-chan struct{}, in *fuse.ReadIn, buf []byte) (fuse.ReadResult, fuse.Status) {
	n := 0
	status := f.on(in.NodeId, func(d *Disk, file *file) syscall.Errno {
		n = file.read(int64(in.Offset), buf)
		return d.meet(Read)
	})
	return fuse.ReadResultData(buf[:n]), status
}

// Write writes to a file.
func (f fuseFS) Write(_ <-chan struct{}, in *fuse.WriteIn, data []byte) (written uint32, status fuse.Status) {
	status = f.on(in.NodeId, func(d *Disk, _ *file) syscall.Errno {
		n, err := d.write(in.NodeId, int64(in.Offset), data)
		written = uint32(n)
		return err
	})
	return written, status
}

// Fsync syncs a file.
func (f fuseFS) Fsync(_ <-chan struct{}, in *fuse.FsyncIn) fuse.Status {
	return f.on(in.NodeId, func(d *Disk, _ *file) syscall.Errno { return d.sync(Sync, in.NodeId) })
}

// FsyncDir syncs the directory.
func (f fuseFS) FsyncDir(_ <-chan struct{}, in *fuse.FsyncIn) fuse.Status {
	return f.do(func(d *Disk) syscall.Errno { return d.sync(SyncDir, in.NodeId) })
}

// Unlink removes a name.
func (f fuseFS) Unlink(_ <-chan struct{}, _ *fuse.InHeader, name string) fuse.Status {
	return f.do(func(d *Disk) syscall.Errno { return d.remove(name) })
}

// Rename renames a file, and replaces a file that has the new name.
func (f fuseFS) Rename(_ <-chan struct{}, in *fuse.RenameIn, from, to string) fuse.Status {
	if in.Flags != 0 {
		return fuse.EINVAL
	}
	return f.do(func(d *Disk) syscall.Errno { return d.rename(from, to) })
}

// Link gives a file one more name.
func (f fuseFS) Link(_ <-chan struct{}, in *fuse.LinkIn, name string, out *fuse.EntryOut) fuse.Status {
	return f.on(in.Oldnodeid, func(d *Disk, file *file) syscall.Errno {
		if err := d.link(in.Oldnodeid, name); err != 0 {
			return err
		}
		return entry(in.Oldnodeid, file, out)
	})
}

// OpenDir opens the directory.
func (fuseFS) OpenDir(<-chan struct{}, *fuse.OpenIn, *fuse.OpenOut) fuse.Status { return fuse.OK }

// ReadDir lists the directory by names.
func (f fuseFS) ReadDir(_ <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	return f.do(func(d *Disk) syscall.Errno {
		for i, name := range d.sorted() {
			if uint64(i) < in.Offset {
				continue
			}
			if !out.AddDirEntry(fuse.DirEntry{Name: name, Ino: d.names[name], Mode: syscall.S_IFREG, Off: uint64(i) + 1}) {
				break
			}
		}
		return 0
	})
}

// StatFs reports plenty of free space.
func (fuseFS) StatFs(_ <-chan struct{}, _ *fuse.InHeader, out *fuse.StatfsOut) fuse.Status {
	const size, blocks = 4096, 1 << 24 // 64 GiB
	*out = fuse.StatfsOut{Blocks: blocks, Bfree: blocks, Bavail: blocks, Files: blocks, Ffree: blocks, Bsize: size, Frsize: size, NameLen: 255}
	return fuse.OK
}
