package daemon

import (
	"os"
	"path/filepath"
	"testing"

	"pushbox/config"
)

// BenchmarkLogLine measures a line like that of a request, into a file.
func BenchmarkLogLine(b *testing.B) {
	f, err := os.Create(filepath.Join(b.TempDir(), "log"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	log := newLogger(f, config.Log{Level: "info", Format: "json"})
	b.ReportAllocs()
	for b.Loop() {
		log.Info().Str("request_id", "2s4a8f0c1b7d").Str("route", "create").Int("status", 201).Float64("ms", 1.234).
			Int64("bytes", 571).Str("client", "127.0.0.1").Str("caller", "anonymous").Msg("request")
	}
}
