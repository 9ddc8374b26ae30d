package faultfs

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// A Replay goes through a log and knows, at each point, which changes are on the disk
// for certain, and which may be.
type Replay struct {
	log     []Entry
	at      int
	durable map[uint64]*content
	names   map[string]uint64
	pending []Entry // changes that nothing has synced yet, in order
}

// NewReplay returns a Replay that is before the first entry of a log.
func NewReplay(log []Entry) *Replay {
	return &Replay{log: log, durable: make(map[uint64]*content), names: make(map[string]uint64)}
}

// Advance goes forward to before the entry with that number, from 0.
func (r *Replay) Advance(to int) {
	for ; r.at < to; r.at++ {
		e := r.log[r.at]
		switch e.Kind {
		case Sync:
			r.settle(func(p Entry) bool { return p.Node == e.Node && (p.Kind == Write || p.Kind == Resize) })
		case SyncDir:
			r.settle(func(p Entry) bool { return p.Kind != Write && p.Kind != Resize })
		case Write, Resize, Create, Remove, Rename, Link:
			r.pending = append(r.pending, e)
		}
	}
}

// settle makes pending changes last.
func (r *Replay) settle(synced func(Entry) bool) {
	r.pending = slices.DeleteFunc(r.pending, func(p Entry) bool {
		if !synced(p) {
			return false
		}
		if p.Kind == Write || p.Kind == Resize {
			r.file(p.Node).apply(p)
		} else {
			rename(r.names, p)
		}
		return true
	})
}

func (r *Replay) file(node uint64) *content {
	if r.durable[node] == nil {
		r.durable[node] = new(content)
	}
	return r.durable[node]
}

// Pending returns the changes that a power cut may undo, in order.
func (r *Replay) Pending() []Entry { return slices.Clone(r.pending) }

// A Keep reports whether a power cut keeps a part of a pending change: a sector of it,
// from 0, or for Whole the size that a write or a resize gave the file, or the change of
// a name.
type Keep func(change, sector int) bool

// Whole means the part of a change that is not a sector.
const Whole = -1

// Image makes the files that a power cut here leaves, in an empty directory.
func (r *Replay) Image(dir string, keep Keep) error {
	names, changed := maps.Clone(r.names), make(map[uint64]*content)
	for i, p := range r.pending {
		if p.Kind != Write && p.Kind != Resize {
			if keep(i, Whole) {
				rename(names, p)
			}
			continue
		}
		if changed[p.Node] == nil {
			changed[p.Node] = r.file(p.Node).clone()
		}
		changed[p.Node].cut(p, func(sector int) bool { return keep(i, sector) })
	}
	return r.save(dir, names, changed)
}

// cut applies the part of a change that was kept. Bytes beyond the end of the file are
// lost with the size.
func (c *content) cut(e Entry, keep func(sector int) bool) {
	size := c.size
	if keep(Whole) {
		if e.Kind == Resize {
			c.resize(e.Offset)
			return
		}
		size = max(size, e.Offset+int64(len(e.Data)))
	}
	for n := range e.Sectors() {
		if !keep(n) {
			continue
		}
		if offset, data := e.sector(n); offset < size {
			c.write(offset, data[:min(int64(len(data)), size-offset)])
		}
	}
	c.size = size
}

func rename(names map[string]uint64, e Entry) {
	switch e.Kind {
	case Remove:
		delete(names, e.Name)
	case Rename:
		delete(names, e.Name)
		names[e.To] = e.Node
	default:
		names[e.Name] = e.Node
	}
}

// save writes the files. A file with several names has them in the image, too.
func (r *Replay) save(dir string, names map[string]uint64, changed map[uint64]*content) error {
	saved := make(map[uint64]string)
	for name, node := range names {
		path := filepath.Join(dir, name)
		if first, ok := saved[node]; ok {
			if err := os.Link(first, path); err != nil {
				return err
			}
			continue
		}
		saved[node] = path
		c := changed[node]
		if c == nil {
			c = r.file(node)
		}
		if err := os.WriteFile(path, c.data, 0o600); err != nil {
			return err
		}
		if err := os.Truncate(path, c.size); err != nil {
			return err
		}
	}
	return nil
}
