package bolt

import (
	"bytes"
	"context"
	"errors"
	"io"

	"pushbox/store/record"
)

const (
	searchStep  = 1 << 20
	searchReach = 64 << 10 // the longest sealed key ring
)

// FindRing reads every byte of the file, in use or not, and reports whether opens says
// yes to what follows a place that names the key ring, as it does in every page
// that has or had one. opens gets the ring, if there is one, and what follows it.
func (db *DB) FindRing(ctx context.Context, opens func(b []byte) bool) (found bool, err error) {
	if err := db.admit(ctx); err != nil {
		return false, err
	}
	h := db.enter()
	if h == nil {
		return false, record.ErrClosed
	}
	defer h.leave()
	name, buffer := []byte(metaKeyRing), make([]byte, searchStep+len(metaKeyRing)+searchReach)
	for at := int64(0); ; at += searchStep {
		n, err := h.file.ReadAt(buffer, at)
		if err != nil && !errors.Is(err, io.EOF) {
			return false, err
		}
		last := errors.Is(err, io.EOF)
		for i := bytes.Index(buffer[:n], name); i >= 0 && (last || i < searchStep); {
			rest := buffer[i+len(name) : n]
			if opens(rest[:min(len(rest), searchReach)]) {
				return true, nil
			}
			next := bytes.Index(rest, name)
			if next < 0 {
				break
			}
			i += len(name) + next
		}
		if last {
			return false, nil
		}
		if err := ctx.Err(); err != nil {
			return false, err
		}
	}
}
