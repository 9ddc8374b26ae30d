package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pushbox/store"
)

func TestWhatIsHandedOverIsNoFileToReplace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	credentials := []string{"OTHER=/x", credentialsVar[:len(credentialsVar)-1] + "=" + dir + "/creds"}
	for _, c := range []struct {
		file    string
		environ []string
		fixed   bool
	}{
		{"", credentials, false},
		{"/etc/pushbox/master.key", credentials, false},
		{dir + "/creds/master.key", credentials, true},
		{dir + "/creds/master.key", nil, false},
		{dir + "/creds-of-mine/master.key", credentials, false},
		{dir + "/creds/master.key", []string{credentialsVar}, false},
		{"/run/credentials/pushbox.service/master.key", nil, true},
		{"/run/secrets/master.key", nil, true},
	} {
		cfg := settingsFor(dir)
		cfg.MasterKeyFile = c.file
		got := rootKeeper(cfg, c.environ)
		if (got.Fixed != "") != c.fixed || (got.File == "") != c.fixed || !c.fixed && !filepath.IsAbs(got.File) {
			t.Errorf("%s with %q: %+v", c.file, c.environ, got)
		}
	}
	cfg := settingsFor(dir)
	cfg.MasterKey = secretText("x")
	if got := rootKeeper(cfg, nil); got != (store.RootKeeper{Fixed: "the setting master_key"}) {
		t.Errorf("a setting: %+v", got)
	}
}

func TestAKeyThatCannotBeComparedIsExportedWithAWord(t *testing.T) {
	t.Parallel()
	dir := withAlice(t)
	if err := os.WriteFile(filepath.Join(dir, "pushbox.db"), []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := run(t, dir, "", "key", "export").want(t, exitDone, "the key could not be compared with that of the database", "the database is damaged")
	if !strings.Contains(r.stdout, "\n4: ") {
		t.Errorf("it wrote %q", r.stdout)
	}
}

// A key file that is no key any more stays, and so does what waits beside it.
func TestWhatWaitsBesideTheKeyAndIsNoKeyStays(t *testing.T) {
	t.Parallel()
	dir := withAlice(t)
	next := filepath.Join(dir, "master.key.next")
	if err := os.WriteFile(next, []byte("?"), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, dir, "", "user", "list").want(t, exitDone, "a rotation of the master key was cut short, and cannot be finished", "master.key.next")
	run(t, dir, "", "key", "rotate").want(t, exitFailed, "master.key.next")
	if b, err := os.ReadFile(next); err != nil || string(b) != "?" {
		t.Errorf("it is %q now, %v", b, err)
	}
}

// A deep check lists what an ordinary one does not find.
func TestADeepCheckFindsAChangedChunk(t *testing.T) {
	t.Parallel()
	dir := shortDir(t)
	const golden = "../../testdata/databases/schema-5/"
	for _, name := range []string{"pushbox.db", "master.key"} {
		b, err := os.ReadFile(golden + name)
		if err != nil {
			t.Fatal(err)
		}
		if name == "pushbox.db" {
			b[largestRun(b)] ^= 1
		}
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run(t, dir, "", "check").want(t, exitDone, "no problems found")
	r := run(t, dir, "", "check", "--deep").want(t, exitProblems, "1 problem found", "payloads and", "hint: ")
	if !strings.HasPrefix(r.stdout, "push ") || !strings.HasSuffix(r.stdout, ": chunk 0 of file 1 is not as it was written\n") {
		t.Errorf("it lists %q", r.stdout)
	}
}

// largestRun is the middle of the longest row of a file: bbolt keeps it in pages that
// follow each other, of which the first says how many.
func largestRun(b []byte) (middle int) {
	const page = 4096
	longest := 0
	for at := 0; at+page <= len(b); at += page {
		number, more := int(b[at])|int(b[at+1])<<8, int(b[at+12])|int(b[at+13])<<8
		if number == at/page && b[at+2]|b[at+3]|b[at+4]|b[at+5]|b[at+6]|b[at+7] == 0 && more < 64 && more > longest {
			longest, middle = more, at+more*page/2
		}
	}
	return middle
}
