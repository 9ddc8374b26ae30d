package doctor

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"pushbox/config"
	"pushbox/internal/admin"
	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
)

// healthy returns an installation without problems, whose server runs.
func healthy(t *testing.T) *Subject {
	t.Helper()
	dir, err := os.MkdirTemp("", "pb") // a path that leaves room for a socket
	env.OK(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	s := &Subject{
		Config: config.Default(), File: filepath.Join(dir, "pushbox.yaml"),
		Database: filepath.Join(dir, "pushbox.db"), Socket: filepath.Join(dir, "control.sock"),
		Version: "3.0.0", Clock: func() time.Time { return now },
		Hint:    func(error) string { return "do something" },
		Running: true,
		Facts:   &admin.Facts{Version: "3.0.0", Key: filepath.Join(t.TempDir(), "master.key"), Clock: now, Latest: now, Swept: now, Size: 1 << 20},
	}
	s.Config.DataDir = dir
	s.Config.Limits.MinFreeSpace = 1
	for _, name := range []string{s.File, s.Database, s.Facts.Key} {
		env.OK(t, os.WriteFile(name, []byte("listen: 127.0.0.1:0\n"), 0o600))
	}
	l := env.Must(net.Listen("unix", s.Socket))(t)
	t.Cleanup(func() { _ = l.Close() })
	env.OK(t, os.Chmod(s.Socket, 0o600))
	return s
}

// of is what a run found first in one check.
func of(t *testing.T, s *Subject, check string) Finding {
	t.Helper()
	return allOf(t, s, check)[0]
}

// allOf is all that a run found in one check.
func allOf(t *testing.T, s *Subject, check string) (found []Finding) {
	t.Helper()
	for _, f := range Run(t.Context(), s) {
		if f.Check == check {
			found = append(found, f)
		}
	}
	if len(found) == 0 {
		t.Fatalf("nothing was found of %s", check)
	}
	return found
}

// checksOf are the names of the checks for an engine.
func checksOf(e engine) (names []string) {
	for _, c := range checks() {
		if c.of == anyEngine || c.of == e {
			names = append(names, c.name)
		}
	}
	return names
}

func TestNothingIsWrongWithAHealthyInstallation(t *testing.T) {
	t.Parallel()
	s := healthy(t)
	all := Run(t.Context(), s)
	if n := len(checksOf(inFile)); len(all) != n || Count(all, Problem) != 0 {
		t.Errorf("%d, not %d: %+v", len(all), n, all)
	}
	left, err := filepath.Glob(filepath.Join(s.Config.DataDir, "doctor*"))
	if err != nil || len(left) != 0 {
		t.Errorf("it left %q, %v", left, err)
	}
}

func TestEachThingThatIsWrongIsFound(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("modes tell nothing there")
	}
	chmod := func(t *testing.T, name string, mode os.FileMode) {
		t.Helper()
		env.OK(t, os.Chmod(name, mode))
	}
	broken := errors.New("it is broken")
	for name, test := range map[string]struct {
		harm        func(t *testing.T, s *Subject)
		check, text string
		grade       Grade
	}{
		"settings": {func(_ *testing.T, s *Subject) {
			s.ConfigIs = &config.ProblemsError{Problems: []config.Problem{{Key: "listen", Origin: "here", Text: "is wrong"}}}
		}, "configuration", "listen (here): is wrong", Problem},
		"a file that others write": {func(t *testing.T, s *Subject) { chmod(t, s.File, 0o620) }, "configuration", "other users can write", Problem},
		"a key that others read": {func(t *testing.T, s *Subject) {
			env.OK(t, os.WriteFile(s.File, []byte("master_key: x\n"), 0o600))
			chmod(t, s.File, 0o644)
		}, "configuration", "has a secret", Problem},
		"a password that others read": {func(t *testing.T, s *Subject) {
			env.OK(t, os.WriteFile(s.File, []byte("mail:\n  password: x\n"), 0o600))
			chmod(t, s.File, 0o644)
		}, "configuration", "has a secret", Problem},
		"no directory":                {func(_ *testing.T, s *Subject) { s.Config.DataDir += "/no" }, "data directory", "there is no", Problem},
		"a file for a directory":      {func(_ *testing.T, s *Subject) { s.Config.DataDir = s.File }, "data directory", "is not a directory", Problem},
		"a directory others write to": {func(t *testing.T, s *Subject) { chmod(t, s.Config.DataDir, 0o770) }, "data directory", "does not start", Problem},
		"a directory others look in":  {func(t *testing.T, s *Subject) { chmod(t, s.Config.DataDir, 0o755) }, "data directory", "other users can read", Warning},
		"a database for others":       {func(t *testing.T, s *Subject) { chmod(t, s.Database, 0o640) }, "database", "other users can open", Problem},
		"no database":                 {func(_ *testing.T, s *Subject) { s.Database += "x" }, "database", "there is no", Warning},
		"a database that was deleted": {func(t *testing.T, s *Subject) {
			s.Facts.Lost = true
			env.OK(t, os.Remove(s.Database))
		}, "database", "was deleted or replaced", Problem},
		"a key for others": {func(t *testing.T, s *Subject) { chmod(t, s.Facts.Key, 0o640) }, "master key", "other users can open", Problem},
		"a key beside the database": {func(t *testing.T, s *Subject) {
			place(t, s, filepath.Join(s.Config.DataDir, "master.key"))
		}, "master key", "is in the directory of the database", Warning},
		"a key below the database": {func(t *testing.T, s *Subject) {
			place(t, s, filepath.Join(s.Config.DataDir, "keys", "master.key"))
		}, "master key", "is in the directory of the database", Warning},
		"a link to a key beside the database": {func(t *testing.T, s *Subject) {
			link := s.Facts.Key + ".link"
			place(t, s, filepath.Join(s.Config.DataDir, "master.key"))
			env.OK(t, os.Symlink(s.Facts.Key, link))
			s.Facts.Key = link
		}, "master key", "is in the directory of the database", Warning},
		"an old key beside the database": {func(t *testing.T, s *Subject) {
			left(t, s, "master.key.old-20260101T000000Z")
		}, "master key", "master.key.old-20260101T000000Z", Warning},
		"a next key beside the database": {func(t *testing.T, s *Subject) {
			left(t, s, "master.key.next")
		}, "master key", "keys from rotations are in the directory of the database", Warning},
		"an old key beside its successor": {func(t *testing.T, s *Subject) {
			env.OK(t, os.WriteFile(s.Facts.Key+".old-20260101T000000Z", []byte("old"), 0o600))
		}, "master key", "it fits the database", OK},
		"another key":                 {func(_ *testing.T, s *Subject) { s.Facts.KeyFault = "it is another" }, "master key", "the next start would fail: it is another", Problem},
		"no socket":                   {func(_ *testing.T, s *Subject) { s.Socket += "x" }, "control socket", "no such file", Problem},
		"a file for a socket":         {func(_ *testing.T, s *Subject) { s.Socket = s.File }, "control socket", "is not a socket", Problem},
		"a socket for others":         {func(t *testing.T, s *Subject) { chmod(t, s.Socket, 0o666) }, "control socket", "other users can open", Problem},
		"no server":                   {func(_ *testing.T, s *Subject) { s.Running = false }, "server", "no server is running", Warning},
		"a server that does not tell": {func(_ *testing.T, s *Subject) { s.Facts, s.FactsAre = nil, broken }, "server", "it is broken", Problem},
		"a store that does not open":  {func(_ *testing.T, s *Subject) { s.Running, s.Facts, s.FactsAre = false, nil, broken }, "server", "the store does not open", Problem},
		"an older schema":             {func(_ *testing.T, s *Subject) { older(s, 1) }, "server", "waits for an upgrade", Warning},
		"a key of an older schema":    {func(_ *testing.T, s *Subject) { older(s, 1) }, "master key", "not opened before it is upgraded", Skipped},
		"an older server":             {func(_ *testing.T, s *Subject) { s.Facts.Version = "2.0.0" }, "server", "version 2.0.0", Warning},
		"a clock in doubt":            {func(_ *testing.T, s *Subject) { s.Facts.Doubt = true }, "clock", "jumped", Problem},
		"a store that was closed":     {func(_ *testing.T, s *Subject) { s.Facts.Away = true }, "clock", "unused for more than a day", Warning},
		"a clock far behind":          {func(_ *testing.T, s *Subject) { s.Facts.Latest = s.Facts.Clock.Add(2 * time.Hour) }, "clock", "2h0m0s behind", Problem},
		"a clock behind":              {func(_ *testing.T, s *Subject) { s.Facts.Latest = s.Facts.Clock.Add(2 * time.Minute) }, "clock", "2m0s behind", Warning},
		"no administrator":            {func(_ *testing.T, s *Subject) { s.Facts.NoAdmin = true }, "administrators", "no account is an administrator", Warning},
		"no sweep":                    {func(_ *testing.T, s *Subject) { s.Facts.Swept = time.Time{} }, "sweeper", "no sweep", Warning},
		"an old sweep":                {func(_ *testing.T, s *Subject) { s.Facts.Swept = s.Facts.Clock.Add(-time.Hour) }, "sweeper", "1h0m0s ago", Problem},
		"no space":                    {func(_ *testing.T, s *Subject) { s.Config.Limits.MinFreeSpace = 1 << 62 }, "free space", "nothing is created", Problem},
		"no disk to write to":         {func(_ *testing.T, s *Subject) { s.Config.DataDir = s.File }, "writing to the disk", "cannot be written", Problem},
		"a certificate for no one": {func(_ *testing.T, s *Subject) {
			s.Config.TLS.CertFile, s.Facts.CertTo, s.Facts.CertFault = s.File, s.Facts.Clock, "it has no name"
		}, "certificate", "it has no name", Problem},
		"no certificate to read": {func(_ *testing.T, s *Subject) { s.Config.TLS.CertFile = s.File + "x" }, "secret files", "tls.cert_file: open", Problem},
		"a webhook that cannot be": {func(_ *testing.T, s *Subject) {
			s.Config.Webhooks.URL, s.Hook = secret.New("https://hooks.example.com"), broken
		}, "webhook of the server", "it is broken", Problem},
		"a webhook":  {func(_ *testing.T, s *Subject) { s.Config.Webhooks.URL = secret.New("https://hooks.example.com") }, "webhook of the server", "nothing was sent", OK},
		"core dumps": {func(_ *testing.T, s *Subject) { s.Facts.DumpFault = "not allowed" }, "core dumps", "not allowed", Problem},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := healthy(t)
			test.harm(t, s)
			f := of(t, s, test.check)
			wants(t, name, f, test.grade, test.text)
		})
	}
}

// left leaves a file of that name beside the database.
func left(t *testing.T, s *Subject, name string) {
	t.Helper()
	env.OK(t, os.WriteFile(filepath.Join(filepath.Dir(s.Database), name), []byte("old"), 0o600))
}

// older makes the database one of an older schema, whose upgrade needs that much room.
func older(s *Subject, room int64) {
	s.Running, s.Facts, s.Upgrade = false, nil, &Upgrade{From: 4, To: 6, Room: room, Days: 7}
}

func TestAnUpgradeIsAnnouncedWithWhatItNeeds(t *testing.T) {
	t.Parallel()
	for room, want := range map[int64]Grade{1 << 20: Warning, 1 << 62: Problem} {
		s := healthy(t)
		older(s, room)
		found := allOf(t, s, "database")
		if len(found) != 2 || found[0].Grade != OK {
			t.Fatalf("found %+v", found)
		}
		wants(t, "the upgrade", found[1], want, "has schema 4: the next start of `pushbox serve`")
		wants(t, "the old one", found[1], want, "pushbox.db.schema4 for 7 days")
	}
}

// place makes a key file, which the server has from then on.
func place(t *testing.T, s *Subject, path string) {
	t.Helper()
	env.OK(t, os.MkdirAll(filepath.Dir(path), 0o700))
	env.OK(t, os.WriteFile(path, nil, 0o600))
	s.Facts.Key = path
}

func TestAKeyApartFromTheDatabaseIsFine(t *testing.T) {
	t.Parallel()
	s := healthy(t)
	wants(t, "elsewhere", of(t, s, "master key"), OK, "it fits the database")
	sibling := s.Config.DataDir + ".keys"
	t.Cleanup(func() { _ = os.RemoveAll(sibling) })
	place(t, s, filepath.Join(sibling, "master.key"))
	wants(t, "a directory whose name begins alike", of(t, s, "master key"), OK, "it fits the database")
	s.Facts.Key = "none: the setting master_key"
	wants(t, "no file", of(t, s, "master key"), OK, "it fits the database")
}

func TestARunEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if all := Run(ctx, healthy(t)); len(all) != 0 {
		t.Errorf("it went on: %+v", all)
	}
}

func TestEveryCheckHasANameOfItsOwn(t *testing.T) {
	t.Parallel()
	seen := make(map[string]bool)
	for _, c := range checks() {
		if c.name == "" || seen[c.name] || strings.ToLower(c.name) != c.name {
			t.Errorf("%q", c.name)
		}
		seen[c.name] = true
	}
}
