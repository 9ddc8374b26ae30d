package main

import (
	"bytes"
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

// A filer sends files to a server and fetches them.
type filer struct {
	url, token string
	http       *http.Client
}

func newFiler(t testing.TB, url, token string) *filer {
	t.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: 128}
	t.Cleanup(transport.CloseIdleConnections)
	return &filer{url: url, token: token, http: &http.Client{Transport: transport}}
}

// content is a file of that many bytes, which differ from those of other seeds.
func content(seed uint64, size int64) io.Reader {
	return io.LimitReader(rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)}), size)
}

func digest(r io.Reader) (sum [sha256.Size]byte, n int64, err error) {
	h := sha256.New()
	n, err = io.Copy(h, r)
	return [sha256.Size]byte(h.Sum(nil)), n, err
}

// A form is a body that is written while it is sent: the fields of a push, and
// files.
type form func(w *io.PipeWriter, fields map[string]string, files []io.Reader) (contentType string, write func() error)

// asMultipart sends files as forms do.
func asMultipart(w *io.PipeWriter, fields map[string]string, files []io.Reader) (string, func() error) {
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

// nameOfFile is what the file of that number is called.
func nameOfFile(i int) string { return fmt.Sprintf("file %d.bin", i) }

// asBase64 sends files as JSON does.
func asBase64(w *io.PipeWriter, fields map[string]string, files []io.Reader) (string, func() error) {
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

// streamed has send send a form, which is written meanwhile.
func streamed(as form, fields map[string]string, files []io.Reader, send func(contentType string, body io.Reader) error) error {
	r, w := io.Pipe()
	contentType, write := as(w, fields, files)
	var writer sync.WaitGroup
	writer.Go(func() { w.CloseWithError(write()) })
	defer writer.Wait()
	defer r.Close()
	return send(contentType, r)
}

// push sends files and returns the url_token of their push.
func (c *filer) push(ctx context.Context, as form, files ...io.Reader) (token string, err error) {
	var pushed struct {
		URLToken string `json:"url_token"`
	}
	err = streamed(as, nil, files, func(contentType string, body io.Reader) error {
		return c.call(ctx, http.MethodPost, apiPushes, contentType, body, http.StatusCreated, &pushed)
	})
	return pushed.URLToken, err
}

// show retrieves a push and returns where its files are.
func (c *filer) show(ctx context.Context, token string) (urls []string, err error) {
	var shown struct {
		Files []struct{ URL string }
	}
	err = c.call(ctx, http.MethodGet, apiPushes+"/"+token, "", nil, http.StatusOK, &shown)
	for _, f := range shown.Files {
		urls = append(urls, f.URL)
	}
	return urls, err
}

// fetch downloads a file and returns its digest and its length.
func (c *filer) fetch(ctx context.Context, url string) (sum [sha256.Size]byte, n int64, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return sum, 0, err
	}
	res, err := c.http.Do(req)
	if err != nil {
		return sum, 0, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return sum, 0, fmt.Errorf("status %d", res.StatusCode)
	}
	return digest(res.Body)
}

func (c *filer) call(ctx context.Context, method, path, contentType string, body io.Reader, status int, out any) error {
	req, err := http.NewRequestWithContext(ctx, method, c.url+path, body)
	if err != nil {
		return err
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	res, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode != status {
		return fmt.Errorf("status %d: %s", res.StatusCode, bytes.TrimSpace(answer))
	}
	return json.Unmarshal(answer, out)
}

// roundTrip sends a file, fetches it, and compares.
func (c *filer) roundTrip(ctx context.Context, as form, seed uint64, size int64) error {
	token, err := c.push(ctx, as, content(seed, size))
	if err != nil {
		return fmt.Errorf("push: %w", err)
	}
	urls, err := c.show(ctx, token)
	if err != nil || len(urls) != 1 {
		return fmt.Errorf("show: %d files, %w", len(urls), err)
	}
	got, n, err := c.fetch(ctx, urls[0])
	want, _, _ := digest(content(seed, size))
	if err != nil || n != size || got != want {
		return fmt.Errorf("fetch: %d of %d bytes, as they were sent: %t, %w", n, size, got == want, err)
	}
	return nil
}

// expireAll ends every push by hand.
func (c *filer) expireAll(ctx context.Context) error {
	var active []struct {
		Token string `json:"url_token"`
	}
	if err := c.call(ctx, http.MethodGet, apiPushes+"/active", "", nil, http.StatusOK, &active); err != nil {
		return err
	}
	for _, p := range active {
		if err := c.call(ctx, http.MethodDelete, apiPushes+"/"+p.Token, "", nil, http.StatusOK, &p); err != nil {
			return err
		}
	}
	return nil
}

// within is how long a test may take that moves that many bytes.
func within(bytes int64) time.Duration {
	return patience + time.Duration(bytes/(4<<20))*time.Second
}
