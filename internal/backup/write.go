// Package backup manages backup files: it names them, writes them durably, encrypts them to
// age recipients, reads them again, and removes old ones. It does not look into the copies
// of the database.
package backup

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"filippo.io/age"

	"pushbox/internal/durable"
)

// A Writer writes backups.
type Writer struct {
	Recipients Recipients                     // none: backups are not encrypted
	Replace    bool                           // a file of the same name
	CheckSpace func(dir string) error         // returns an error when space is so short that the writer must stop; nil: none is checked
	Progress   func(done, total int64)        // in bytes; may be nil
	open       func(string) (*os.File, error) // for reading back; nil: os.Open
}

const (
	copyStep      = 1 << 20 // bytes at a time
	stepsPerCheck = 8       // of the space
)

// Stream writes a copy of size bytes to w, encrypted if there are recipients.
func (o Writer) Stream(ctx context.Context, w io.Writer, from io.Reader, size int64) error {
	return o.stream(ctx, w, from, size, "")
}

func (o Writer) stream(ctx context.Context, w io.Writer, from io.Reader, size int64, dir string) (err error) {
	to := io.WriteCloser(nopCloser{w})
	if len(o.Recipients) > 0 {
		if to, err = age.Encrypt(w, o.Recipients...); err != nil {
			return err
		}
	}
	buf := make([]byte, copyStep)
	for done := int64(0); ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		if o.CheckSpace != nil && dir != "" && done/copyStep%stepsPerCheck == 0 {
			if err := o.CheckSpace(dir); err != nil {
				return err
			}
		}
		n, err := io.ReadFull(from, buf)
		if _, err := to.Write(buf[:n]); err != nil {
			return err
		}
		if done += int64(n); o.Progress != nil {
			o.Progress(done, size)
		}
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			if done != size {
				return errors.Join(fmt.Errorf("the copy has %d bytes instead of %d", done, size), to.Close())
			}
			return to.Close()
		case err != nil:
			return err
		}
	}
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// File writes a copy of size bytes to a file of mode 0600. The file gets its name once it is
// complete, on the disk, and read back. The error is fs.ErrExist if the name is taken, unless
// Replace is set. A later File in the same directory removes what a crash leaves.
func (o Writer) File(ctx context.Context, path string, from io.Reader, size int64) error {
	dir := filepath.Dir(path)
	if err := removeStale(dir, time.Now()); err != nil {
		return err
	}
	temp, err := os.CreateTemp(dir, durable.TempPattern(unfinished))
	if err != nil {
		return err
	}
	sum := sha256.New()
	err = o.stream(ctx, io.MultiWriter(temp, sum), from, size, dir)
	if err == nil {
		err = temp.Sync()
	}
	err = errors.Join(err, temp.Close())
	if err == nil {
		err = o.readBack(temp.Name(), sum)
	}
	if err == nil {
		err = o.publish(temp.Name(), path)
	}
	if err != nil {
		return errors.Join(err, discard(temp.Name(), len(o.Recipients) > 0))
	}
	return nil
}

func (o Writer) readBack(path string, written hash.Hash) error {
	open := o.open
	if open == nil {
		open = os.Open
	}
	f, err := open(path)
	if err != nil {
		return err
	}
	sum := sha256.New()
	_, err = io.Copy(sum, f)
	if err = errors.Join(err, f.Close()); err == nil && !bytes.Equal(sum.Sum(nil), written.Sum(nil)) {
		err = errors.New("the file that was read back differs from what was written: the disk may be failing")
	}
	return err
}

func (o Writer) publish(temp, path string) error {
	if o.Replace {
		_, err := durable.Replace(temp, path)
		return err
	}
	return durable.PublishNew(temp, path)
}

// discard removes a file that may be gone already. It overwrites one that is not sealed
// by recipients: that is a database.
func discard(path string, sealed bool) error {
	if !sealed {
		return durable.Scrub(path)
	}
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

const (
	unfinished = "pushbox-backup" // begins the name of a file that is being written
	staleAfter = time.Hour        // after this time without a write, its writer is gone
)

// removeStale removes the files that killed writers left in a directory.
func removeStale(dir string, now time.Time) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrPermission) { // the directory may be writable but not listable
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), unfinished+".new-") {
			continue
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && now.Sub(info.ModTime()) > staleAfter {
			if err := durable.Scrub(filepath.Join(dir, e.Name())); err != nil { // it may not be sealed
				return err
			}
		}
	}
	return nil
}
