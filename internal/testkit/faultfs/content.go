package faultfs

import "slices"

// A content is the bytes of a file: data, then zeros up to size.
type content struct {
	data []byte
	size int64
}

// write writes bytes, and grows the file as needed.
func (c *content) write(offset int64, b []byte) {
	end := offset + int64(len(b))
	if n := int64(len(c.data)); end > n {
		c.data = slices.Grow(c.data, int(end-n))[:end]
		clear(c.data[n:])
	}
	copy(c.data[offset:], b)
	c.size = max(c.size, end)
}

// resize truncates the file, or grows it by zeros.
func (c *content) resize(size int64) {
	if size < int64(len(c.data)) {
		c.data = c.data[:size]
	}
	c.size = size
}

// read copies bytes from offset on, and returns their number.
func (c *content) read(offset int64, b []byte) int {
	n := int(max(0, min(int64(len(b)), c.size-offset)))
	had := 0
	if offset < int64(len(c.data)) {
		had = copy(b[:n], c.data[offset:])
	}
	clear(b[had:n])
	return n
}

// apply applies a recorded change.
func (c *content) apply(e Entry) {
	if e.Kind == Resize {
		c.resize(e.Offset)
	} else {
		c.write(e.Offset, e.Data)
	}
}

func (c *content) clone() *content { return &content{slices.Clone(c.data), c.size} }
