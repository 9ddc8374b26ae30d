package faultfs

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"syscall"
)

// firstFile is the number of the first file; the one before is the directory.
const firstFile = 2

// A file exists while it has a name or is open.
type file struct {
	content
	mode  uint32
	links int
	open  int
}

// A Disk is a directory of files in memory, with a log and a fault. Its methods may be
// called concurrently; each is atomic. FS calls those that are exported, from another process.
type Disk struct {
	mu   sync.Mutex
	next uint64
	state
	count [kinds]int // operations since the fault was set
	fault Fault
	torn  bool // a write was cut short, and the call that continues it fails
	met   bool
	saved map[int]state
}

// A state is the content of a disk at a moment, and the log up to it.
type state struct {
	files map[uint64]*file
	names map[string]uint64
	log   []Entry
}

// None means no argument, or no answer.
type None struct{}

// newDisk returns an empty disk.
func newDisk() *Disk {
	d := &Disk{next: firstFile, saved: make(map[int]state)}
	_ = d.Reset(None{}, nil) // which cannot fail
	return d
}

// Ready answers when the file system is there.
func (*Disk) Ready(None, *None) error { return nil }

// Reset removes all files, the log and the fault. No file may be open.
func (d *Disk) Reset(None, *None) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	// A number is never used again: the kernel may remember its bytes.
	d.state = state{files: make(map[uint64]*file), names: make(map[string]uint64)}
	d.setFault(Fault{})
	return nil
}

// Save saves files and log under a number. No file may be open.
func (d *Disk) Save(n int, _ *None) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.saved[n] = d.clone()
	return nil
}

// Restore restores what was saved under a number, without a fault. No file may be open.
func (d *Disk) Restore(n int, _ *None) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.state = d.saved[n].clone()
	d.setFault(Fault{})
	return nil
}

// clone is a copy that shares only the bytes of changes.
func (s state) clone() state {
	files := make(map[uint64]*file, len(s.files))
	for node, f := range s.files {
		files[node] = &file{content: *f.content.clone(), mode: f.mode, links: f.links}
	}
	return state{files, maps.Clone(s.names), slices.Clone(s.log)}
}

// Mark puts a mark into the log.
func (d *Disk) Mark(n uint64, _ *None) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.log = append(d.log, Entry{Kind: Mark, Node: n})
	return nil
}

// Log is a copy of the log. Do not change the bytes in it.
func (d *Disk) Log(_ None, log *[]Entry) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	*log = slices.Clone(d.log)
	return nil
}

// replay is a Replay at the end of the log.
func (d *Disk) replay() *Replay {
	var log []Entry
	_ = d.Log(None{}, &log) // which cannot fail
	p := NewReplay(log)
	p.Advance(len(log))
	return p
}

// CutAll makes an image of what a power cut now leaves at least.
func (d *Disk) CutAll(dir string, _ *None) error {
	return d.replay().Image(dir, func(int, int) bool { return false })
}

// An Order asks for an image of what a power cut now may leave.
type Order struct {
	Dir         string
	Seed, Image uint64
}

// Cut makes a random image of what a power cut now may leave, and returns the choice.
func (d *Disk) Cut(o Order, how *string) error {
	replay := d.replay()
	var keep Keep
	*how, keep = Chance(rand.New(rand.NewPCG(o.Seed, o.Image)), replay.pending)
	return replay.Image(o.Dir, keep)
}

// sorted returns the names in order.
func (d *Disk) sorted() []string { return slices.Sorted(maps.Keys(d.names)) }

func (d *Disk) find(name string) (uint64, *file, syscall.Errno) {
	node, ok := d.names[name]
	if !ok {
		return 0, nil, syscall.ENOENT
	}
	return node, d.files[node], 0
}

// create makes a file and opens it.
func (d *Disk) create(name string, mode uint32) (uint64, *file, syscall.Errno) {
	if _, there := d.names[name]; there {
		return 0, nil, syscall.EEXIST
	}
	if err := d.meet(Create); err != 0 {
		return 0, nil, err
	}
	node, f := d.next, &file{mode: mode, links: 1, open: 1}
	d.next++
	d.files[node], d.names[name] = f, node
	d.log = append(d.log, Entry{Kind: Create, Node: node, Name: name})
	return node, f, 0
}

func (d *Disk) write(node uint64, offset int64, b []byte) (int, syscall.Errno) {
	n, err := d.meetWrite(len(b))
	if n > 0 {
		b = bytes.Clone(b[:n])
		d.files[node].write(offset, b)
		d.log = append(d.log, Entry{Kind: Write, Node: node, Offset: offset, Data: b})
	}
	return n, err
}

func (d *Disk) resize(node uint64, size int64) syscall.Errno {
	if err := d.meet(Resize); err != 0 {
		return err
	}
	d.files[node].resize(size)
	d.log = append(d.log, Entry{Kind: Resize, Node: node, Offset: size})
	return 0
}

// sync records a sync of a file or, by SyncDir, of the directory.
func (d *Disk) sync(k Kind, node uint64) syscall.Errno {
	err := d.meet(k)
	if err == 0 {
		d.log = append(d.log, Entry{Kind: k, Node: node})
	}
	return err
}

func (d *Disk) remove(name string) syscall.Errno {
	node, _, err := d.find(name)
	if err == 0 {
		err = d.meet(Remove)
	}
	if err != 0 {
		return err
	}
	delete(d.names, name)
	d.unlink(node)
	d.log = append(d.log, Entry{Kind: Remove, Node: node, Name: name})
	return 0
}

func (d *Disk) rename(from, to string) syscall.Errno {
	node, _, err := d.find(from)
	if err == 0 {
		err = d.meet(Rename)
	}
	if err != 0 {
		return err
	}
	if other, there := d.names[to]; there {
		if other == node {
			return 0
		}
		d.unlink(other)
	}
	delete(d.names, from)
	d.names[to] = node
	d.log = append(d.log, Entry{Kind: Rename, Node: node, Name: from, To: to})
	return 0
}

func (d *Disk) link(node uint64, name string) syscall.Errno {
	if _, there := d.names[name]; there {
		return syscall.EEXIST
	}
	if err := d.meet(Link); err != 0 {
		return err
	}
	d.files[node].links++
	d.names[name] = node
	d.log = append(d.log, Entry{Kind: Link, Node: node, Name: name})
	return 0
}

func (d *Disk) unlink(node uint64) {
	d.files[node].links--
	d.drop(node)
}

// drop removes a file that has no name and is not open.
func (d *Disk) drop(node uint64) {
	if f := d.files[node]; f.links == 0 && f.open == 0 {
		delete(d.files, node)
	}
}
