package cli

import (
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pushbox/internal/testkit/env"
	"pushbox/store"
)

func TestALinkIsAloneOnStandardOutput(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	got := act(t, "secret-marker\n", nil, "push", "--url", f.URL+"/").want(t, exitDone, "pushed; it expires after 7 days or 5 views").discreet(t)
	if got.stdout != f.link()+"/r\n" || f.fields["payload"] != "secret-marker\n" || len(f.fields) != 1 {
		t.Errorf("printed %q, pushed %q", got.stdout, f.fields)
	}
}

func TestAnExactEndIsSaid(t *testing.T) {
	t.Parallel()
	act(t, "x", nil, "push", "--url", newFake(t).URL, "--until", "2026-12-31T17:00:00+01:00").want(t, exitDone, "pushed; it expires at 2026-12-31T16:00:00Z or after 5 views")
}

func TestOnlyFlagsThatAreGivenAreSent(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		flags []string
		want  map[string]string
	}{
		{nil, map[string]string{}},
		{[]string{"--days", "7", "--views", "5"}, map[string]string{"expire_after_days": "7", "expire_after_duration": "12", "expire_after_views": "5"}},
		{[]string{"--retrieval-step", "--deletable"}, map[string]string{"retrieval_step": "true", "deletable_by_viewer": "true"}},
		{[]string{"--retrieval-step=false", "--deletable=false"}, map[string]string{"retrieval_step": "false", "deletable_by_viewer": "false"}},
		{[]string{"--name", "a name", "--note", "ä"}, map[string]string{"name": "a name", "note": "ä"}},
		{[]string{"--until", "2026-12-31T17:00:00+01:00", "--from", "2026-12-30T17:00:00Z"}, map[string]string{"expires_at": "2026-12-31T17:00:00+01:00", "open_from": "2026-12-30T17:00:00Z"}},
		{[]string{"--after-first-view", "15m"}, map[string]string{"close_after_first_view": "0"}},
		{[]string{"--after-first-view", "12h"}, map[string]string{"close_after_first_view": "5"}},
		{[]string{"--after-first-view", "24h"}, map[string]string{"close_after_first_view": "6"}},
		{[]string{"--after-first-view", "90d"}, map[string]string{"close_after_first_view": "17"}},
		{[]string{"--network", "10.0.0.0/8", "--network", "2001:db8::1"}, map[string]string{"networks": "10.0.0.0/8,2001:db8::1"}},
		{[]string{"--kind", "text"}, map[string]string{"kind": "text"}},
	} {
		f := newFake(t)
		act(t, "x", nil, append([]string{"push", "--url", f.URL}, test.flags...)...).want(t, exitDone)
		test.want["payload"] = "x"
		if !maps.Equal(f.fields, test.want) {
			t.Errorf("%q: sent %q", test.flags, f.fields)
		}
	}
}

func TestTheTextIsPushedAsItIs(t *testing.T) {
	t.Parallel()
	longest := strings.Repeat("x", store.MaxText)
	for _, test := range []struct{ kind, stdin, want, err string }{
		{"text", "two\nlines\r\n\n", "two\nlines\r\n\n", ""},
		{"text", "\x00\t ä", "\x00\t ä", ""},
		{"url", "https://example.com\n", "https://example.com", ""},
		{"url", "https://example.com\r\n", "https://example.com", ""},
		{"qr", "a\nb\n", "a\nb", ""},
		{"text", longest, longest, ""},
		{"text", longest + "x", "", "longer than 1048576 bytes"},
		{"text", "", "", "has no text"},
		{"text", "\xff", "", "not text in UTF-8"},
	} {
		f := newFake(t)
		got := act(t, test.stdin, nil, "push", "--url", f.URL, "--kind", test.kind)
		if test.err != "" {
			got.want(t, exitFailed, test.err, "hint: ")
		} else {
			got.want(t, exitDone)
		}
		if f.fields["payload"] != test.want {
			t.Errorf("%s %.20q: pushed %.20q", test.kind, test.stdin, f.fields["payload"])
		}
	}
}

// inFile writes a file, and returns its path.
func inFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	env.OK(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestFilesArePushedWithTheirNames(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	one, two := inFile(t, "a b.txt", "first"), inFile(t, "ä.bin", "")
	got := act(t, "not for the push", nil, "push", "--url", f.URL, "--days", "1", one, two).want(t, exitDone)
	want := map[string]string{"kind": "file", "expire_after_days": "1", "expire_after_duration": "6"}
	if !maps.Equal(f.fields, want) || len(f.files) != 2 || f.files[0] != (fakeFile{"a b.txt", "first"}) || f.files[1] != (fakeFile{"ä.bin", ""}) {
		t.Errorf("pushed %q, %q", f.fields, f.files)
	}
	if got.stdout != f.link()+"/r\n" || !strings.Contains(got.stderr, "warning: the server did not apply the limits") {
		t.Errorf("%q\n%s", got.stdout, got.stderr)
	}
}

func TestWhatCannotBePushedIsFoundBeforeAnythingIsSent(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	file := inFile(t, "a", "x")
	for _, test := range []struct {
		code int
		want string
		args []string
	}{
		{exitUsage, "--days and --views must be 1 or more", []string{"--days", "0"}},
		{exitUsage, "--days and --until exclude each other", []string{"--days", "1", "--until", "2026-12-31T17:00:00Z"}},
		{exitUsage, "must be a time with its zone", []string{"--until", "2026-12-31T17:00:00"}},
		{exitUsage, "must be a time with its zone", []string{"--from", "tomorrow"}},
		{exitUsage, "must be 15m, 30m, 45m", []string{"--after-first-view", "2h"}},
		{exitUsage, "must be 15m, 30m, 45m", []string{"--after-first-view", "0m"}},
		{exitUsage, "must be 15m, 30m, 45m", []string{"--after-first-view", "91d"}},
		{exitUsage, "--days and --views must be 1 or more", []string{"--views", "-1"}},
		{exitUsage, "--kind must be text, file, url or qr", []string{"--kind", "image"}},
		{exitUsage, "--kind must be text, file, url or qr", []string{"--kind", ""}},
		{exitUsage, "--kind file needs a FILE", []string{"--kind", "file"}},
		{exitUsage, "--kind must be file if there is a FILE", []string{"--kind", "text", file}},
		{exitUsage, "--name and --note must be UTF-8", []string{"--note", "\xff"}},
		{exitUsage, "cannot ask for a passphrase: there is no terminal", []string{"--passphrase"}},
		{exitUsage, "standard input cannot provide the passphrase", []string{"--passphrase-file", "-"}},
		{exitUsage, "--passphrase-file names no file", []string{"--passphrase-file", ""}},
		{exitUsage, "give --passphrase or --passphrase-file, not both", []string{"--passphrase", "--passphrase-file", file}},
		{exitFailed, "the passphrase file: open", []string{"--passphrase-file", file + "x"}},
		{exitFailed, "it is empty", []string{"--passphrase-file", inFile(t, "empty", "\n")}},
		{exitFailed, "a single line", []string{"--passphrase-file", inFile(t, "lines", "a\nb\n")}},
		{exitFailed, "no such file", []string{file, file + "x"}},
		{exitFailed, "is a directory", []string{filepath.Dir(file)}},
		{exitUsage, "url (flag --url): must begin with", []string{"--url", "ftp://x"}},
	} {
		args := append([]string{"push", "--url", f.URL}, test.args...)
		act(t, "text", nil, args...).want(t, test.code, test.want, "hint: ")
	}
	act(t, "text", nil, "push").want(t, exitUsage, "no server was named", "hint: name it with --url or PUSHBOX_URL")
	env.Equal(t, "requests were sent", len(f.requests()), 0)
}

func TestAPassphraseComesFromAFileOrStandardInput(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	act(t, "text", nil, "push", "--url", f.URL, "--passphrase-file", inFile(t, "p", " pass-marker \r\n")).want(t, exitDone).discreet(t)
	if f.fields["passphrase"] != " pass-marker " || f.fields["payload"] != "text" {
		t.Errorf("pushed %q", f.fields)
	}
	act(t, "pass-marker\n", nil, "push", "--url", f.URL, "--passphrase-file", "-", inFile(t, "a", "x")).want(t, exitDone).discreet(t)
	if f.fields["passphrase"] != "pass-marker" || len(f.files) != 1 {
		t.Errorf("pushed %q", f.fields)
	}
}

func TestTextAndPassphraseAreAskedForWithoutEcho(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, typed string
		args        []string
		code        int
		says        string
		payload     string
		passphrase  string
	}{
		{"a text", "text-marker\r", nil, exitDone, "Text to push", "text-marker", ""},
		{"a text and a passphrase", "text-marker\rpass-marker\rpass-marker\r", []string{"--passphrase"}, exitDone, "Repeat it", "text-marker", "pass-marker"},
		{"passphrases that differ", "text\rpass-marker\rpast-marker\r", []string{"--passphrase"}, exitFailed, "the two passphrases differ", "", ""},
		{"an empty passphrase", "text\r\r\r", []string{"--passphrase"}, exitFailed, "the passphrase is empty", "", ""},
		{"no text", "\r", nil, exitFailed, "there is no text", "", ""},
		{"Ctrl-C", "tex\x03", nil, exitFailed, "interrupted", "", ""},
		{"a passphrase that would be shown", "text\r", []string{"--passphrase-file", "-"}, exitUsage, "would show the passphrase", "", ""},
	} {
		f := newFake(t)
		got := typed(t, test.typed, append([]string{"push", "--url", f.URL}, test.args...)...).want(t, test.code, test.says).discreet(t)
		if f.fields["payload"] != test.payload || f.fields["passphrase"] != test.passphrase {
			t.Errorf("%s: pushed %q\n%s", test.name, f.fields, got.stderr)
		}
	}
}

func TestEachRefusalHasANextStep(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]string{
		http.StatusUnauthorized: "--token-file", http.StatusForbidden: "the push's owner", http.StatusNotFound: "check the link",
		http.StatusRequestEntityTooLarge: "push less", http.StatusUnprocessableEntity: "correct what it names",
		http.StatusTooManyRequests: "again in a minute", http.StatusServiceUnavailable: "again in a minute",
		http.StatusInsufficientStorage: "make room", http.StatusInternalServerError: "try again later", http.StatusTeapot: "check the address",
	} {
		f := newFake(t)
		f.status = status
		for _, args := range [][]string{{"push", "--url", f.URL}, {"get", f.link(), "-o", t.TempDir()}, {"expire", f.link()}} {
			got := act(t, "x", nil, args...).want(t, exitFailed, f.URL+": The server's own words.\nhint: ", want).discreet(t)
			if got.stdout != "" {
				t.Errorf("%d: printed %q", status, got.stdout)
			}
		}
	}
}

func TestALinkThatCannotBePrintedIsAFailure(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	var stderr strings.Builder
	code := Main(t.Context(), []string{"push", "--url", f.URL}, strings.NewReader("x"), fullDisk{}, &stderr, nil)
	result{code, "", stderr.String()}.want(t, exitFailed, "the push was made, but its link could not be printed").discreet(t)
}

// Each recipient gets a push of their own: the text is read once, and files are read again.
func TestAPushForNamedRecipients(t *testing.T) {
	t.Parallel()
	f := newPushServer(t)
	got := act(t, "secret-marker", nil, "push", "--url", f.URL, "--recipient", "ann@example.com").want(t, exitDone)
	if got.stdout != f.link(1)+"\n" || f.pushes[0]["recipient_email"] != "ann@example.com" {
		t.Errorf("printed %q, pushed %v", got.stdout, f.pushes)
	}
	got = act(t, "secret-marker", nil, "push", "--url", f.URL, "--recipient", "ann@example.com", "--recipient", " @example.net").want(t, exitDone)
	if want := "ann@example.com\t" + f.link(2) + "\n@example.net\t" + f.link(3) + "\n"; got.stdout != want || f.texts() != "secret-marker|secret-marker|secret-marker" {
		t.Errorf("printed %q, pushed %s", got.stdout, f.texts())
	}
	got = act(t, "secret-marker", nil, "push", "--url", f.URL, "--end-to-end", "--recipient", "a@example.com", "--recipient", "b@example.com").want(t, exitDone)
	lines := strings.Split(got.stdout, "\n")
	if _, first, _ := strings.Cut(lines[0], "#"); first == "" || strings.HasSuffix(lines[1], first) || !strings.HasPrefix(lines[1], "b@example.com\t") {
		t.Errorf("printed %q", got.stdout)
	}
	act(t, "x", nil, "push", "--url", f.URL, "--recipient", " ").want(t, exitUsage, "--recipient must be an address")
	act(t, "x", nil, "push", "--url", f.URL, "--csv", "-", "--recipient", "a@example.com").want(t, exitUsage, "--csv takes no --recipient")

	csv := act(t, "text,recipient\nfirst,ann@example.com\nsecond,\n", nil, "push", "--url", f.URL, "--csv", "-").want(t, exitDone)
	if want := "name,mail,link\n,ann@example.com," + f.link(6) + "\n,," + f.link(7) + "\n"; csv.stdout != want || f.pushes[5]["recipient_email"] != "ann@example.com" || f.pushes[6]["recipient_email"] != nil {
		t.Errorf("printed %q, pushed %v", csv.stdout, f.pushes[5:])
	}
}

// The link of a server that ignores the recipient would open for all who have it.
func TestALinkThatIgnoresItsRecipientIsNotPrinted(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	if got := act(t, "x", nil, "push", "--url", f.URL, "--recipient", "ann@example.com").want(t, exitFailed, "the server knows no named recipients", "hint: its link was not printed"); got.stdout != "" {
		t.Errorf("printed %q", got.stdout)
	}
}

func TestFilesForSeveralRecipientsAreReadForEach(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.named = true
	act(t, "", nil, "push", "--url", f.URL, "--recipient", "ann@example.com", "--recipient", "bob@example.com", inFile(t, "a.txt", "content")).want(t, exitDone)
	if one := (fakeFile{"a.txt", "content"}); len(f.files) != 2 || f.files[0] != one || f.files[1] != one || f.fields["recipient_email"] != "bob@example.com" {
		t.Errorf("pushed %q, %q", f.fields, f.files)
	}
}
