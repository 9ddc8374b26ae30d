package api_test

import (
	"archive/zip"
	"bytes"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"pushbox/internal/testkit/env"
	"pushbox/server/servertest"
	"pushbox/store"
)

// archiveOf opens a push with files and returns the path of all its files.
func archiveOf(p servertest.Pushed) string {
	return "/files/" + p.Grant()
}

func TestAllFilesComeAsOneArchive(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	names := []string{"report.pdf", "Report.pdf", "report.pdf", "日本.txt", ".profile"}
	files := [][]byte{[]byte("first"), noise(200_000), nil, []byte("four"), []byte("five")}
	p := a.PushNamed("ann@example.com", func(_ *store.NewPush, u *store.Upload) {
		for i, f := range files {
			env.OK(t, u.Add(t.Context(), bytes.NewReader(f)))
			u.Describe(names[i], "")
		}
	})
	got := a.Get(archiveOf(p)).Want(http.StatusOK)
	for name, want := range map[string]string{
		"Content-Type":            "application/octet-stream",
		"Content-Disposition":     `attachment; filename="files.zip"; filename*=UTF-8''files.zip`,
		"Content-Security-Policy": "default-src 'none'; base-uri 'none'; frame-ancestors 'none'; sandbox",
		"X-Content-Type-Options":  "nosniff",
		"Cache-Control":           "no-store",
	} {
		if got.Header.Get(name) != want {
			t.Errorf("%s is %q, not %q", name, got.Header.Get(name), want)
		}
	}
	back, err := zip.NewReader(strings.NewReader(got.Body), int64(len(got.Body)))
	env.OK(t, err)
	want := []string{"report.pdf", "Report (2).pdf", "report (3).pdf", "日本.txt", "_.profile"}
	if len(back.File) != len(want) {
		t.Fatalf("%d files", len(back.File))
	}
	for i, f := range back.File {
		r, err := f.Open()
		env.OK(t, err)
		content, err := io.ReadAll(r)
		if err != nil || f.Name != want[i] || string(content) != string(files[i]) {
			t.Errorf("%q has %d bytes, %v; wanted %q", f.Name, len(content), err, want[i])
		}
	}
}

func TestAnArchiveNeedsAGrant(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	path := archiveOf(a.PushFiles("ann@example.com", []byte("x"), []byte("y")))
	if head := a.Do(http.MethodHead, path, "").Want(http.StatusOK); head.Body != "" {
		t.Errorf("HEAD: %q", head.Body)
	}
	a.Get("/files/" + strings.Repeat("a", 52)).Want(http.StatusNotFound)
	a.Store.Clock.Advance(15 * time.Minute)
	a.Get(path).Want(http.StatusNotFound)
}

func TestDeletingCutsAnArchiveThatRuns(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ann := a.AddTokenUser("ann@example.com")
	p := a.PushFiles("ann@example.com", noise(large/2), noise(large/2))
	_, res := a.Begin(archiveOf(p))
	a.Do(http.MethodDelete, pushes+"/"+p.Token.Reveal(), "", ann).Want(http.StatusOK)
	n, err := io.Copy(io.Discard, res.Body)
	wantCut(t, large, n, err)
}

func TestAnArchiveTakesNoMoreMemoryThanAFile(t *testing.T) {
	a := servertest.New(t)
	path := archiveOf(a.PushFiles("ann@example.com", noise(large), noise(large)))
	_, res := a.Begin(path)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	n, err := io.Copy(io.Discard, res.Body)
	runtime.GC()
	runtime.ReadMemStats(&after)
	if err != nil || n < 2*large {
		t.Fatalf("%d bytes, %v", n, err)
	}
	if most := uint64(32 << 20); after.TotalAlloc-before.TotalAlloc > most {
		t.Errorf("%d bytes were allocated", after.TotalAlloc-before.TotalAlloc)
	}
}
