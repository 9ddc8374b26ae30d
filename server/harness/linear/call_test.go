package linear_test

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"pushbox/internal/testkit/env"
)

// A linearConn is one client's connection to a server. What it does not have of
// http.Client would cost more than the server does.
type linearConn struct {
	address string
	conn    net.Conn
	r       *bufio.Reader
}

// send sends a request and returns what came back, all of it or an error.
func (c *linearConn) send(request []byte) (status int, body []byte, err error) {
	if c.conn == nil {
		if c.conn, err = net.DialTimeout("tcp", c.address, env.Patience); err != nil {
			c.conn = nil
			return 0, nil, err
		}
		c.r = bufio.NewReader(c.conn)
	}
	_ = c.conn.SetDeadline(time.Now().Add(env.Patience))
	if _, err := c.conn.Write(request); err != nil {
		return 0, nil, err
	}
	res, err := http.ReadResponse(c.r, nil)
	if err != nil {
		return 0, nil, err
	}
	if body, err = io.ReadAll(res.Body); err == nil && res.Close {
		c.close()
	}
	return res.StatusCode, body, err
}

func (c *linearConn) close() {
	if c.conn != nil {
		_ = c.conn.Close()
		c.conn = nil
	}
}

// A linearRequest is a request.
type linearRequest struct {
	method, path       string
	bearer, passphrase string // empty: none
	media, body        string // no type: no body
}

func (q linearRequest) bytes() []byte {
	b := fmt.Appendf(nil, "%s %s HTTP/1.1\r\nHost: pushbox.test\r\n", q.method, q.path)
	if q.bearer != "" {
		b = fmt.Appendf(b, "Authorization: Bearer %s\r\n", q.bearer)
	}
	if q.passphrase != "" {
		b = fmt.Appendf(b, "X-Push-Passphrase: %s\r\n", q.passphrase)
	}
	if q.media != "" {
		b = fmt.Appendf(b, "Content-Type: %s\r\nContent-Length: %d\r\n", q.media, len(q.body))
	}
	return append(append(b, "\r\n"...), q.body...)
}

// readLinear reads of an answer what the model knows.
func readLinear(status int, text []byte) (linearAnswer, error) {
	var body struct {
		Token     string     `json:"url_token"`
		Created   time.Time  `json:"created_at"`
		Updated   time.Time  `json:"updated_at"`
		ExpiresAt time.Time  `json:"expires_at"`
		Expired   bool       `json:"expired"`
		Deleted   bool       `json:"deleted"`
		ExpiredOn *time.Time `json:"expired_on"`
		Remaining int        `json:"views_remaining"`
		Payload   *string    `json:"payload"`
		URL       string     `json:"url"`
		Logs      []struct {
			Kind string `json:"kind"`
		} `json:"logs"`
	}
	err := json.Unmarshal(text, &body)
	out := linearAnswer{
		status: status, token: body.Token, expired: body.Expired, deleted: body.Deleted,
		remaining: body.Remaining, link: body.URL,
		created: milli(body.Created), updated: milli(body.Updated), expiresAt: milli(body.ExpiresAt),
	}
	if body.ExpiredOn != nil {
		out.expiredOn = milli(*body.ExpiredOn)
	}
	if body.Payload != nil {
		out.payload = *body.Payload
	}
	for _, e := range body.Logs {
		out.log += cmp.Or(letters[e.Kind], "?")
	}
	return out, err
}

func milli(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}
