package store

import (
	"context"

	"pushbox/store/record"
)

// CheckDeep is Check, and then compares all payloads and chunks of files with their
// digests, beside reads and writes. It needs no link. It calls progress, from one
// goroutine, with bytes read and an estimate of all bytes.
func (s *Store) CheckDeep(ctx context.Context, progress func(done, total int64)) (problems []string, c record.Coverage, err error) {
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
