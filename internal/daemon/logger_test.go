package daemon

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"pushbox/config"
	"pushbox/internal/testkit/env"
)

func TestLogsAreJSONLinesInUTC(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"json", "auto"} { // a buffer is no terminal
		var out bytes.Buffer
		log := newLogger(&out, config.Log{Level: "info", Format: format})
		log.Debug().Msg("not this")
		log.Info().Str("key", "value").Msg("this")
		var line struct{ Time, Level, Key, Message string }
		if err := json.Unmarshal(out.Bytes(), &line); err != nil {
			t.Fatalf("%s: %v", &out, err)
		}
		if line.Level != "info" || line.Key != "value" || line.Message != "this" {
			t.Errorf("%s: %s", format, &out)
		}
		if at, err := time.Parse("2006-01-02T15:04:05.000Z", line.Time); err != nil || time.Since(at) > time.Hour {
			t.Errorf("%s: time %s, %v", format, line.Time, err)
		}
	}
}

func TestLogsCanBeForPeople(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := newLogger(&out, config.Log{Level: "debug", Format: "console"})
	log.Debug().Str("key", "value").Msg("this")
	env.Contains(t, "it wrote", out.String(), "DBG this key=value")
}

func TestEachLevelHidesThoseBelowIt(t *testing.T) {
	t.Parallel()
	for level, want := range map[string]int{"debug": 4, "info": 3, "warn": 2, "error": 1} {
		var out bytes.Buffer
		log := newLogger(&out, config.Log{Level: level, Format: "json"})
		log.Debug().Send()
		log.Info().Send()
		log.Warn().Send()
		log.Error().Send()
		if got := strings.Count(out.String(), "\n"); got != want {
			t.Errorf("%s: %d lines, want %d", level, got, want)
		}
	}
}

func TestWhatNetHTTPSaysIsForDebuggingOnly(t *testing.T) {
	t.Parallel()
	for level, want := range map[string]bool{"debug": true, "info": false} {
		var out bytes.Buffer
		w := debugWriter{newLogger(&out, config.Log{Level: level, Format: "json"})}
		if n, err := w.Write([]byte("http: odd")); n != 9 || err != nil {
			t.Errorf("Write returned %d, %v", n, err)
		}
		if got := strings.Contains(out.String(), "http: odd"); got != want {
			t.Errorf("%s: %q", level, &out)
		}
	}
}

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
