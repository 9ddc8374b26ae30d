package daemon

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"pushbox/config"
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
	if !strings.Contains(out.String(), "DBG this key=value") {
		t.Errorf("it wrote %q", &out)
	}
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
