package config

import (
	"math/big"
	"regexp"
	"testing"
	"time"
)

var (
	sizeForm     = regexp.MustCompile(`^(0|[1-9][0-9]*)([kKMGT]B|[KMGT]iB|B|)$`)
	unitsInBytes = map[string]int64{
		"": 1, "B": 1, "kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40,
	}
)

// readSize reads a size of any length. ok is false if the text is not a size, and n is
// nil if it is too large for a Size.
func readSize(text string) (n *big.Int, ok bool) {
	found := sizeForm.FindStringSubmatch(text)
	if found == nil {
		return nil, false
	}
	n, _ = new(big.Int).SetString(found[1], 10)
	if n.Mul(n, big.NewInt(unitsInBytes[found[2]])); !n.IsInt64() {
		return nil, true
	}
	return n, true
}

// FuzzSize checks that a text is a size exactly if it is one in big integers, and that
// it is printed as a text of the same size.
func FuzzSize(f *testing.F) {
	for _, text := range []string{"0", "8MiB", "010", "1e3", "8388608TiB", "9223372036854775807", "9223372036854775808", "1 MiB", "kB", "18446744073709551616KiB"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := ParseSize(text)
		switch want, ok := readSize(text); {
		case !ok && err != errSize && err != errNegative && err != errSizeSpace, ok && want == nil && err != errSizeHuge:
			t.Fatalf("%q: %v", text, err)
		case want == nil:
		case err != nil || int64(got) != want.Int64():
			t.Fatalf("%q is %d, %v", text, got, err)
		default:
			if again, err := ParseSize(got.String()); err != nil || again != got {
				t.Fatalf("%q is printed as %q, which is %d, %v", text, got, again, err)
			}
		}
	})
}

var (
	wholeDays = regexp.MustCompile(`^(0|[1-9][0-9]{0,5})d(.*)$`)
	clock     = regexp.MustCompile(`^([0-9]*\.?[0-9]*(h|m|s|ms|us|µs|μs|ns))*$`)
)

// FuzzDuration checks that a duration is days and what time.ParseDuration reads in the
// rest, never negative and never too long, and that it is printed as a text of the same
// duration.
func FuzzDuration(f *testing.F) {
	for _, text := range []string{"0", "5", "90d", "1d12h30m1.5s", "106751d23h47m16.854775807s", "106751d24h", "106752d", "-1h", "1d-1h", "1.5d", "1w", "1d1d", "1h1d", "00d", "2562047h47m16.854775807s"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := parseDuration(text)
		if err != nil {
			if got != 0 {
				t.Fatalf("%q is refused, and %v", text, got)
			}
			if _, theirs := time.ParseDuration(text); theirs == nil && clock.MatchString(text) {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		want, rest := time.Duration(0), text
		if found := wholeDays.FindStringSubmatch(text); found != nil {
			n, _ := new(big.Int).SetString(found[1], 10)
			want, rest = time.Duration(n.Int64())*day, found[2]
		}
		if rest != "" {
			clock, theirs := time.ParseDuration(rest)
			if theirs != nil {
				t.Fatalf("%q is %v, although: %v", text, got, theirs)
			}
			want += clock
		}
		if got != want || got < 0 {
			t.Fatalf("%q is %v, not %v", text, got, want)
		}
		if again, err := parseDuration(formatDuration(got)); err != nil || again != got {
			t.Fatalf("%q is printed as %q, which is %v, %v", text, formatDuration(got), again, err)
		}
	})
}
