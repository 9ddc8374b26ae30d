package seal

import (
	"math"

	"golang.org/x/crypto/chacha20poly1305"
)

const (
	// ChunkSize is how many bytes of a file each of its chunks holds, but for
	// the last: chunk n begins at byte n × ChunkSize of the file.
	ChunkSize = 64 << 10
	// ChunkOverhead is by how many bytes a sealed chunk is longer than what it
	// holds.
	ChunkOverhead = chacha20poly1305.Overhead
)

// Chunks returns how many chunks a file of size bytes has: at least one, for an
// empty file has an empty chunk. The size is not negative.
func Chunks(size int64) int64 {
	return (max(size, 1)-1)/ChunkSize + 1
}

// SealedSize returns how many bytes all the sealed chunks of a file of size
// bytes have; math.MaxInt64 if they would be more than that. The size is not
// negative.
func SealedSize(size int64) int64 {
	extra := Chunks(size) * ChunkOverhead
	if size > math.MaxInt64-extra {
		return math.MaxInt64
	}
	return size + extra
}

// fits reports whether chunk n can hold that many bytes. That there is but one
// way to cut a file into chunks lets a byte be found by its number.
func fits(n uint64, last bool, size int) bool {
	switch {
	case !last:
		return size == ChunkSize
	case n == 0:
		return size >= 0 && size <= ChunkSize
	default:
		return size >= 1 && size <= ChunkSize
	}
}
