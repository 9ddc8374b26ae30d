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
	Recipients Recipients                     // none: it is not encrypted
	Replace    bool                           // a file that is there
	Room       func(dir string) error         // returns an error when the writer must give way; nil: never
	Progress   func(done, total int64)        // is told the bytes read, and how many there are; nil: nobody is
	open       func(string) (*os.File, error) // for reading back; nil: os.Open
}

const (
	copyStep = 1 << 20 // bytes at a time
	looks    = 8       // steps between two looks at how much is free
)

// Stream writes a copy of so many bytes to w, encrypted where there are recipients.
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
		if o.Room != nil && dir != "" && done/copyStep%looks == 0 {
			if err := o.Room(dir); err != nil {
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
			return errors.Join(wantSize(done, size), to.Close())
		case err != nil:
			return err
		}
	}
}

func wantSize(got, want int64) error {
	if got != want {
		return fmt.Errorf("the copy has %d bytes, %d were to be read", got, want)
	}
	return nil
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// File writes a copy of so many bytes to a file of mode 0600, which has the name
// when it is complete, on the disk, and was read back: never less than the whole.
// fs.ErrExist where there is a file of that name, unless it is to be replaced. A
// crash leaves what a later File in the same directory removes.
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
		return errors.Join(err, removed(temp.Name()))
	}
	return nil
}

// readBack sees that what was written can be read.
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
		err = errors.New("what was written is not what is read back: the disk may be failing")
	}
	return err
}

func (o Writer) publish(temp, path string) error {
	if o.Replace {
		_, err := durable.Replace(temp, path)
		return err
	}
	published, err := durable.Publish(temp, path)
	if err == nil && !published {
		err = &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
	}
	return err
}

func removed(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

const (
	unfinished = "pushbox-backup" // what is being written is named after it
	staleAfter = time.Hour        // without a byte written, nobody writes it any more
)

// removeStale removes what writers that were killed left in a directory.
func removeStale(dir string, now time.Time) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrPermission) { // it may be one to write to and not to list
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
			if err := removed(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}
