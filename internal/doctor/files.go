package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"pushbox/config"
	"pushbox/internal/durable"
	"pushbox/internal/humanize"
	"pushbox/store/record"
)

// Bits of a mode, for the group and for others together.
const (
	readable fs.FileMode = 0o044
	writable fs.FileMode = 0o022
)

func checkConfig(_ context.Context, s *Subject) (all []Finding) {
	if wrong := (*config.ProblemsError)(nil); errors.As(s.ConfigIs, &wrong) {
		for _, p := range wrong.Problems {
			all = append(all, problem(wrong.Cure(), "%s", p))
		}
		return all
	}
	if s.ConfigIs != nil {
		return one(problem("make the configuration readable", "it cannot be read: %v", s.ConfigIs))
	}
	if s.File == "" {
		return one(fine("it is valid; there is no file"))
	}
	info, err := os.Stat(s.File)
	switch mode := perm(info); {
	case err != nil:
		return one(problem("run doctor as the server's user", "%v", err))
	case mode&writable != 0:
		return one(problem("chmod go-w "+s.File, "it is valid, but other users can write to %s (mode %04o) and take over the server", s.File, mode))
	case mode&readable != 0 && holdsSecret(s.File):
		return one(problem("chmod 600 "+s.File, "it is valid, but %s has a secret, and other users can read it (mode %04o)", s.File, mode))
	}
	return one(fine("%s is valid", s.File))
}

// holdsSecret reports whether a line of a file gives a setting that is a secret itself.
func holdsSecret(file string) bool {
	text, err := os.ReadFile(file)
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		if slices.Contains([]string{"master_key", "password", "secret", "token"}, key) && strings.Trim(value, " \"'") != "" {
			return true
		}
	}
	return false
}

// perm returns the permission bits of a file; 0 on Windows, where they have no meaning.
func perm(info fs.FileInfo) fs.FileMode {
	if info == nil || runtime.GOOS == "windows" {
		return 0
	}
	return info.Mode().Perm()
}

func checkDataDir(_ context.Context, s *Subject) []Finding {
	dir := s.Config.DataDir
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return one(problem("run `pushbox serve` once to create it, or name the right one with --data-dir", "there is no %s", dir))
	case err != nil:
		return one(problem("run doctor as the server's user", "%v", err))
	case !info.IsDir():
		return one(problem("choose another with --data-dir", "%s is not a directory", dir))
	}
	switch mode := perm(info); {
	case mode&writable != 0:
		return one(problem("chmod 700 "+dir, "other users can write to %s (mode %04o) and replace the database; the server does not start", dir, mode))
	case mode&readable != 0:
		return one(warning("chmod 700 "+dir, "other users can read %s (mode %04o)", dir, mode))
	}
	return one(fine("%s is for its owner alone", dir))
}

func checkFile(path, dir string) Finding {
	info, err := os.Stat(path)
	if err != nil {
		return problem("run doctor as the server's user", "%v", err)
	}
	if mode := perm(info); mode&(readable|writable) != 0 {
		return problem("chmod 600 "+path, "other users can open %s (mode %04o)", path, mode)
	}
	whose, known := owner(path)
	theirs, too := owner(dir)
	if known && too && whose != theirs {
		return problem(fmt.Sprintf("chown %d %s", theirs, path), "%s belongs to user %d, and the data directory to user %d, which the server runs as", path, whose, theirs)
	}
	return fine("%s is for its owner alone", path)
}

func checkDatabase(_ context.Context, s *Subject) []Finding {
	switch {
	case s.Gone != nil:
		return one(problem(s.Hint(s.Gone), "%v", s.Gone))
	case s.Database == "" && s.Facts == nil:
		return append(one(skipped("the database is PostgreSQL, and was not reached")), s.judgeMovedFile()...)
	case s.Database == "":
		return append(one(fine("the database is PostgreSQL, and can be reached")), s.judgeMovedFile()...)
	}
	if s.Facts != nil && s.Facts.Lost {
		return one(problem(s.Hint(record.ErrLost), "%v", record.ErrLost))
	}
	if _, err := os.Stat(s.Database); errors.Is(err, fs.ErrNotExist) {
		return one(warning("run `pushbox serve` once to create it", "there is no %s yet", s.Database))
	}
	f := checkFile(s.Database, s.Config.DataDir)
	if s.Upgrade != nil {
		free, known, err := durable.FreeSpace(s.Config.DataDir)
		return append([]Finding{f, judgeUpgrade(s, free, known && err == nil)}, s.judgeMovedFile()...)
	}
	if f.Grade == OK && s.Facts != nil {
		f = fine("%s, and can be opened", f.Text)
	}
	if copies, _ := filepath.Glob(s.Database + ".schema*"); len(copies) > 0 {
		return append([]Finding{f, fine("upgrades kept %s, with the data of that time; the server removes each after %d days", strings.Join(copies, ", "), record.CopiesStay/(24*time.Hour))}, s.judgeMovedFile()...)
	}
	return append(one(f), s.judgeMovedFile()...)
}

// judgeMovedFile reports the database file that a move to PostgreSQL has left, if it is still
// there. It is harmless only without the master key, which the servers have.
func (s *Subject) judgeMovedFile() []Finding {
	if s.MovedFile == "" {
		return nil
	}
	cure := "destroy it: shred -u " + s.MovedFile
	if s.Database == "" {
		cure = "when the servers work over PostgreSQL, " + cure
	}
	return one(warning(cure,
		"%s is the database from before the move: with the master key, it still opens every push that has ended since", s.MovedFile))
}

// judgeUpgrade reports the upgrade at the next start of a database of an older schema. Doctor does
// not open that, since it would be upgraded.
func judgeUpgrade(s *Subject, free int64, known bool) Finding {
	u := s.Upgrade
	text := fmt.Sprintf("%s has schema %d: the next start of `pushbox serve`, or the next command that changes something, upgrades it to schema %d. That needs the key, and %s free on the file system; the old database stays in %s.schema%d for %d days",
		s.Database, u.From, u.To, humanize.Size(u.Room), s.Database, u.From, u.Days)
	if known && free < u.Room {
		return problem("make room: without it, the upgrade is refused and the server does not start", "%s. Only %s are free", text, humanize.Size(free))
	}
	return warning("keep a copy of the key, then start `pushbox serve` (docs/upgrading.md)", "%s", text)
}

// checkKey reports whether the next start would find the key of the database, and which
// other users can read it. A key of a systemd credential is a file that only the server's
// own process can see.
func checkKey(_ context.Context, s *Subject) []Finding {
	owned, wrong := judgeKeyOwner(s)
	switch {
	case s.Facts == nil && wrong:
		return one(owned)
	case s.Upgrade != nil:
		return one(skipped("the database is not opened before it is upgraded"))
	case s.Facts == nil:
		return one(skipped("the database cannot be opened to compare the key with it"))
	case s.Facts.KeyFault != "" && s.Running:
		cure := "put your copy of the key back before you restart the server"
		if wrong {
			cure = owned.Cure
		}
		return one(problem(cure, "the running server has the key, but the next start would fail: %s", s.Facts.KeyFault))
	case s.Facts.KeyFault != "":
		return one(problem("put your copy of the key back", "%s", s.Facts.KeyFault))
	}
	if info, err := os.Stat(s.Facts.Key); err == nil && perm(info)&(readable|writable) != 0 {
		return one(problem("chmod 600 "+s.Facts.Key, "it fits the database, but other users can open %s (mode %04o)", s.Facts.Key, perm(info)))
	}
	if wrong {
		return one(owned)
	}
	if s.Database == "" {
		return one(fine("it fits the database (%s)", s.Facts.Key))
	}
	if beside(s.Facts.Key, s.Database) {
		return one(warning("move it to a directory that copies of the data directory do not have, and name it in master_key_file (docs/install.md, The key apart from the data)",
			"it fits the database, but %s is in the directory of the database: a thief or a copy of that directory has both", s.Facts.Key))
	}
	if old := oldKeys(s.Database); len(old) > 0 {
		return one(warning("move them out of this directory, or remove those that no backup needs (docs/install.md, The key apart from the data)",
			"it fits the database (%s), but keys from rotations are in the directory of the database, and open earlier copies of it: %s", s.Facts.Key, strings.Join(old, ", ")))
	}
	return one(fine("it fits the database (%s)", s.Facts.Key))
}

// judgeKeyOwner reports a key file that the owner of the data directory, as whom a server runs,
// cannot read. A running server has just read the file itself, unless it reports a fault. In a
// directory of another user the file may be the original of a key that systemd or a container
// passes.
func judgeKeyOwner(s *Subject) (f Finding, wrong bool) {
	var key string
	switch {
	case s.Facts != nil:
		key = s.Facts.Key
	case s.Config.MasterKey.IsZero():
		key = s.Config.KeyFile()
	}
	whose, known := owner(key)
	theirs, too := owner(s.Config.DataDir)
	hasRead := s.Running && (s.Facts == nil || s.Facts.KeyFault == "")
	if hasRead || !known || !too || whose == theirs || theirs == 0 {
		return f, false
	}
	cure := fmt.Sprintf("chown %d %s", theirs, key)
	if near, _ := owner(filepath.Dir(key)); near == theirs {
		return problem(cure, "%s belongs to user %d, and the data directory to user %d, which the server runs as and which cannot read the key", key, whose, theirs), true
	}
	return warning("if neither systemd nor a container passes the key to the server: "+cure,
		"%s belongs to user %d, and the data directory to user %d, which the server runs as", key, whose, theirs), true
}

// oldKeys lists the key files beside the database that rotations left there, under the
// usual name of the key. It lists none if it cannot find out.
func oldKeys(database string) (found []string) {
	dir := filepath.Dir(database)
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if name := e.Name(); strings.HasPrefix(name, "master.key.old-") || name == "master.key.next" {
			found = append(found, filepath.Join(dir, name))
		}
	}
	return found
}

// beside reports whether a file is in the directory of another one or below it, after
// links. It reports false if it cannot find out.
func beside(file, other string) bool {
	real, err := filepath.EvalSymlinks(file)
	dir, dirErr := filepath.EvalSymlinks(filepath.Dir(other))
	if err != nil || dirErr != nil {
		return false
	}
	real, err = filepath.Abs(real)
	dir, dirErr = filepath.Abs(dir)
	if err != nil || dirErr != nil {
		return false
	}
	inside, err := filepath.Rel(dir, real)
	return err == nil && filepath.IsLocal(inside)
}

func checkSocket(_ context.Context, s *Subject) []Finding {
	info, err := os.Lstat(s.Socket)
	switch {
	case errors.Is(err, fs.ErrNotExist) && s.Running, err != nil && !errors.Is(err, fs.ErrNotExist):
		return one(problem("restart the server", "%v", err))
	case err != nil:
		return one(skipped("no server is running"))
	case info.Mode().Type() != fs.ModeSocket:
		return one(problem("move it away, then start the server", "%s is not a socket", s.Socket))
	case !s.Running:
		return one(fine("%s is left over from a server that was killed; the next one replaces it", s.Socket))
	}
	return one(checkFile(s.Socket, s.Config.DataDir))
}
