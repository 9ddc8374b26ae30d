package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"os"
	"path/filepath"
	"strings"

	"pushbox/internal/client"
	"pushbox/internal/durable"
	"pushbox/internal/endtoend"
	"pushbox/internal/hint"
	"pushbox/internal/safename"
	"pushbox/internal/secret"
	"pushbox/store"
)

// encryptPush encrypts text and files of a push under a new key.
func encryptPush(in *client.NewPush) (key endtoend.Key, err error) {
	if in.Payload.Len() > endtoend.MaxText {
		return key, hint.With(fmt.Errorf("the text is longer than %d bytes, the most that fit when encrypted", endtoend.MaxText), "push it as a file: pushbox push --end-to-end FILE")
	}
	key = endtoend.NewKey()
	content := endtoend.Content{Text: in.Payload}
	for i, f := range in.Files {
		content.Files = append(content.Files, endtoend.File{Name: f.Name, Type: mime.TypeByExtension(filepath.Ext(f.Name))})
		size := f.Size
		if size >= 0 {
			size = endtoend.EncryptedSize(size)
		}
		in.Files[i] = client.Upload{Name: fmt.Sprintf("%d.bin", i+1), Size: size, Content: struct {
			io.Reader
			io.Closer
		}{key.Encrypt(i+1, f.Content), f.Content}}
	}
	in.Payload, err = key.Seal(content)
	if err == nil && in.Payload.Len() > store.MaxText {
		err = hint.With(errors.New("the names of the files are too long"), "rename them, or push fewer at once")
	}
	return key, err
}

// linkWithKey adds a key to a link that a server gave.
func linkWithKey(link secret.Text, key endtoend.Key) string {
	if key.IsZero() {
		return link.Reveal()
	}
	address, _, _ := strings.Cut(link.Reveal(), "#")
	return address + "#" + key.Fragment().Reveal()
}

// readLink reads the argument LINK of get, or standard input if that is "-". The key is
// zero if the link has none.
func (a *app) readLink(ctx context.Context, arg string) (l client.Link, key endtoend.Key, err error) {
	address, fragment, has, err := a.readAddress(ctx, arg)
	if err != nil {
		return l, key, err
	}
	if l, err = parseLink(address); err != nil || !has {
		return l, key, err
	}
	if key, err = endtoend.ParseFragment(fragment); err != nil {
		err = hint.With(err, "copy the whole link, in quotes, or ask the sender for it; nothing was retrieved yet")
	}
	return l, key, err
}

// readAddress splits an argument, or the link on standard input if that is "-", at "#".
// has reports whether there is a fragment.
func (a *app) readAddress(ctx context.Context, arg string) (address, fragment string, has bool, err error) {
	if arg == "-" {
		var text secret.Text
		if a.console.terminal {
			text, err = a.console.hidden(ctx, "Link: ")
		} else if text, err = readLine(a.console.in); err != nil {
			err = hint.With(fmt.Errorf("the link on standard input: %w", err), "pass the link alone, in one line")
		}
		if err != nil {
			return "", "", false, err
		}
		arg = text.Reveal()
	}
	address, fragment, has = strings.Cut(arg, "#")
	return address, fragment, has, nil
}

// decryptPush decrypts a push of a server. Without a key it changes nothing.
func decryptPush(p *client.Push, key endtoend.Key) error {
	if key.IsZero() {
		return nil
	}
	content, err := key.Open(p.Payload)
	if err == nil && len(content.Files) != len(p.Files) {
		err = endtoend.ErrOpen
	}
	if err != nil {
		return err
	}
	p.Payload = content.Text
	for i := range p.Files {
		p.Files[i].Name = content.Files[i].Name
	}
	return nil
}

// A decryptedFile decrypts what is downloaded into it.
type decryptedFile struct {
	*os.File
	decrypter *endtoend.Decrypter
}

// Write takes the next part of the encrypted file.
func (d decryptedFile) Write(p []byte) (int, error) { return d.decrypter.Write(p) }

// Truncate drops everything: a download begins again with the first byte, or not at all.
func (d decryptedFile) Truncate(int64) error {
	d.decrypter.Reset()
	return d.File.Truncate(0)
}

const (
	maxSavedName = 180 // bytes; a number or the mark of a part may follow
	maxSameName  = 100 // files of one name in a directory
)

// A saver puts files of a push into a directory.
type saver struct {
	app    *app
	client *client.Client
	dir    string
	force  bool         // replace files that were there before
	key    endtoend.Key // decrypts the files; zero: they are not encrypted

	saved map[string]bool // paths of this push's files
}

// checkTarget makes sure that files can be created in a directory. After a retrieval it
// may be too late to find out.
func checkTarget(dir string) error {
	f, err := os.CreateTemp(dir, ".pushbox-*")
	if err != nil {
		return hint.With(fmt.Errorf("files cannot be written to the directory: %w", err), "make it, or name another with -o; nothing was retrieved yet")
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// save fetches the file with that number, from 1, and gives it a name. If it fails, it keeps
// the part that came, unless that is decrypted.
func (s *saver) save(ctx context.Context, f client.File, number int, next string) error {
	name := safename.Saved(f.Name, maxSavedName)
	temp, err := os.CreateTemp(s.dir, strings.ReplaceAll(name, "*", "_")+".*.part") // 0600
	if err != nil {
		return hint.With(err, "%s", next)
	}
	bar := s.app.progress(name)
	if s.key.IsZero() {
		err = s.client.Download(ctx, f, temp, bar.set)
	} else {
		into := decryptedFile{temp, s.key.Decrypt(number, temp)}
		if err = s.client.Download(ctx, f, into, bar.set); err == nil {
			err = into.decrypter.Close()
		}
	}
	bar.end()
	if err == nil {
		err = temp.Sync()
	}
	if err = errors.Join(err, temp.Close()); err != nil {
		return s.partialError(temp.Name(), name, err, next)
	}
	path, err := s.place(temp.Name(), name)
	if err != nil {
		return hint.With(fmt.Errorf("the file is complete, but keeps the name %s: %w", temp.Name(), err), "rename it")
	}
	s.app.say("saved " + path)
	return durable.SyncDir(s.dir)
}

// partialError returns the error of a download with how much of the file was fetched and where
// that part is. It removes an empty part.
func (s *saver) partialError(path, name string, err error, next string) error {
	cut, have := (*client.CutError)(nil), "the bytes"
	isCut := errors.As(err, &cut)
	if errors.Is(err, context.Canceled) {
		err = errInterrupted
	}
	switch {
	case !s.key.IsZero():
		return hint.With(errors.Join(fmt.Errorf("fetch %s: %w; the partial file was removed", name, err), os.Remove(path)), "%s", next)
	case !isCut: // they may not be on the disk
	case cut.Done == 0:
		return hint.With(errors.Join(fmt.Errorf("fetch %s: %w", name, err), os.Remove(path)), "%s", next)
	case cut.Total < 0:
		have = fmt.Sprintf("the first %d bytes", cut.Done)
	default:
		have = fmt.Sprintf("the first %d of %d bytes", cut.Done, cut.Total)
	}
	return hint.With(fmt.Errorf("fetch %s: %w; %s are in %s", name, err, have, path), "%s", next)
}

// place gives a finished file its name, or if that is taken, the name with a number.
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
		err := s.reserveName(path)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err == nil {
			err = os.Rename(temp, path)
		}
		s.saved[path] = err == nil
		return path, err
	}
	return "", fs.ErrExist
}

// reserveName prepares a path as the target of a rename. If nothing is there, it makes an
// empty file, so that the rename cannot replace a file of another program. The error is
// fs.ErrExist if the name is taken.
func (s *saver) reserveName(path string) error {
	if info, err := os.Lstat(path); err == nil && s.force && !s.saved[path] && !info.IsDir() {
		return nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}
