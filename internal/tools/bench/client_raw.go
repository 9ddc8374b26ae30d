package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// A rawClient speaks a minimum of HTTP/1.1: it sends a request in one write, and needs a
// Content-Length in answers.
type rawClient struct {
	conn     net.Conn
	in       *bufio.Reader
	head     string // the lines that all requests have
	token    string // the line that authorizes a request; "": none
	out      []byte
	body     []byte
	deadline time.Time
	release  func() bool // stops watching the context
}

var errNoLength = errors.New("an answer has no Content-Length, which the raw client needs: use --client net")

// dialRaw connects. When ctx ends, pending reads and writes of the client fail.
func dialRaw(ctx context.Context, s *subject) (*rawClient, error) {
	host := strings.TrimPrefix(s.address(), "http://")
	if _, _, err := net.SplitHostPort(host); err != nil {
		host += ":80"
	}
	dialer := net.Dialer{Timeout: patience}
	conn, err := dialer.DialContext(ctx, "tcp", host)
	if err != nil {
		return nil, err
	}
	c := &rawClient{conn: conn, in: bufio.NewReader(conn)}
	c.head = " HTTP/1.1\r\nHost: " + host + "\r\nUser-Agent: pushbox-bench\r\nAccept: application/json\r\n"
	if s.token != "" {
		c.token = "Authorization: Bearer " + s.token + "\r\n"
	}
	c.release = context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	return c, nil
}

func (c *rawClient) close() {
	c.release()
	_ = c.conn.Close()
}

func (c *rawClient) do(ctx context.Context, r request) ([]byte, error) {
	if d, ok := ctx.Deadline(); ok && !d.Equal(c.deadline) {
		c.deadline = d
		if err := c.conn.SetDeadline(d); err != nil {
			return nil, err
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if _, err := c.conn.Write(c.encode(r)); err != nil {
		return nil, err
	}
	status, length, err := c.readHead()
	if err != nil {
		return nil, err
	}
	if c.body = c.body[:0]; cap(c.body) < length {
		c.body = make([]byte, 0, length)
	}
	c.body = c.body[:length]
	if _, err := io.ReadFull(c.in, c.body); err != nil {
		return nil, err
	}
	if status != r.status {
		return nil, answerError(r, strconv.Itoa(status), c.body)
	}
	return c.body, nil
}

// encode is the request as it goes over the wire.
func (c *rawClient) encode(r request) []byte {
	b := append(append(c.out[:0], r.method...), ' ')
	b = append(append(b, r.path...), c.head...)
	if r.authorized {
		b = append(b, c.token...)
	}
	if r.body != nil {
		b = append(b, "Content-Type: application/json\r\nContent-Length: "...)
		b = append(strconv.AppendInt(b, int64(len(r.body)), 10), '\r', '\n')
	}
	c.out = append(append(b, '\r', '\n'), r.body...)
	return c.out
}

// readHead reads the status line and the headers of an answer.
func (c *rawClient) readHead() (status, length int, err error) {
	line, err := c.in.ReadSlice('\n')
	if err != nil {
		return 0, 0, err
	}
	version, rest, _ := bytes.Cut(line, []byte(" "))
	if string(version) != "HTTP/1.1" || len(rest) < 3 {
		return 0, 0, errors.New("an answer does not begin as HTTP/1.1 does")
	}
	if status, err = strconv.Atoi(string(rest[:3])); err != nil {
		return 0, 0, fmt.Errorf("an answer has no status: %w", err)
	}
	for length = -1; ; {
		if line, err = c.in.ReadSlice('\n'); err != nil {
			return 0, 0, err
		}
		if line = bytes.TrimRight(line, "\r\n"); len(line) == 0 {
			break
		}
		const name = "Content-Length:"
		if len(line) < len(name) || !strings.EqualFold(string(line[:len(name)]), name) {
			continue
		}
		length, err = strconv.Atoi(string(bytes.TrimSpace(line[len(name):])))
		if err != nil || length > maxAnswer {
			return 0, 0, errNoLength
		}
	}
	if length < 0 {
		return 0, 0, errNoLength
	}
	return status, length, nil
}
