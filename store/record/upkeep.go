package record

import (
	"fmt"
	"time"
)

// SpaceLimits bound the size of a store. Beyond them creates and uploads are refused with ErrFull;
// views, expiry and deletes continue.
type SpaceLimits struct {
	MaxSize int64 // bytes in use; 0: no limit
	MinFree int64 // bytes to leave free on the file system; 0: no limit
	Room    RoomLimits
}

// CopiesStay is how long an upgrade keeps the file of the older store.
const CopiesStay = 7 * Day

// EngineStats are figures of an engine at one moment.
type EngineStats struct {
	Space
	FreePages int       // unused pages in the file
	Journal   int       // rows that are not folded yet
	Oldest    time.Time // the earliest time limit of a live push; zero: none is live
	Live      int64     // live pushes, with those that are due for a sweep

	Shared *SharedStats // nil: the engine has its own file
}

// SharedStats are figures of the connections to a database that several servers share, since this
// server started.
type SharedStats struct {
	InUse, Idle, Max int           // connections
	Waits            uint64        // steps that waited for a connection
	Waited           time.Duration // total time of these waits
	Conflicts        uint64        // attempts that began again because another change was first
	Retries          uint64        // those that began again because something failed
	FoundOut         uint64        // steps whose outcome was unknown and was then determined
	LeftUnknown      uint64        // steps whose outcome stayed unknown
}

// A Commit is one commit to a file of the engine's own.
type Commit struct {
	Work       CommitWork
	Operations int
	Took       time.Duration // until it was on the disk
}

// A CommitWork is what a commit had to do beside its operations.
type CommitWork string

// The works of commits.
const (
	WorkNone CommitWork = "none"
	WorkFold CommitWork = "fold" // it wrote changes of the journal to their places
	WorkCut  CommitWork = "cut"  // it removed such changes from the journal
	WorkWait CommitWork = "wait" // for at least half of the time it waited for an erasure, a backup or a compaction
)

// CommitWorks are all works of commits.
func CommitWorks() []CommitWork { return []CommitWork{WorkNone, WorkFold, WorkCut, WorkWait} }

// Coverage is what CheckDeep read.
type Coverage struct {
	Payloads, Chunks int64 // compared with their digests
	Without          int64 // payloads and chunks that an older version wrote without a digest
	Bytes            int64 // in all chunks
}

// Problems compares a push with its tally, and returns a sentence for each broken promise.
func (p Push) Problems(t Tally) (problems []string) {
	note := func(wrong bool, format string, args ...any) {
		if wrong {
			problems = append(problems, fmt.Sprintf(format, args...))
		}
	}
	note(p.Live() && !t.Payload, "it is live and has no payload")
	note(!p.Live() && t.Payload, "it has expired and its payload is still there")
	note(p.Live() && len(p.Wrap) == 0, "it is live and its key is gone")
	note(!p.Live() && len(p.Wrap) != 0, "it has expired and its key is still there")
	note(p.Live() && (p.Owner != 0) != (len(p.Link) != 0), "it is live, and its owner and its link disagree")
	note(!p.Live() && len(p.Link) != 0, "it has expired and its link is still there")
	note(p.Live() != p.ExpiredAt.IsZero(), "its state and its time of expiry disagree")
	note(p.Views > p.ViewLimit, "it was viewed %d times, %d are allowed", p.Views, p.ViewLimit)
	note(p.Live() && p.Views >= p.ViewLimit, "it reached its view limit and is live")
	note(p.Views != t.Views, "it counts %d views, its audit log %d", p.Views, t.Views)
	note(p.Seq != t.Entries, "it counts %d audit entries, %d are there", p.Seq, t.Entries)
	note(p.Minor != t.Minor, "it counts %d minor audit entries, %d are there", p.Minor, t.Minor)
	note(!t.Numbered, "its audit entries are not numbered without a gap")
	note(!t.Indexed, "its index rows are not those it should have")
	note(p.HoldsFiles() != (p.Stored > 0), "its files and what they take disagree")
	note(p.Stored != t.Stored, "its files take %d bytes, %d are there", p.Stored, t.Stored)
	note(!p.Live() && p.HoldsFiles() && p.GrantsEnd.IsZero(), "it has expired and holds files for no grant")
	note(p.GrantsEnd.Before(t.GrantsEnd), "a grant for its files ends later than it says")
	note(!p.HoldsFiles() && !t.GrantsEnd.IsZero(), "it holds no files and has grants")
	return problems
}

// Space is the size of an engine's file, and how much of it is unused.
type Space struct{ Size, Unused int64 } // bytes

// A Tally counts what an engine holds of a push beside its record.
type Tally struct {
	Payload  bool   // there is a payload
	Entries  uint32 // audit entries
	Views    int    // entries of kind view
	Minor    uint32 // entries that count towards MaxMinorEntries
	Numbered bool   // the entries have all numbers from 0
	Indexed  bool   // it has exactly the owner row and the expiry row that it should have

	Stored    int64     // bytes of its chunks
	GrantsEnd time.Time // when the last of its grants ends; zero if it has none
}
