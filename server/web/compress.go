package web

import (
	"bytes"
	"compress/gzip"
	"strings"
	"sync"
)

// compressed has the scripts, styles and drawings that are the same in every server, by their
// names, compressed with gzip.
var compressed = sync.OnceValue(func() map[string][]byte {
	all := make(map[string][]byte)
	entries, _ := files.ReadDir("static") // New has read it
	for _, e := range entries {
		content, _ := files.ReadFile("static/" + e.Name())
		all[e.Name()] = compress(content)
	}
	return all
})

// compressible reports whether gzip makes files of a media type smaller: photos are compressed.
func compressible(media string) bool {
	return strings.HasPrefix(media, "text/") || media == mediaTypes[".svg"]
}

// compress returns content compressed with gzip; nil if that is not smaller.
func compress(content []byte) []byte {
	var out bytes.Buffer
	z, _ := gzip.NewWriterLevel(&out, gzip.BestCompression) // the level is valid
	_, _ = z.Write(content)                                 // a buffer takes everything
	_ = z.Close()
	if out.Len() >= len(content) {
		return nil
	}
	return out.Bytes()
}
