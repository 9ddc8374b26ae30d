package store

import (
	"context"
	"fmt"
)

// Coverage is what CheckDeep read.
type Coverage struct {
	Payloads, Chunks int64 // compared with their digests
	Without          int64 // of both, those that an older version wrote without a digest
	Bytes            int64 // in all of them
}

// CheckDeep is Check, and then compares all payloads and chunks of files with their
// digests, beside reads and writes. It needs no link. It calls progress, from one
// goroutine, with bytes read and an estimate of all bytes.
func (s *Store) CheckDeep(ctx context.Context, progress func(done, total int64)) (problems []string, c Coverage, err error) {
	if problems, err = s.Check(ctx); err == nil {
		c, err = s.engine.CheckContents(ctx, collect(&problems), progress)
	}
	return problems, c, err
}

// collect returns a function that appends to problems, up to a limit.
func collect(problems *[]string) func(string) {
	const enough = 1000
	return func(p string) {
		if len(*problems) < enough {
			*problems = append(*problems, p)
		}
	}
}

// Problems compares a push with what the engine holds of it and returns a sentence for
// each promise that is broken.
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
