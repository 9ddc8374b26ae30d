package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
)

// errCut is a request that got no whole answer because the server was killed.
var errCut = errors.New("no answer")

func isCut(err error) bool { return errors.Is(err, errCut) }

// A caller sends requests to one server after another.
type caller struct {
	url    string
	http   *http.Client
	killed atomic.Bool // the server is killed, or about to be
}

// reach goes on with another server.
func (c *caller) reach(url string) {
	if c.http != nil {
		c.http.CloseIdleConnections()
	}
	c.url = url
	c.http = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: crashClients}, Timeout: patience}
	c.killed.Store(false)
}

// cut is the error of an answer that did not come whole: errCut, unless the
// server runs.
func (c *caller) cut(err error) error {
	if c.killed.Load() {
		return fmt.Errorf("%w: %w", errCut, err)
	}
	return fmt.Errorf("P7: the server runs, and its answer is not whole: %w", err)
}

// call sends a request with a body in JSON, if there is one, and reads the answer
// into out. The error is errCut if there is no whole one, and another if it does
// not have the status.
func (c *caller) call(method, path, bearer string, in any, status int, out any) error {
	var body io.Reader = http.NoBody
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(b)
	}
	return c.post(method, path, bearer, "application/json", body, status, out)
}

// post is call with any body.
func (c *caller) post(method, path, bearer, contentType string, body io.Reader, status int, out any) error {
	req, err := http.NewRequest(method, c.url+path, body)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", contentType)
	if bearer != "" {
		req.Header.Set("Authorization", "Bearer "+bearer)
	}
	got, answer, err := c.send(req)
	if err != nil {
		return err
	}
	if got != status {
		return fmt.Errorf("status %d: %s", got, answer)
	}
	return json.Unmarshal(answer, out)
}

// send sends a request and reads the whole answer.
func (c *caller) send(req *http.Request) (status int, answer []byte, err error) {
	res, err := c.http.Do(req)
	if err != nil {
		return 0, nil, c.cut(err)
	}
	answer, err = io.ReadAll(res.Body)
	if err = errors.Join(err, res.Body.Close()); err != nil {
		return 0, nil, c.cut(err)
	}
	return res.StatusCode, answer, nil
}
