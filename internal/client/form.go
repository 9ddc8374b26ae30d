package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/textproto"
	"strings"
	"sync"
	"time"
)

// A form is the body of a request that uploads files: multipart/form-data, first the
// fields, then each file. It streams: it holds no more of a file than one Read asks for.
type form struct {
	mediaType string
	total     int64 // bytes; -1: not known beforehand
	parts     io.Reader
	files     []Upload
	watch     *watch
	stall     time.Duration
	progress  Progress

	mu     sync.Mutex // the transport may keep reading for a moment after it has answered
	done   int64
	closed bool
}

func newForm(in NewPush, w *watch, stall time.Duration, p Progress) (*form, error) {
	f := &form{files: in.Files, watch: w, stall: stall, progress: p}
	var text bytes.Buffer
	m := multipart.NewWriter(&text)
	f.mediaType = m.FormDataContentType()
	for _, field := range in.fields() {
		if err := m.WriteField("push["+field.name+"]", fmt.Sprint(field.value)); err != nil {
			return nil, err
		}
	}
	var parts []io.Reader
	for _, file := range in.Files {
		if _, err := m.CreatePart(fileHeader(file.Name)); err != nil {
			return nil, err
		}
		parts = append(parts, f.part(text.String()), f.file(file))
		text.Reset()
	}
	if err := m.Close(); err != nil {
		return nil, err
	}
	f.parts = io.MultiReader(append(parts, f.part(text.String()))...)
	return f, nil
}

// part is a piece of the form that is not a file.
func (f *form) part(text string) io.Reader {
	f.add(int64(len(text)))
	return strings.NewReader(text)
}

func (f *form) file(file Upload) io.Reader {
	f.add(file.Size)
	if file.Size < 0 {
		return file.Content
	}
	return &exact{file.Content, file.Size}
}

func (f *form) add(size int64) {
	if size < 0 || f.total < 0 {
		f.total = -1
		return
	}
	f.total += size
}

func fileHeader(name string) textproto.MIMEHeader {
	quoted := strings.NewReplacer(`"`, "%22", "\r", "%0D", "\n", "%0A").Replace(name) // as browsers do
	return textproto.MIMEHeader{
		"Content-Disposition": {`form-data; name="push[files][]"; filename="` + quoted + `"`},
		"Content-Type":        {"application/octet-stream"},
	}
}

var errClosed = errors.New("the upload has ended")

// Read reads the next part. Waiting for the file itself does not count as a stall.
func (f *form) Read(p []byte) (int, error) {
	f.watch.pause()
	n, err := f.parts.Read(p)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return 0, errClosed
	}
	f.done += int64(n)
	if errors.Is(err, io.EOF) {
		f.watch.allow(answerTimeout)
	} else {
		f.watch.allow(f.stall)
	}
	if f.progress != nil && n > 0 {
		f.progress(f.done, f.total)
	}
	return n, err
}

// Close closes the files. Progress is not called afterwards.
func (f *form) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil
	}
	f.closed = true
	return closeAll(f.files)
}

// An exact reader fails unless a file has exactly as many bytes as were announced.
type exact struct {
	r    io.Reader
	left int64
}

func (e *exact) Read(p []byte) (int, error) {
	if e.left == 0 {
		if n, _ := io.ReadFull(e.r, make([]byte, 1)); n > 0 {
			return 0, ErrChanged
		}
		return 0, io.EOF
	}
	n, err := e.r.Read(p[:min(int64(len(p)), e.left)])
	e.left -= int64(n)
	if errors.Is(err, io.EOF) && e.left > 0 {
		return n, ErrChanged
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

// A watch ends a stalled transfer: it cancels the transfer's context with ErrStalled.
type watch struct {
	timer  *time.Timer
	limit  time.Duration
	cancel context.CancelCauseFunc
}

// newWatch returns a watch, and the context that it may end. The watch runs until stop,
// which ends the context, too. The caller must call stop.
func newWatch(ctx context.Context, limit time.Duration) (context.Context, *watch) {
	ctx, cancel := context.WithCancelCause(ctx)
	return ctx, &watch{time.AfterFunc(limit, func() { cancel(ErrStalled) }), limit, cancel}
}

func (w *watch) moved() { w.allow(w.limit) }

func (w *watch) allow(limit time.Duration) { w.timer.Reset(limit) }

func (w *watch) pause() { w.timer.Stop() }

func (w *watch) stop() {
	w.timer.Stop()
	w.cancel(nil)
}

type watched struct {
	r io.Reader
	w *watch
}

func (r watched) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	if n > 0 {
		r.w.moved()
	}
	return n, err
}
