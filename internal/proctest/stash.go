package proctest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
)

// A Stash holds pushes of one file that were acknowledged.
type Stash struct {
	mu   sync.Mutex
	All  []StoredFile
	Next uint64
}

// A StoredFile is a push of one file, with what it takes to compare the file.
type StoredFile struct {
	Token string
	Seed  uint64
	Size  int64
}

// Add keeps a push.
func (s *Stash) Add(x StoredFile) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.All = append(s.All, x)
}

// Seed is the seed of the next file to send.
func (s *Stash) Seed() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Next++
	return s.Next
}

// Sent is how many files had a seed so far.
func (s *Stash) Sent() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Next
}

// Take removes a random push and returns it, so that no other client uses up its views.
func (s *Stash) Take() (x StoredFile, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.All) == 0 {
		return StoredFile{}, false
	}
	i := rand.IntN(len(s.All))
	x = s.All[i]
	s.All[i] = s.All[len(s.All)-1]
	s.All = s.All[:len(s.All)-1]
	return x, true
}

// Compare fetches a file and compares it with what was sent.
func (c *FileClient) Compare(ctx context.Context, x StoredFile) error {
	urls, err := c.Show(ctx, x.Token)
	if err != nil {
		return err
	}
	if len(urls) != 1 {
		return fmt.Errorf("%d files", len(urls))
	}
	got, n, err := c.fetch(ctx, urls[0])
	if err != nil {
		return err
	}
	if want, _, _ := Digest(Content(x.Seed, x.Size)); got != want || n != x.Size {
		return fmt.Errorf("%d bytes of %d came, or not the bytes that were sent", n, x.Size)
	}
	return nil
}
