package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"pushbox/internal/client"
	"pushbox/internal/durable"
)

const (
	maxSavedName = 180 // bytes; a number or the mark of a part may follow
	maxSameName  = 100 // files of one name in a directory
)

// A saver puts files of a push into a directory.
type saver struct {
	app    *app
	client *client.Client
	dir    string
	force  bool // replace files that were there before

	saved map[string]bool // paths that are of this push
}

// checkTarget makes sure that files can be put into a directory: once a push is
// retrieved it may be too late for that.
func checkTarget(dir string) error {
	f, err := os.CreateTemp(dir, ".pushbox-*")
	if err != nil {
		return withHint(fmt.Errorf("no file can be put into the directory: %w", err), "make it, or name another with -o; nothing was retrieved yet")
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// save fetches a file and gives it a name. Where it fails, what has come of it
// stays.
func (s *saver) save(ctx context.Context, f client.File, hint string) error {
	name := safeName(f.Name)
	temp, err := os.CreateTemp(s.dir, strings.ReplaceAll(name, "*", "_")+".*.part") // 0600
	if err != nil {
		return withHint(err, "%s", hint)
	}
	bar := s.app.progress(name)
	err = s.client.Download(ctx, f, temp, bar.set)
	bar.end()
	if err == nil {
		err = temp.Sync()
	}
	if err = errors.Join(err, temp.Close()); err != nil {
		return s.keep(temp.Name(), name, err, hint)
	}
	path, err := s.place(temp.Name(), name)
	if err != nil {
		return withHint(fmt.Errorf("the file is whole, but stays %s: %w", temp.Name(), err), "rename it")
	}
	s.app.say("saved " + path)
	return durable.SyncDir(s.dir)
}

// keep tells what there is of a file that could not be fetched whole.
func (s *saver) keep(path, name string, err error, hint string) error {
	cut, have := (*client.CutError)(nil), "the bytes"
	isCut := errors.As(err, &cut)
	if errors.Is(err, context.Canceled) {
		err = errInterrupted
	}
	switch {
	case !isCut: // they may not be on the disk
	case cut.Done == 0:
		return withHint(errors.Join(fmt.Errorf("fetch %s: %w", name, err), os.Remove(path)), "%s", hint)
	case cut.Total < 0:
		have = fmt.Sprintf("the first %d bytes", cut.Done)
	default:
		have = fmt.Sprintf("the first %d of %d bytes", cut.Done, cut.Total)
	}
	return withHint(fmt.Errorf("fetch %s: %w; %s are in %s", name, err, have, path), "%s", hint)
}

// place gives a finished file its name, or if that is taken one with a number.
func (s *saver) place(temp, name string) (string, error) {
	ext := filepath.Ext(name)
	stem := strings.TrimSuffix(name, ext)
	if stem == "" { // all of it looks like an extension
		stem, ext = name, ""
	}
	for n := range maxSameName {
		path := filepath.Join(s.dir, name)
		if n > 0 {
			path = filepath.Join(s.dir, fmt.Sprintf("%s (%d)%s", stem, n, ext))
		}
		if taken, err := s.take(path); err != nil {
			return "", err
		} else if taken {
			continue
		}
		if err := os.Rename(temp, path); err != nil {
			return "", err
		}
		s.saved[path] = true
		return path, nil
	}
	return "", fs.ErrExist
}

// take makes a path ready to be renamed to: one where there is nothing gets an
// empty file, so that nobody else's is replaced.
func (s *saver) take(path string) (taken bool, err error) {
	if info, err := os.Lstat(path); err == nil && s.force && !s.saved[path] && !info.IsDir() {
		return false, nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return false, f.Close()
}

// safeName makes of a name from a server one that is a file's in a directory and
// nothing else: no path, nothing that a terminal obeys, and nothing hidden, which
// a shell or another program may read by itself.
func safeName(name string) string {
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	name = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) && !isJoiner(r) {
			return -1
		}
		return r
	}, name)
	name = strings.TrimSpace(name)
	if len(name) > maxSavedName {
		ext := filepath.Ext(name)
		if len(ext) > maxSavedName/2 {
			ext = ""
		}
		name = strings.ToValidUTF8(name[:maxSavedName-len(ext)], "") + ext
	}
	if strings.HasPrefix(name, ".") {
		name = "_" + name
	}
	if !filepath.IsLocal(name) || strings.Trim(name, "_.") == "" {
		return "file"
	}
	return name
}
