package cli

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pushbox/internal/client"
	"pushbox/internal/testkit/env"
)

func TestTheTextIsAloneOnStandardOutputAsItIs(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"secret-marker", "line\n", "\x1b[31m\x00ä\r\n\n", ""} {
		f := newFake(t)
		f.fields["payload"] = text
		got := act(t, "", nil, "get", f.link()+"/r", "-o", t.TempDir()).want(t, exitDone, "views left: 4").discreet(t)
		if got.stdout != text {
			t.Errorf("%q became %q", text, got.stdout)
		}
	}
}

// listed are the names in a directory.
func listed(t *testing.T, dir string) string {
	t.Helper()
	entries := env.Must(os.ReadDir(dir))(t)
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return strings.Join(names, "|")
}

func contentOf(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Error(err)
	}
	return string(b)
}

func TestFilesAreSavedForTheirOwnerAlone(t *testing.T) {
	t.Parallel()
	f, dir := newFake(t), t.TempDir()
	large := strings.Repeat("x", 300000)
	f.fields["payload"], f.files = "beside them", []fakeFile{{"a b.txt", "first"}, {"ä.bin", ""}, {"large", large}}
	got := act(t, "", nil, "get", f.link(), "-o", dir).want(t, exitDone, "saved "+filepath.Join(dir, "a b.txt"))
	if got.stdout != "beside them" || listed(t, dir) != "a b.txt|large|ä.bin" {
		t.Errorf("printed %q, saved %s", got.stdout, listed(t, dir))
	}
	for i, name := range []string{"a b.txt", "ä.bin", "large"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm() != 0o600 || contentOf(t, filepath.Join(dir, name)) != f.files[i].text {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}

func TestNoFileIsReplacedUnlessThatIsAskedFor(t *testing.T) {
	t.Parallel()
	files := []fakeFile{{"a.txt", "one"}, {"a.txt", "two"}, {"dir", "three"}, {"link", "four"}}
	for force, want := range map[bool]map[string]string{
		false: {"a.txt": "old", "a (1).txt": "one", "a (2).txt": "two", "dir (1)": "three", "link (1)": "four", "elsewhere": "old"},
		true:  {"a.txt": "one", "a (1).txt": "two", "dir (1)": "three", "link": "four", "elsewhere": "old"},
	} {
		f, dir := newFake(t), t.TempDir()
		f.files = files
		for _, name := range []string{"a.txt", "elsewhere"} {
			env.OK(t, os.WriteFile(filepath.Join(dir, name), []byte("old"), 0o600))
		}
		env.OK(t, os.Mkdir(filepath.Join(dir, "dir"), 0o700))
		env.OK(t, os.Symlink("elsewhere", filepath.Join(dir, "link")))
		args := []string{"get", f.link(), "-o", dir}
		if force {
			args = append(args, "--force")
		}
		act(t, "", nil, args...).want(t, exitDone, filepath.Join(dir, "a (1).txt"))
		for name, text := range want {
			if got := contentOf(t, filepath.Join(dir, name)); got != text {
				t.Errorf("force %v: %s holds %q, not %q", force, name, got, text)
			}
		}
	}
}

func TestADirectoryThatTakesNoFilesIsFoundBeforeTheRetrieval(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	for _, dir := range []string{filepath.Join(t.TempDir(), "nothing"), inFile(t, "file", "")} {
		act(t, "", nil, "get", f.link(), "-o", dir).want(t, exitFailed, "files cannot be written to the directory", "hint: make it, or name another with -o; nothing was retrieved yet")
	}
	act(t, "", nil, "get", "secret-marker").want(t, exitUsage, "LINK must be a link", "hint: give the link").discreet(t)
	act(t, "", nil, "get").want(t, exitUsage, "LINK is missing")
	env.Equal(t, "requests were sent", len(f.requests()), 0)
}

func TestWhatHasComeOfADownloadStays(t *testing.T) {
	t.Parallel()
	for views, hint := range map[int]string{0: "that was the last view: ask the sender", 3: "run the command again; that counts as another view"} {
		f, dir := newFake(t), t.TempDir()
		f.views, f.files = views, []fakeFile{{"cut.txt", "0123456789"}, {"gone.txt", "x"}}
		f.download = func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/f/0" || r.Header.Get("Range") != "" {
				w.WriteHeader(http.StatusNotFound)
				return
			}
			w.Header().Set("ETag", `"v1"`)
			w.Header().Set("Content-Length", "10")
			_, _ = io.WriteString(w, "0123")
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}
		got := act(t, "", nil, "get", f.link(), "-o", dir).want(t, exitFailed, "fetch cut.txt: ", "the first 4 of 10 bytes are in "+dir, "fetch gone.txt: ", "hint: "+hint)
		left := listed(t, dir)
		if !strings.HasPrefix(left, "cut.txt.") || !strings.HasSuffix(left, ".part") || contentOf(t, filepath.Join(dir, left)) != "0123" {
			t.Errorf("left %s\n%s", left, got.stderr)
		}
	}
}

func TestAnInterruptionEndsADownloadCleanly(t *testing.T) {
	t.Parallel()
	f, dir := newFake(t), t.TempDir()
	f.fields["payload"], f.files = "text", []fakeFile{{"a", "0123456789"}, {"b", "x"}}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	f.download = func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "10")
		_, _ = io.WriteString(w, "0123")
		_ = http.NewResponseController(w).Flush()
		cancel()
		<-r.Context().Done()
	}
	var stdout, stderr strings.Builder
	code := Main(ctx, []string{"get", f.link(), "-o", dir}, strings.NewReader(""), &stdout, &stderr, nil)
	result{code, "", stderr.String()}.want(t, exitFailed, "fetch a: interrupted", "files not fetched: 1", "hint: run the command again; that counts as another view")
	if stdout.String() != "text" {
		t.Errorf("printed %q", &stdout)
	}
}

func TestAPassphraseIsAskedForUpToThreeTimes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, typed string
		flags       []string
		code        int
		says        string
		requests    int
	}{
		{"at once", "pass-marker\r", nil, exitDone, "Passphrase: ", 2},
		{"at the third", "a\rb\rpass-marker\r", nil, exitDone, "that passphrase is incorrect", 4},
		{"never", "a\rb\rc\rpass-marker\r", nil, exitFailed, "hint: ask the sender for the passphrase", 4},
		{"beforehand", "pass-marker\r", []string{"--passphrase"}, exitDone, "Passphrase: ", 1},
		{"beforehand, at the third", "a\rb\rpass-marker\r", []string{"--passphrase"}, exitDone, "Passphrase: ", 3},
		{"beforehand, never", "a\rb\rc\rpass-marker\r", []string{"--passphrase"}, exitFailed, "that passphrase is incorrect", 3},
		{"interrupted", "a\x03", nil, exitFailed, "interrupted", 1},
	} {
		f := newFake(t)
		f.passphrase, f.fields["payload"] = "pass-marker", "text"
		got := typed(t, test.typed, append([]string{"get", f.link(), "-o", t.TempDir()}, test.flags...)...).want(t, test.code, test.says).discreet(t)
		if (got.stdout == "text") != (test.code == exitDone) || len(f.requests()) != test.requests {
			t.Errorf("%s: printed %q after %d requests", test.name, got.stdout, len(f.requests()))
		}
	}
}

func TestWithoutATerminalAPassphraseComesFromAFile(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.passphrase, f.fields["payload"] = "pass-marker", "text"
	right, wrong := inFile(t, "right", "pass-marker\n"), inFile(t, "wrong", "other\n")
	get := []string{"get", f.link(), "-o", t.TempDir()}
	for _, test := range []struct {
		stdin string
		code  int
		says  string
		flags []string
	}{
		{"", exitDone, "views", []string{"--passphrase-file", right}},
		{"pass-marker", exitDone, "views", []string{"--passphrase-file", "-"}},
		{"", exitFailed, "that passphrase is incorrect", []string{"--passphrase-file", wrong}},
		{"", exitFailed, "hint: give the passphrase with --passphrase", nil},
		{"", exitUsage, "no terminal", []string{"--passphrase"}},
	} {
		act(t, test.stdin, nil, append(get, test.flags...)...).want(t, test.code, test.says).discreet(t)
	}
	env.Equal(t, "requests", len(f.requests()), 4)
}

func TestTextIsShownOnATerminalSoThatItCannotDriveIt(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"plain ä 報 👩‍🚀 \u00a0\n\tx": "plain ä 報 👩‍🚀 \u00a0\n\tx",
		"\x1b[31mred":               "<U+001B>[31mred", "a\rb": "a<U+000D>b", "\x00\x07\x7f": "<U+0000><U+0007><U+007F>", "\u009b31m": "<U+009B>31m",
		"\u202eabc\u2066": "<U+202E>abc<U+2066>", "\xff\x9b": "<FF><9B>", "\ufffd": "\ufffd", "\u2028": "<U+2028>", "\U000e0041": "<U+E0041>", "": "",
	} {
		got, changed := escapeControls(text)
		if got != want || changed != (text != want) {
			t.Errorf("%q became %q, %v; want %q", text, got, changed, want)
		}
	}
}

func TestATextThatCannotBeWrittenIsAFailure(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.fields["payload"] = "text-marker"
	var stderr strings.Builder
	code := Main(t.Context(), []string{"get", f.link(), "-o", t.TempDir()}, strings.NewReader(""), fullDisk{}, &stderr, nil)
	result{code, "", stderr.String()}.want(t, exitFailed, "the text was retrieved, but could not be written", "another view").discreet(t)
}

func TestNumbersOfAFileNameHaveAnEnd(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := &saver{dir: dir, saved: make(map[string]bool)}
	temp := filepath.Join(dir, "temp")
	env.OK(t, os.WriteFile(temp, nil, 0o600))
	for range maxSameName {
		env.OK(t, os.WriteFile(temp, nil, 0o600))
		env.Must(s.place(temp, "a.txt"))(t)
	}
	env.OK(t, os.WriteFile(temp, []byte("x"), 0o600))
	if path, err := s.place(temp, "a.txt"); err == nil || contentOf(t, temp) != "x" {
		t.Errorf("placed at %s", path)
	}
}

func TestAPushThatHasExpiredIsToldAsSuch(t *testing.T) {
	t.Parallel()
	err := remoteError("retrieve from", client.Server{}, client.ErrExpired)
	if !strings.Contains(err.Error(), "the push has expired") || nextStep(nil, err) != "ask the sender to push it again" {
		t.Errorf("%v, %s", err, nextStep(nil, err))
	}
}
