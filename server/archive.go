package server

import (
	"archive/zip"
	"errors"
	"io"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	"pushbox/internal/safename"
	"pushbox/server/action"
	"pushbox/server/deadline"
	"pushbox/store"
	"pushbox/store/record"
)

// sendArchive sends the files of a reply as an archive that it makes while it sends, so that it
// holds only a part of one file. The length of the archive is not announced: if it stops in the
// middle, the connection is cut, and the client knows that the end is missing. Errors are those of
// sendFile.
func sendArchive(w http.ResponseWriter, r *action.Request, rep answer) (int64, error) {
	defer rep.Done()
	downloadHeaders(w.Header())
	w.WriteHeader(rep.Status)
	if r.Method == http.MethodHead {
		return 0, nil
	}
	out := countingWriter{to: w}
	a := archive{zip: zip.NewWriter(&out), used: make(map[string]bool), deadlines: &r.Deadlines}
	fault, err := a.addAll(rep)
	if fault == nil && err == nil && a.zip.Close() == nil {
		return out.n, nil
	}
	r.Deadlines.Cut()
	if errors.Is(fault, record.ErrNotFound) || r.Context().Err() != nil {
		fault = nil
	}
	return out.n, fault
}

// An archive is a ZIP archive that is being sent.
type archive struct {
	zip       *zip.Writer
	used      map[string]bool // names in it, in lower case: some file systems ignore case
	deadlines *deadline.Deadlines
}

// addAll adds all files of a reply. It returns errors of the files as fault, and those of
// the connection as err.
func (a *archive) addAll(rep answer) (fault, err error) {
	fault, err = a.add(rep.File)
	for i := 1; i < rep.File.Files && fault == nil && err == nil; i++ {
		d, notBegun := rep.Rest(i)
		if notBegun != nil {
			return notBegun, nil
		}
		fault, err = a.add(d)
		d.Close()
	}
	return fault, err
}

// add adds a file. It is stored as it is: most large files are compressed already.
func (a *archive) add(d *store.Download) (fault, err error) {
	stop := d.AfterEnd(a.deadlines.Cut)
	defer stop()
	to, err := a.zip.CreateHeader(&zip.FileHeader{Name: a.name(d.Name.Reveal()), Method: zip.Store, Modified: time.Now().UTC()})
	if err != nil {
		return nil, err
	}
	from := deadline.NewSlowReader(d, a.deadlines)
	_, err = io.Copy(to, from)
	return from.Err, err
}

// longestName is the length in bytes of the longest name in an archive, unless a number
// makes it longer.
const longestName = 200

// name returns a name for a file that no other file in the archive has, and that is
// harmless where the archive is unpacked.
func (a *archive) name(given string) string {
	name := safename.Saved(given, longestName)
	ending := path.Ext(name)
	stem := strings.TrimSuffix(name, ending)
	for n := 2; a.used[strings.ToLower(name)]; n++ {
		name = stem + " (" + strconv.Itoa(n) + ")" + ending
	}
	a.used[strings.ToLower(name)] = true
	return name
}

// A countingWriter counts the bytes that go through it.
type countingWriter struct {
	to io.Writer
	n  int64
}

func (w *countingWriter) Write(b []byte) (int, error) {
	n, err := w.to.Write(b)
	w.n += int64(n)
	return n, err
}

// sendFile sends the file of a reply. If it stops in the middle, fewer bytes than
// announced have gone out, and net/http closes the connection. It returns an error
// only for a fault of the server: not if the client left or stalled, nor if the push
// ended meanwhile.
func sendFile(w http.ResponseWriter, r *action.Request, rep answer) (n int64, err error) {
	defer rep.Done()
	downloadHeaders(w.Header())
	w.Header()["Accept-Ranges"] = byteRanges
	w.Header()["Content-Length"] = []string{strconv.FormatInt(rep.Part.Length, 10)}
	if r.Method == http.MethodHead {
		w.WriteHeader(rep.Status)
		return 0, nil
	}
	if _, err := rep.File.Seek(rep.Part.From, io.SeekStart); err != nil {
		return 0, err
	}
	stop := rep.File.AfterEnd(r.Deadlines.Cut)
	defer stop()
	w.WriteHeader(rep.Status)
	from := deadline.NewSlowReader(rep.File, &r.Deadlines)
	n, _ = io.CopyN(w, from, rep.Part.Length)
	if errors.Is(from.Err, record.ErrNotFound) || r.Context().Err() != nil {
		return n, nil
	}
	return n, from.Err
}
