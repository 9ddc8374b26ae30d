package config

import (
	"math"
	"testing"
	"time"
)

func TestSizes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text string
		want Size
		back string
	}{
		{"0", 0, "0"},
		{"0MiB", 0, "0"},
		{"1", 1, "1"},
		{"1000", 1000, "1000"},
		{"1023B", 1023, "1023"},
		{"1024", 1024, "1KiB"},
		{"1kB", 1000, "1000"},
		{"128KB", 128000, "125KiB"},
		{"64KiB", 64 << 10, "64KiB"},
		{"10MB", 10_000_000, "10000000"},
		{"400MiB", 400 << 20, "400MiB"},
		{"1024MiB", 1 << 30, "1GiB"},
		{"1025MiB", 1025 << 20, "1025MiB"},
		{"3GB", 3_000_000_000, "3000000000"},
		{"2TB", 2_000_000_000_000, "1953125000KiB"},
		{"8388607TiB", math.MaxInt64 - (1<<40 - 1), "8388607TiB"},
		{"9007199254740991KiB", math.MaxInt64 - 1023, "9007199254740991KiB"},
		{"9223372036854775807", math.MaxInt64, "9223372036854775807"},
	} {
		got, err := ParseSize(test.text)
		if err != nil || got != test.want || got.String() != test.back {
			t.Errorf("%s is %d, printed %v, error %v; want %d, printed %s", test.text, got, got, err, test.want, test.back)
		}
		if again, err := ParseSize(got.String()); err != nil || again != got {
			t.Errorf("%v is read back as %d, %v", got, again, err)
		}
	}
}

func TestWrongSizes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]error{
		"9223372036854775808":      errSizeHuge,
		"9007199254740992KiB":      errSizeHuge,
		"8796093022208MiB":         errSizeHuge,
		"8589934592GiB":            errSizeHuge,
		"8388608TiB":               errSizeHuge,
		"9223373TB":                errSizeHuge,
		"99999999999999999999TiB":  errSizeHuge,
		"18446744073709551616KiB":  errSizeHuge, // 0 if it is multiplied in 64 bits
		"":                         errSize,
		"MiB":                      errSize,
		"-1":                       errNegative,
		"+1":                       errSize,
		"1.5GiB":                   errSize,
		"1e3":                      errSize,
		"0x10":                     errSize,
		"010":                      errSize,
		"1_000":                    errSize,
		"1 MiB":                    errSizeSpace,
		"1M":                       errSize,
		"1mib":                     errSize,
		"1MiBKiB":                  errSize,
		"1KiB ":                    errSize,
		"\u0661":                   errSize, // a digit, but not ASCII
		"1PiB":                     errSize,
		"9223372036854775807bytes": errSize,
	} {
		if got, err := ParseSize(text); err != want || got != 0 {
			t.Errorf("%q is %d, %v; want %v", text, got, err, want)
		}
	}
}

func TestDurations(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text string
		want time.Duration
		back string
	}{
		{"0", 0, "0"},
		{"0d", 0, "0"},
		{"1ns", 1, "1ns"},
		{"1.5s", 1500 * time.Millisecond, "1s500ms"},
		{"90s", 90 * time.Second, "90s"},
		{"60s", time.Minute, "1m"},
		{"10m", 10 * time.Minute, "10m"},
		{"1h1s", time.Hour + time.Second, "1h1s"},
		{"90m", 90 * time.Minute, "90m"},
		{"24h", day, "1d"},
		{"36h", 36 * time.Hour, "36h"},
		{"1d12h", 36 * time.Hour, "36h"},
		{"1d1s", day + time.Second, "1d1s"},
		{"90d", 90 * day, "90d"},
		{"2160h", 90 * day, "90d"},
		{"1d0.5h", day + 30*time.Minute, "1d30m"},
		{"106751d", 106751 * day, "106751d"},
		{"106751d23h47m16.854775807s", math.MaxInt64, "106751d23h47m16s854.775807ms"},
	} {
		got, err := parseDuration(test.text)
		if err != nil || got != test.want || formatDuration(got) != test.back {
			t.Errorf("%s is %v, printed %s, error %v; want %v, printed %s", test.text, got, formatDuration(got), err, test.want, test.back)
		}
		if again, err := parseDuration(formatDuration(got)); err != nil || again != got {
			t.Errorf("%v is read back as %v, %v", got, again, err)
		}
	}
}

func TestWrongDurations(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]error{
		"5":                          errDurationUnit,
		"-5":                         errNegative,
		"1.5":                        errDurationUnit,
		"00":                         errDurationUnit,
		"1d0":                        errDurationUnit,
		"1d12":                       errDurationUnit,
		"106752d":                    errDurationLong,
		"106751d24h":                 errDurationLong,
		"106751d23h47m16.854775808s": errDurationLong,
		"9223372036854775808d":       errDurationLong,
		"":                           errDuration,
		"d":                          errDuration,
		"-1d":                        errNegative,
		"-1h":                        errNegative,
		"+1h":                        errDuration,
		"1d-1h":                      errDuration,
		"1.5d":                       errDuration,
		"01d":                        errDuration,
		"1h1d":                       errDuration,
		"1d1d":                       errDuration,
		"1w":                         errDuration,
		"1 h":                        errDuration,
		"9999999999999h":             errDuration,
	} {
		if got, err := parseDuration(text); err != want || got != 0 {
			t.Errorf("%q is %v, %v; want %v", text, got, err, want)
		}
	}
}

func TestDistance(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"", "abc", 3},
		{"abc", "", 3},
		{"abc", "abc", 0},
		{"lisen", "listen", 1},
		{"listenn", "listen", 1},
		{"lixten", "listen", 1},
		{"ilsten", "listen", 2},
		{"kitten", "sitting", 3},
	} {
		if got := distance(test.a, test.b); got != test.want {
			t.Errorf("%q and %q are %d apart, want %d", test.a, test.b, got, test.want)
		}
	}
}
