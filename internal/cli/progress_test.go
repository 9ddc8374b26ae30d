package cli

import (
	"bytes"
	"strings"
	"sync"
	"testing"
)

// lastLook is what a terminal shows of a bar after all that was written to it.
func lastLook(written string) string {
	looks := strings.Split(strings.TrimRight(written, " \n"), "\r")
	return looks[len(looks)-1]
}

func TestProgressIsShownInBytesOfTheTotal(t *testing.T) {
	t.Parallel()
	type step struct{ done, total int64 }
	for _, test := range []struct {
		name  string
		steps []step
		want  []string
	}{
		{"to its end", []step{{0, 2048}, {1024, 2048}, {2048, 2048}}, []string{"copying 100%", "[####################]  2 KiB of 2 KiB"}},
		{"not to its end", []step{{0, 2048}}, []string{"copying   0%", "[                    ]  0 B of 2 KiB"}},
		{"a total that grows", []step{{1024, 1024}, {1024, 4096}, {4096, 4096}}, []string{"copying 100%", "4 KiB of 4 KiB"}},
		{"a total that shrinks", []step{{1024, 4096}, {1024, 1024}}, []string{"copying 100%", "1 KiB of 1 KiB"}},
		{"more than the total", []step{{0, 1024}, {4096, 1024}}, []string{"copying 100%", "4 KiB of 1 KiB"}},
		{"a total that is not known", []step{{512, 0}}, []string{"copying", "512 B"}},
		{"one known later", []step{{512, -1}, {512, 1024}, {1024, 1024}}, []string{"copying 100%", "1 KiB of 1 KiB"}},
		{"one no longer known", []step{{512, 1024}, {700, 0}}, []string{"copying  700 B"}},
		{"half", []step{{1, 1024}, {512, 1024}}, []string{"copying  50% [##########          ]  512 B of 1 KiB"}},
		{"back to the start", []step{{1024, 1024}, {0, 1024}, {1024, 1024}}, []string{"copying 100%", "1 KiB of 1 KiB"}},
		{"very much", []step{{1 << 40, 1 << 40}}, []string{"copying 100%", "1 TiB of 1 TiB"}},
	} {
		var out bytes.Buffer
		p := &progress{what: "copying", out: &out}
		for _, s := range test.steps {
			p.set(s.done, s.total)
		}
		p.end()
		for _, want := range test.want {
			if look := lastLook(out.String()); !strings.Contains(look, want) {
				t.Errorf("%s: %q lacks %q", test.name, look, want)
			}
		}
		if !strings.HasSuffix(out.String(), "\n") {
			t.Errorf("%s: the line does not end", test.name)
		}
	}
}

func TestNothingIsShownAfterTheEndNorWithoutATerminal(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p := &progress{what: "copying", out: &out}
	p.end() // nothing was shown: there is no line to end
	p.set(1, 2)
	p.end()
	q := (&app{stderr: &out}).progress("copying")
	q.set(1, 2)
	q.end()
	if out.Len() != 0 {
		t.Errorf("shown: %q", &out)
	}
}

func TestProgressMayBeSetWhileItEnds(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p := &progress{what: "copying", out: &out}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range int64(100) {
				p.set(i, 100)
			}
		})
	}
	p.end()
	all.Wait()
}
