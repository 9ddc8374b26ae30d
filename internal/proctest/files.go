package proctest

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"sync"
	"testing"
	"time"
)

// A FileClient sends files to a server and downloads them.
type FileClient struct {
	Caller
	Token string
}

// NewFileClient returns a client of the server at url with an API token.
func NewFileClient(t testing.TB, url, token string) *FileClient {
	t.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: 128}
	t.Cleanup(transport.CloseIdleConnections)
	return &FileClient{Caller: Caller{URL: url, HTTP: &http.Client{Transport: transport}}, Token: token}
}

// Content returns size bytes, the same for the same seed.
func Content(seed uint64, size int64) io.Reader {
	return io.LimitReader(rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)}), size)
}

// Digest reads r to its end and returns the digest and the number of its bytes.
func Digest(r io.Reader) (sum [sha256.Size]byte, n int64, err error) {
	h := sha256.New()
	n, err = io.Copy(h, r)
	return [sha256.Size]byte(h.Sum(nil)), n, err
}

// A Form is a body that is written while it is sent: the fields of a push, and files.
type Form func(w *io.PipeWriter, fields map[string]string, files []io.Reader) (contentType string, write func() error)

// Multipart sends files as forms do.
func Multipart(w *io.PipeWriter, fields map[string]string, files []io.Reader) (string, func() error) {
	m := multipart.NewWriter(w)
	return m.FormDataContentType(), func() error {
		for name, value := range fields {
			if err := m.WriteField("push["+name+"]", value); err != nil {
				return err
			}
		}
		for i, f := range files {
			part, err := m.CreateFormFile("push[files][]", nameOfFile(i))
			if err != nil {
				return err
			}
			if _, err := io.Copy(part, f); err != nil {
				return err
			}
		}
		return m.Close()
	}
}

// nameOfFile is the name of the n-th file.
func nameOfFile(i int) string { return fmt.Sprintf("file %d.bin", i) }

// Base64 sends files as JSON does.
func Base64(w *io.PipeWriter, fields map[string]string, files []io.Reader) (string, func() error) {
	return "application/json", func() error {
		_, err := io.WriteString(w, `{"push":{`)
		for name, value := range fields {
			text, textErr := json.Marshal(value)
			_, sayErr := fmt.Fprintf(w, "%q:%s,", name, text)
			if err = errors.Join(err, textErr, sayErr); err != nil {
				return err
			}
		}
		if _, err = io.WriteString(w, `"files":[`); err != nil {
			return err
		}
		for i, f := range files {
			if err := writeBase64(w, i, f); err != nil {
				return err
			}
		}
		_, err = io.WriteString(w, `]}}`)
		return err
	}
}

func writeBase64(w io.Writer, i int, f io.Reader) error {
	comma := ","
	if i == 0 {
		comma = ""
	}
	_, err := fmt.Fprintf(w, `%s{"filename":%q,"content":"`, comma, nameOfFile(i))
	enc := base64.NewEncoder(base64.StdEncoding, w)
	_, copyErr := io.Copy(enc, f)
	if err = errors.Join(err, copyErr, enc.Close()); err != nil {
		return err
	}
	_, err = io.WriteString(w, `"}`)
	return err
}

// SendForm calls send with a body that is written while send reads it.
func SendForm(as Form, fields map[string]string, files []io.Reader, send func(contentType string, body io.Reader) error) error {
	r, w := io.Pipe()
	contentType, write := as(w, fields, files)
	var writer sync.WaitGroup
	writer.Go(func() { w.CloseWithError(write()) })
	defer writer.Wait()
	defer r.Close()
	return send(contentType, r)
}

// Push creates a push with files and returns its url_token.
func (c *FileClient) Push(ctx context.Context, as Form, files ...io.Reader) (token string, err error) {
	var pushed struct {
		URLToken string `json:"url_token"`
	}
	err = SendForm(as, nil, files, func(contentType string, body io.Reader) error {
		return c.Call(ctx, http.MethodPost, PushesPath, contentType, body, http.StatusCreated, &pushed)
	})
	return pushed.URLToken, err
}

// Show retrieves a push and returns the URLs of its files.
func (c *FileClient) Show(ctx context.Context, token string) (urls []string, err error) {
	var shown struct {
		Files []struct{ URL string }
	}
	err = c.Call(ctx, http.MethodGet, PushesPath+"/"+token, "", nil, http.StatusOK, &shown)
	for _, f := range shown.Files {
		urls = append(urls, f.URL)
	}
	return urls, err
}

// fetch downloads a file and returns its digest and its length.
func (c *FileClient) fetch(ctx context.Context, url string) (sum [sha256.Size]byte, n int64, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return sum, 0, err
	}
	res, err := c.HTTP.Do(req)
	if err != nil {
		return sum, 0, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return sum, 0, fmt.Errorf("status %d", res.StatusCode)
	}
	return Digest(res.Body)
}

// Call sends a request and decodes the JSON of the answer, which must have the status.
func (c *FileClient) Call(ctx context.Context, method, path, contentType string, body io.Reader, status int, out any) error {
	return c.post(ctx, method, path, c.Token, contentType, body, status, out)
}

// RoundTrip sends a file, downloads it, and compares.
func (c *FileClient) RoundTrip(ctx context.Context, as Form, seed uint64, size int64) error {
	token, err := c.Push(ctx, as, Content(seed, size))
	if err != nil {
		return fmt.Errorf("push: %w", err)
	}
	return c.Compare(ctx, StoredFile{Token: token, Seed: seed, Size: size})
}

// Within is how long a test may take to transfer that many bytes.
func Within(bytes int64) time.Duration {
	return Patience + time.Duration(bytes/(4<<20))*time.Second
}

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
