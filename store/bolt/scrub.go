package bolt

import "pushbox/internal/durable"

// scrub overwrites all of a file that is about to be closed, if it no longer has a name.
// Then its blocks hold nothing once the file system takes them.
func (h *handle) scrub() error { return durable.Overwrite(h.file) }
