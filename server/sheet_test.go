package server

import (
	"bytes"
	"errors"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

func TestAPageIsSentAsItWasWritten(t *testing.T) {
	t.Parallel()
	b := newBodies(64 * smallBody)
	for _, size := range []int{0, 1, sheetChunk - 1, sheetChunk, sheetChunk + 1, smallBody, smallBody + 1, 10*sheetChunk + 7} {
		for _, piece := range []int{1, 1000, sheetChunk, sheetChunk + 1} {
			text := []byte(strings.Repeat("0123456", size/7+1)[:size])
			p, w := newSheet(b.mustEnter(t, 0), false), httptest.NewRecorder()
			for part := range slices.Chunk(text, piece) {
				if n, err := p.Write(part); n != len(part) || err != nil {
					t.Fatal(n, err)
				}
			}
			p.finish()
			if n, err := p.send(w); n != int64(size) || err != nil || !bytes.Equal(w.Body.Bytes(), text) {
				t.Errorf("%d bytes by %d: %d, %v", size, piece, n, err)
			}
			if b.held() != 0 {
				t.Errorf("%d bytes by %d: %d stay held", size, piece, b.held())
			}
		}
	}
}

func TestAPageCountsBeyondALittle(t *testing.T) {
	t.Parallel()
	for size, want := range map[int]int64{1: 0, smallBody: 0, smallBody + 1: smallBody + 1, 5 * smallBody: 5 * smallBody} {
		b := newBodies(64 * smallBody)
		memory := b.mustEnter(t, 3*smallBody) // of a body that the page is made of
		p := newSheet(memory, false)
		if _, err := p.Write(make([]byte, size)); err != nil {
			t.Fatal(err)
		}
		during := int64(3 * smallBody)
		if want > 0 {
			during += sheetGrows * want
		}
		if b.held() != during {
			t.Errorf("%d bytes: %d are held while it is rendered, not %d", size, b.held(), during)
		}
		p.finish()
		if b.held() != min(want, during) {
			t.Errorf("%d bytes: %d are held until it was sent, not %d", size, b.held(), want)
		}
		p.drop()
		if left := counted(int64(max(0, size-sheetChunk))); b.held() != left {
			t.Errorf("%d bytes: %d are held when a chunk was sent, not %d", size, b.held(), left)
		}
		p.free()
		memory.done()
		if b.held() != 0 {
			t.Errorf("%d bytes: %d stay held", size, b.held())
		}
	}
}

func TestAPageWaitsForMemory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBodies(4 * smallBody)
		other := b.mustEnter(t, 2*smallBody)
		write := func(paid bool, size int) error {
			p := newSheet(b.mustEnter(t, 0), paid)
			defer p.memory.done()
			_, err := p.Write(make([]byte, size))
			p.free()
			return err
		}
		if err := errors.Join(write(false, smallBody), write(true, 9*smallBody)); err != nil {
			t.Errorf("what is small, or was paid, waits for nobody: %v", err)
		}
		crowded(t, func() error { return write(false, smallBody+1) })
		other.done()
		if err := write(false, 9*smallBody); err != nil {
			t.Errorf("one page alone must get on: %v", err)
		}
	})
}
