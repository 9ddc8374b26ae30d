//go:build linux

package proxy

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"strconv"
	"strings"
	"time"

	"pushbox/internal/proctest"
	"pushbox/internal/testkit/env"
)

const (
	slack           = 1 << 20 // bytes that buffers may hold
	mostProxyGrowth = 32      // MiB of memory that a proxy may take for files
)

// A pausingReader stops after that many bytes until it may continue.
type pausingReader struct {
	io.Reader
	left    int64
	halted  chan struct{}   // closed when it stops
	proceed chan struct{}   // closed when it may continue
	ended   <-chan struct{} // closed when it never may
}

func (h *pausingReader) Read(b []byte) (int, error) {
	if h.left == 0 {
		close(h.halted)
		select {
		case <-h.proceed:
		case <-h.ended:
			return 0, context.Canceled
		}
		h.left = -1
	}
	if h.left > 0 {
		b = b[:min(int64(len(b)), h.left)]
	}
	n, err := h.Reader.Read(b)
	if h.left > 0 {
		h.left -= int64(n)
	}
	return n, err
}

// asWhole is a multipart form with one file, of known length, as browsers send it.
func asWhole(file io.Reader, size int64) (contentType string, body io.Reader, length int64, err error) {
	var frame bytes.Buffer
	m := multipart.NewWriter(&frame)
	if _, err := m.CreateFormFile("push[files][]", "file.bin"); err != nil {
		return "", nil, 0, err
	}
	head := frame.Len()
	if err := m.Close(); err != nil {
		return "", nil, 0, err
	}
	all := frame.Bytes()
	return m.FormDataContentType(), io.MultiReader(bytes.NewReader(all[:head]), file, bytes.NewReader(all[head:])), int64(len(all)) + size, nil
}

// files checks that large files pass in both directions, and that the proxy stores none
// of them.
func (v *route) files(ctx context.Context) {
	peak, spooled := v.proxy.peak(), v.proxy.spooled(v.T)
	url := v.upload(ctx, spooled)
	v.abort(ctx, url, spooled)
	if grown := v.proxy.peak() - peak; grown > mostProxyGrowth {
		v.Errorf("the proxy took %d MiB for files of %d MiB", grown, v.size>>20)
	} else {
		v.Logf("files of %d MiB took %d MiB of memory, on top of %d", v.size>>20, grown, peak)
	}
}

// upload sends a file and stops half way: by then the server must have what was sent.
// It returns the file's URL.
func (v *route) upload(ctx context.Context, spooled int64) (url string) {
	half := v.size / 2
	file := &pausingReader{Reader: proctest.Content(7, v.size), left: half, halted: make(chan struct{}), proceed: make(chan struct{}), ended: ctx.Done()}
	contentType, body, length, err := asWhole(file, v.size)
	env.OK(v, err)
	before := readBytes(v.T, v.server.Pid())
	type result struct {
		token string
		err   error
	}
	sent := make(chan result, 1)
	go func() {
		token, err := v.send(ctx, contentType, body, length)
		sent <- result{token, err}
	}()
	select {
	case <-file.halted:
	case r := <-sent:
		v.Fatalf("the upload ended half way: %v", r.err)
	}
	begin := time.Now()
	env.Eventually(v.T, "the server has what was sent", func() bool {
		return readBytes(v.T, v.server.Pid())-before > half-slack/4
	})
	v.Logf("the server had half of it %v after it was sent", time.Since(begin))
	if more := v.proxy.spooled(v.T) - spooled; more > slack {
		v.Errorf("half way the proxy has %d bytes in files", more)
	}
	close(file.proceed)
	got := <-sent
	if got.err != nil {
		v.Fatal(got.err)
	}
	pushed := got.token
	v.secrets[pushed] = "a url_token of files"
	urls, err := v.filer("1").Show(ctx, pushed)
	if err != nil || len(urls) != 1 || !strings.HasPrefix(urls[0], site+"/d/") {
		v.Fatalf("%v, %v", urls, err)
	}
	v.secrets[strings.Split(urls[0], "/")[4]] = "a grant"
	return urls[0]
}

// send sends a body of known length and returns the url_token.
func (v *route) send(ctx context.Context, contentType string, body io.Reader, length int64) (token string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, site+proctest.PushesPath, body)
	if err != nil {
		return "", err
	}
	req.ContentLength = length
	req.Header.Set("Content-Type", contentType)
	req.Header.Set("Authorization", "Bearer "+v.token)
	res, err := v.client("1").Do(req)
	if err != nil {
		return "", fmt.Errorf("upload: %w", err)
	}
	defer res.Body.Close()
	var out struct {
		Token string `json:"url_token"`
	}
	if err = json.NewDecoder(res.Body).Decode(&out); err != nil || res.StatusCode != http.StatusCreated {
		err = fmt.Errorf("upload: %s, %w", res.Status, err)
	}
	return out.Token, err
}

// abort begins a download, reads no more of it while others resume one, and then closes
// it. The server must notice that.
func (v *route) abort(ctx context.Context, url string, spooled int64) {
	ctx, giveUp := context.WithCancel(ctx)
	defer giveUp()
	req := env.Must(http.NewRequestWithContext(ctx, http.MethodGet, url, nil))(v)
	res := env.Must(v.client("66").Do(req))(v)
	defer res.Body.Close()
	if _, err := io.CopyN(io.Discard, res.Body, slack); err != nil || res.StatusCode != http.StatusOK {
		v.Fatalf("%s, %v", res.Status, err)
	}
	v.resume(ctx, url)
	if more := v.proxy.spooled(v.T) - spooled; more > slack {
		v.Errorf("while a client does not read its download, the proxy has %d bytes in files", more)
	}
	giveUp()
	var sent int64
	env.Eventually(v.T, "the server notices that a download was given up", func() bool {
		var ended bool
		sent, ended = v.downloaded("66")
		return ended
	})
	if sent >= v.size {
		v.Errorf("the server sent all %d bytes to a client that took %d", sent, slack)
	}
}

// downloaded returns, from the server's log, how many bytes were sent to a client, and
// whether its download has ended.
func (v *route) downloaded(number string) (bytes int64, ended bool) {
	for line := range strings.Lines(v.server.Log()) {
		var entry struct {
			Route, Client string
			Bytes         int64
		}
		if json.Unmarshal([]byte(line), &entry) == nil && entry.Route == "download" && entry.Client == v.net+number {
			return entry.Bytes, true
		}
	}
	return 0, false
}

// resume downloads a file in two parts.
func (v *route) resume(ctx context.Context, url string) {
	c := v.client("1")
	head := env.Must(ask(v.T, c, http.MethodHead, url, nil, nil))(v)
	head.want(v.T, http.StatusOK)
	tag, length := head.Header.Get("ETag"), head.Header.Get("Content-Length")
	if length != strconv.FormatInt(v.size, 10) || !strings.HasPrefix(tag, `"`) || head.Header.Get("Accept-Ranges") != "bytes" {
		v.Errorf("HEAD has %v", head.Header)
	}
	sum, got := sha256.New(), int64(0)
	for _, part := range []string{"bytes=0-1048575", "bytes=1048576-"} {
		req := env.Must(http.NewRequestWithContext(ctx, http.MethodGet, url, nil))(v)
		req.Header.Set("Range", part)
		req.Header.Set("If-Range", tag)
		res := env.Must(c.Do(req))(v)
		n, err := io.Copy(sum, res.Body)
		got += n
		_ = res.Body.Close()
		if err != nil || res.StatusCode != http.StatusPartialContent || res.Header.Get("ETag") != tag {
			v.Fatalf("%s: %s, %v, %v", part, res.Status, res.Header, err)
		}
	}
	want, _, _ := proctest.Digest(proctest.Content(7, v.size))
	if got != v.size || [sha256.Size]byte(sum.Sum(nil)) != want {
		v.Errorf("%d bytes came of %d, or not the bytes that were sent", got, v.size)
	}
	if a := get(v.T, c, url, http.Header{"Range": {"bytes=" + length + "-"}}, http.StatusRequestedRangeNotSatisfiable); a.Header.Get("Content-Range") != "bytes */"+length {
		v.Errorf("a range beyond the end gets %v", a.Header)
	}
}

// tooLarge checks that the server refuses what is too large, before it comes and while
// it comes.
func (v *route) tooLarge() {
	const text = 24 << 20 // more than three times as much as a body may have
	for name, length := range map[string]int64{"announced": text, "not announced": -1} {
		body := io.LimitReader(strings.NewReader(`{"push":{"payload":"`+strings.Repeat("x", text)), text)
		req := env.Must(http.NewRequestWithContext(v.Context(), http.MethodPost, site+proctest.PushesPath, body))(v)
		req.ContentLength = length
		req.Header.Set("Content-Type", "application/json")
		res, err := v.client("9").Do(req)
		if err != nil {
			v.Errorf("too large, and %s: %v", name, err)
			continue
		}
		answer, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if res.StatusCode != http.StatusRequestEntityTooLarge || !strings.Contains(string(answer), "payload-too-large") {
			v.Errorf("too large, and %s: %s %s", name, res.Status, answer)
		}
	}
}
