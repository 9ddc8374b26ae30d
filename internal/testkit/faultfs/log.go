package faultfs

import "fmt"

// SectorSize is the number of bytes that a disk writes atomically.
const SectorSize = 512

// A Kind is the kind of an entry of a log, or of an operation that a fault hits.
type Kind uint8

// The kinds. Those up to Link change something.
const (
	Write  Kind = 1 + iota // of bytes
	Resize                 // by truncating or extending
	Create                 // of a file under a name
	Remove                 // of a name
	Rename
	Link
	Sync // of a file
	SyncDir
	Mark // put in by a test
	Open
	Read
	kinds
)

var kindNames = [kinds]string{
	Write: "write", Resize: "resize", Create: "create", Remove: "remove", Rename: "rename", Link: "link",
	Sync: "sync", SyncDir: "syncdir", Mark: "mark", Open: "open", Read: "read",
}

// String is the kind in a word.
func (k Kind) String() string { return kindNames[k] }

// An Entry is a change, a sync or a mark. Failed changes are not recorded, except the
// part of a write that was done.
type Entry struct {
	Kind   Kind
	Node   uint64 // the file; of a mark, what the test calls it
	Offset int64  // where a write begins; the new size of a resize
	Data   []byte // that was written
	Name   string // in the directory
	To     string // the new name of a rename
}

// String describes the entry without its bytes.
func (e Entry) String() string {
	switch e.Kind {
	case Write:
		return fmt.Sprintf("write %d bytes at %d of file %d", len(e.Data), e.Offset, e.Node)
	case Resize:
		return fmt.Sprintf("resize file %d to %d", e.Node, e.Offset)
	case Rename:
		return fmt.Sprintf("rename %s to %s", e.Name, e.To)
	case Create, Remove, Link:
		return fmt.Sprintf("%s %s (file %d)", e.Kind, e.Name, e.Node)
	default:
		return fmt.Sprintf("%s %d", e.Kind, e.Node)
	}
}

// Sectors is the number of sectors that a write touches; 0 of other entries.
func (e Entry) Sectors() int {
	if e.Kind != Write || len(e.Data) == 0 {
		return 0
	}
	first, last := e.Offset/SectorSize, (e.Offset+int64(len(e.Data))-1)/SectorSize
	return int(last - first + 1)
}

// sector is the part of a write in its n-th sector.
func (e Entry) sector(n int) (offset int64, data []byte) {
	first := e.Offset / SectorSize
	from := max(e.Offset, (first+int64(n))*SectorSize)
	to := min(e.Offset+int64(len(e.Data)), (first+int64(n)+1)*SectorSize)
	return from, e.Data[from-e.Offset : to-e.Offset]
}
