package main

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"
)

// A file is an entry of an archive or an image.
type file struct {
	name    string // with slashes
	content []byte
	mode    fs.FileMode // fs.ModeDir for a directory
	owner   int         // uid and gid
}

// archives makes a .tar.gz for each target, with the program and its documents.
func (j job) archives(_ context.Context, builds []build) error {
	for _, b := range builds {
		program, err := os.ReadFile(b.path)
		if err != nil {
			return err
		}
		stem := "pushbox-" + j.version + "-" + b.label()
		files := []file{{name: path.Join(stem, b.program()), content: program, mode: programMode}}
		for _, f := range b.files {
			if forPackages(f.name) {
				continue
			}
			f.name = path.Join(stem, f.name)
			files = append(files, f)
		}
		err = writeFile(filepath.Join(j.dist, stem+".tar.gz"), func(w io.Writer) error {
			z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
			if err != nil {
				return err
			}
			if err := writeTar(z, files, j.time); err != nil {
				return err
			}
			return z.Close()
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// writeTar writes an archive whose bytes do not depend on when, where and by which user
// it is made.
func writeTar(w io.Writer, files []file, made time.Time) error {
	t := tar.NewWriter(w)
	files = slices.SortedFunc(slices.Values(files), func(a, b file) int { return cmp.Compare(a.name, b.name) })
	for _, f := range files {
		h := &tar.Header{
			Typeflag: tar.TypeReg, Name: f.name, Size: int64(len(f.content)), Mode: int64(f.mode.Perm()),
			Uid: f.owner, Gid: f.owner, ModTime: made, Format: tar.FormatUSTAR,
		}
		if f.mode.IsDir() {
			h.Typeflag, h.Name = tar.TypeDir, f.name+"/"
		}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		if _, err := t.Write(f.content); err != nil {
			return err
		}
	}
	return t.Close()
}

// writeFile makes a new file with the output of write.
func writeFile(name string, write func(io.Writer) error) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := write(f); err != nil {
		return err
	}
	return f.Close()
}

// zipped compresses content with gzip, without a name and a time in the header.
func zipped(content []byte) ([]byte, error) {
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(content); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
