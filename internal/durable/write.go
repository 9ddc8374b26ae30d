package durable

import (
	"errors"
	"os"
	"path/filepath"
)

// WriteFile puts content under a name, mode 0600, in one step that lasts: who
// reads it, after a power cut too, finds the old content or the new one. After an
// error it is the old one, unless the name was given already and could not be
// made to last. What a crash leaves, RemoveLeftovers removes.
func WriteFile(path string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), TempPattern(path)) // mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	replaced, err := Replace(f.Name(), path)
	if !replaced {
		err = errors.Join(err, remove(f.Name()))
	}
	return err
}
