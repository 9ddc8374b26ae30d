package cli

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pushbox/internal/endtoend"
	"pushbox/internal/testkit/env"
)

// pushEncrypted pushes with --end-to-end, and returns the link with its key.
func pushEncrypted(t *testing.T, f *fakeServer, stdin string, args ...string) string {
	t.Helper()
	got := act(t, stdin, nil, append([]string{"push", "--end-to-end", "--url", f.URL}, args...)...).want(t, exitDone).discreet(t)
	link, fragment, ok := strings.Cut(strings.TrimSuffix(got.stdout, "\n"), "#")
	if _, err := endtoend.ParseFragment(fragment); !ok || err != nil || link != f.link()+"/r" {
		t.Fatalf("printed %q", got.stdout)
	}
	for _, r := range f.requests() {
		if strings.Contains(r.URL.String()+r.Referer(), fragment) {
			t.Error("the server was sent the key")
		}
	}
	return link + "#" + fragment
}

func TestATextComesBackDecrypted(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"secret-marker", "two\nlines\r\n\n", "\x00 ä", strings.Repeat("x", endtoend.MaxText)} {
		f := newFake(t)
		link := pushEncrypted(t, f, text)
		if !endtoend.IsEnvelope(f.fields["payload"]) || strings.Contains(f.fields["payload"], "marker") || len(f.fields) != 1 {
			t.Errorf("sent %.200q", f.fields)
		}
		for args, stdin := range map[string]string{link: "", "-": link + "\n"} {
			got := act(t, stdin, nil, "get", args, "-o", t.TempDir()).want(t, exitDone, "views left: 4").discreet(t)
			if got.stdout != text {
				t.Errorf("%.50q became %.50q", text, got.stdout)
			}
		}
		for _, r := range f.requests() {
			if strings.Contains(r.RequestURI+r.Referer(), strings.SplitAfter(link, "#")[1]) {
				t.Error("the server was sent the key")
			}
		}
	}
	if got := typed(t, "x\r", "get", "-"); got.code != exitUsage || !strings.Contains(got.stderr, "Link: ") {
		t.Errorf("at a terminal: %+v", got)
	}
	f := newFake(t)
	act(t, strings.Repeat("x", endtoend.MaxText+1), nil, "push", "--end-to-end", "--url", f.URL).want(t, exitFailed, "is longer than", "hint: push it as a file")
	act(t, "x", nil, "push", "--end-to-end", "--kind", "url", "--url", f.URL).want(t, exitUsage, "--end-to-end works only for texts and files")
	env.Equal(t, "requests", len(f.requests()), 0)
}

func TestFilesComeBackDecrypted(t *testing.T) {
	t.Parallel()
	f, from, to := newFake(t), t.TempDir(), t.TempDir()
	large := strings.Repeat("marker ", 40_000)
	args := []string{}
	for name, text := range map[string]string{"empty-marker": "", "marker ä.txt": large} {
		path := filepath.Join(from, name)
		env.OK(t, os.WriteFile(path, []byte(text), 0o600))
		args = append(args, path)
	}
	link := pushEncrypted(t, f, "", args...)
	for i, file := range f.files {
		if strings.Contains(file.text, "marker") || file.name != []string{"1.bin", "2.bin"}[i] {
			t.Errorf("sent %s", file.name)
		}
	}
	act(t, "", nil, "get", link, "-o", to).want(t, exitDone, "saved "+filepath.Join(to, "marker ä.txt"))
	if listed(t, to) != "empty-marker|marker ä.txt" || contentOf(t, filepath.Join(to, "marker ä.txt")) != large || contentOf(t, filepath.Join(to, "empty-marker")) != "" {
		t.Errorf("saved %s", listed(t, to))
	}
}

func TestAnInterruptedDownloadIsDecryptedWhole(t *testing.T) {
	t.Parallel()
	f, to := newFake(t), t.TempDir()
	large := strings.Repeat("0123456789", 30_000)
	link := pushEncrypted(t, f, "", inFile(t, "large", large))
	sealed, cut := f.files[0].text, 0
	f.download = func(w http.ResponseWriter, r *http.Request) {
		if cut++; cut < 3 { // without a validator each attempt begins anew
			w.Header().Set("Content-Length", fmt.Sprint(len(sealed)))
			_, _ = w.Write([]byte(sealed[:100_000*cut]))
			return
		}
		_, _ = w.Write([]byte(sealed))
	}
	act(t, "", nil, "get", link, "-o", to).want(t, exitDone)
	if contentOf(t, filepath.Join(to, "large")) != large {
		t.Error("the file differs")
	}
}

func TestWhatCannotBeDecryptedIsNotWritten(t *testing.T) {
	t.Parallel()
	const changed = "the key in the link is not the key of this push, or the data was changed"
	f := newFake(t)
	link := pushEncrypted(t, f, "", inFile(t, "one", strings.Repeat("x", 200_000)), inFile(t, "two", strings.Repeat("y", 200_000)))
	files := f.files
	other := "#" + endtoend.NewKey().Fragment().Reveal()
	changedText := []byte(files[1].text)
	changedText[150_000] ^= 1
	for name, test := range map[string]struct {
		link  string
		files []fakeFile
		want  string
	}{
		"wrong key":       {f.link() + other, files, changed},
		"swapped files":   {link, []fakeFile{files[1], files[0]}, changed},
		"a file less":     {link, files[:1], changed},
		"a cut file":      {link, []fakeFile{files[0], {"2.bin", files[1].text[:7+65552]}}, changed},
		"a changed file":  {link, []fakeFile{files[0], {"2.bin", string(changedText)}}, changed},
		"a file in clear": {link, []fakeFile{files[0], {"2.bin", "evil"}}, changed},
	} {
		to := t.TempDir()
		f.files = test.files
		got := act(t, "", nil, "get", test.link, "-o", to).want(t, exitFailed, test.want, "hint: ").discreet(t)
		if left := listed(t, to); got.stdout != "" || strings.Contains(left, "two") || strings.Contains(left, "part") || strings.HasPrefix(name, "wrong") && left != "" {
			t.Errorf("%s: printed %q, saved %s", name, got.stdout, left)
		}
	}
}

func TestAKeyAndItsPushBelongTogether(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	link := pushEncrypted(t, f, "secret-marker")
	before := len(f.requests())
	for _, test := range []struct{ link, want string }{
		{link[:len(link)-1], "is incomplete or was changed"},
		{f.link() + "#", "the link has no key"},
		{f.link() + "#main", "is incomplete or was changed"},
	} {
		act(t, "", nil, "get", test.link).want(t, exitFailed, test.want, "nothing was retrieved yet").discreet(t)
	}
	if len(f.requests()) != before {
		t.Error("a view was spent")
	}
	got := act(t, "", nil, "get", f.link()).want(t, exitFailed, "the link has no key", "hint: ask the sender for the whole link")
	env.Equal(t, "printed", got.stdout, f.fields["payload"])
	f.fields["payload"] = "forged"
	if got := act(t, "", nil, "get", link).want(t, exitFailed, "the push is not encrypted end to end"); got.stdout != "" {
		t.Errorf("printed %q", got.stdout)
	}
}
