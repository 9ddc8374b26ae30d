package daemon

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/internal/testkit/env"
)

func TestLinesForTheJournalHaveTheirPriority(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := newLogger(&journalWriter{out: &out}, config.Log{Level: "debug", Format: "auto"})
	log.Debug().Msg("a")
	log.Info().Msg("b")
	log.Warn().Msg("c")
	log.Error().Msg("d")
	voice{&out, log, false}.say("e")
	var got []string
	for line := range strings.Lines(out.String()) {
		var entry struct{ Message string }
		if err := json.Unmarshal([]byte(line[len("<n>"):]), &entry); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		got = append(got, line[:len("<n>")]+entry.Message)
	}
	if want := "<7>a <6>b <4>c <3>d <6>e"; strings.Join(got, " ") != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestNoLevelHidesWhatAStartSays(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	v := voice{&out, newLogger(&out, config.Log{Level: "error", Format: "json"}), false}
	v.show("open", "url", "http://localhost/x?a=1&b=2")
	var entry struct{ Level, Message, URL string }
	if err := json.Unmarshal(out.Bytes(), &entry); err != nil || entry.Level != "info" || entry.Message != "open" || entry.URL != "http://localhost/x?a=1&b=2" {
		t.Errorf("%s, %v", &out, err)
	}
	out.Reset()
	v.plain = true
	v.show("open", "url", "http://localhost/x")
	if want := "pushbox: open:\n\n    http://localhost/x\n\n"; out.String() != want {
		t.Errorf("%q", &out)
	}
}

// BenchmarkLogLine measures a line like that of a request, into a file.
func BenchmarkLogLine(b *testing.B) {
	f, err := os.Create(filepath.Join(b.TempDir(), "log"))
	env.OK(b, err)
	defer f.Close()
	log := newLogger(f, config.Log{Level: "info", Format: "json"})
	b.ReportAllocs()
	for b.Loop() {
		log.Info().Str("request_id", "2s4a8f0c1b7d").Str("route", "create").Int("status", 201).Float64("ms", 1.234).
			Int64("bytes", 571).Str("client", "127.0.0.1").Str("caller", "anonymous").Msg("request")
	}
}
