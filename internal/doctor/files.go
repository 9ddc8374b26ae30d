package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"

	"pushbox/config"
)

// Bits of a mode, for group and others together.
const (
	readable fs.FileMode = 0o044
	writable fs.FileMode = 0o022
)

// checkConfig tells what is wrong with the configuration, and who else could change
// it or read a key in it.
func checkConfig(_ context.Context, s *Subject) (all []Finding) {
	if wrong := (*config.ProblemsError)(nil); errors.As(s.ConfigIs, &wrong) {
		for _, p := range wrong.Problems {
			all = append(all, problem("correct this setting; config.example.yaml names all of them", "%s", p))
		}
		return all
	}
	if s.ConfigIs != nil {
		return one(problem("make the configuration readable", "it cannot be read: %v", s.ConfigIs))
	}
	if s.File == "" {
		return one(fine("it is valid; there is no file of it"))
	}
	info, err := os.Stat(s.File)
	switch mode := perm(info); {
	case err != nil:
		return one(problem("run doctor as the user that the server runs as", "%v", err))
	case mode&writable != 0:
		return one(problem("chmod go-w "+s.File, "it is valid, but other users can write to %s (mode %04o), and so take over the server", s.File, mode))
	case mode&readable != 0 && holdsKey(s.File):
		return one(problem("chmod 600 "+s.File, "it is valid, but %s has the master key, and other users can read it (mode %04o)", s.File, mode))
	}
	return one(fine("%s is valid", s.File))
}

// holdsKey reports whether a file has the setting master_key, given as anything.
func holdsKey(file string) bool {
	text, err := os.ReadFile(file)
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "master_key:"); ok && strings.Trim(value, " \"'\n") != "" {
			return true
		}
	}
	return false
}

// perm is the mode of a file for users; none on Windows, where modes tell nothing.
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
		return one(problem("start `pushbox serve` once, which makes it, or name the right one with --data-dir", "there is no %s", dir))
	case err != nil:
		return one(problem("run doctor as the user that the server runs as", "%v", err))
	case !info.IsDir():
		return one(problem("choose another with --data-dir", "%s is not a directory", dir))
	}
	switch mode := perm(info); {
	case mode&writable != 0:
		return one(problem("chmod 700 "+dir, "other users can write to %s (mode %04o), and so replace the database; the server does not start", dir, mode))
	case mode&readable != 0:
		return one(warning("chmod 700 "+dir, "other users can look into %s (mode %04o)", dir, mode))
	}
	return one(fine("%s is for its owner alone", dir))
}

// checkFile tells who else can open a file, and whether it is of the data
// directory's owner.
func checkFile(path, dir string) Finding {
	info, err := os.Stat(path)
	if err != nil {
		return problem("run doctor as the user that the server runs as", "%v", err)
	}
	if mode := perm(info); mode&(readable|writable) != 0 {
		return problem("chmod 600 "+path, "other users can open %s (mode %04o)", path, mode)
	}
	whose, known := owner(path)
	theirs, too := owner(dir)
	if known && too && whose != theirs {
		return problem(fmt.Sprintf("chown %d %s", theirs, path), "%s belongs to user %d, and the data directory to user %d, as whom the server runs", path, whose, theirs)
	}
	return fine("%s is for its owner alone", path)
}

func checkDatabase(_ context.Context, s *Subject) []Finding {
	if _, err := os.Stat(s.Database); errors.Is(err, fs.ErrNotExist) {
		return one(warning("start `pushbox serve` once, which makes it", "there is no %s yet", s.Database))
	}
	f := checkFile(s.Database, s.Config.DataDir)
	if f.Grade != OK || s.Facts == nil {
		return one(f)
	}
	return one(fine("%s, and can be opened", f.Text))
}

// checkKey tells whether the next start would find the key of the database, and who
// else can read it. A key of a systemd credential is a file that only the server's
// own process can see.
func checkKey(_ context.Context, s *Subject) []Finding {
	switch {
	case s.Facts == nil:
		return one(skipped("the database cannot be opened to compare it with"))
	case s.Facts.KeyFault != "" && s.Running:
		return one(problem("put your copy of the key back before the server is started again", "the server has the key in its memory, but the next start would fail: %s", s.Facts.KeyFault))
	case s.Facts.KeyFault != "":
		return one(problem("put your copy of the key back", "%s", s.Facts.KeyFault))
	}
	if info, err := os.Stat(s.Facts.Key); err == nil && perm(info)&(readable|writable) != 0 {
		return one(problem("chmod 600 "+s.Facts.Key, "it is the database's own, but other users can open %s (mode %04o)", s.Facts.Key, perm(info)))
	}
	return one(fine("it is the database's own (%s)", s.Facts.Key))
}

func checkSocket(_ context.Context, s *Subject) []Finding {
	info, err := os.Lstat(s.Socket)
	switch {
	case errors.Is(err, fs.ErrNotExist) && s.Running, err != nil && !errors.Is(err, fs.ErrNotExist):
		return one(problem("restart the server", "%v", err))
	case err != nil:
		return one(skipped("no server is running"))
	case info.Mode().Type() != fs.ModeSocket:
		return one(problem("move it away, then start the server", "%s is no socket", s.Socket))
	case !s.Running:
		return one(fine("%s is left over from a server that was killed; the next one replaces it", s.Socket))
	}
	return one(checkFile(s.Socket, s.Config.DataDir))
}
