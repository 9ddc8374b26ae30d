package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"pushbox/internal/tools/tool"
)

// A holding makes connections that each hold something: they send a request, and then a
// piece now and then, or read only the status of the answer.
type holding struct {
	connections int
	request     string
	piece       string // to send each second; empty: it sends no more, and reads nothing
}

const (
	renewal = time.Second     // from the end of a connection to the next one in its place
	spread  = 6 * time.Second // over which they begin: while some renew, others wait for memory
)

func (v *victim) hold(ctx context.Context, h holding) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	for i := range h.connections {
		all.Go(func() {
			tool.Pause(ctx, spread*time.Duration(i)/time.Duration(h.connections))
			for ctx.Err() == nil {
				_ = v.holdOne(ctx, h) // it was cut
				tool.Pause(ctx, renewal)
			}
		})
	}
	return func() {
		cancel()
		all.Wait()
	}
}

// holdOne holds one connection until it is cut, or ctx ends.
func (v *victim) holdOne(ctx context.Context, h holding) error {
	c, err := v.dial(ctx)
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	defer c.Close()
	err = c.(*net.TCPConn).SetReadBuffer(2 << 10)
	if _, sent := c.Write([]byte(h.request)); sent != nil {
		err = sent
	}
	for err == nil && h.piece != "" {
		tool.Pause(ctx, time.Second)
		_, err = c.Write([]byte(h.piece))
	}
	status := make([]byte, len("HTTP/1.1 200"))
	if err == nil {
		_, err = io.ReadFull(c, status)
	}
	if err == nil && bytes.HasSuffix(status, []byte("200")) {
		tool.Pause(ctx, time.Minute) // the server's own limit, by default
	}
	return err
}

// raw is the head of a request of the attacker, and the begin of its body.
func raw(method, path, header, body string) string {
	return method + " " + path + " HTTP/1.1\r\nHost: box\r\nX-Forwarded-For: " + attacker + "\r\n" + header + "\r\n" + body
}

// beside measures requests of another client: before the attack, and during it.
func (v *victim) beside(ctx context.Context, h holding, who string, other ask) []line {
	var usual, during tries
	for usual.number < usualTries {
		usual.add(ctx, v, other)
		tool.Pause(ctx, rest)
	}
	defer v.hold(ctx, h)()
	tool.Pause(ctx, spread+v.span/4)
	for over := time.After(v.span); during.number < usualTries && len(over) == 0; {
		during.add(ctx, v, other)
		tool.Pause(ctx, rest)
	}
	v.fail(ctx.Err())
	return []line{{who + ", usually", usual.String()}, {who + ", during the attack", during.String()}}
}

// unreadAnswers is a client that opens a long push, and reads nothing of it.
func unreadAnswers(ctx context.Context, v *victim) []line {
	long := v.push(ctx, attacker, strings.Repeat("\x01", 1_000_000), "") // six times as long in JSON
	short := v.push(ctx, recipient, strings.Repeat("x", 3<<10), "")
	h := holding{connections: 16, request: raw("GET", "/api/v2/pushes/"+long, "", "")}
	return v.beside(ctx, h, "recipient elsewhere, 3 KiB", opening(recipient, short, ""))
}

// endlessBodies is a client whose bodies are long and never end.
func endlessBodies(ctx context.Context, v *victim) []line {
	text := `{"push":{"payload":"` + strings.Repeat("x", 330_000)
	head := "Content-Type: application/json\r\nContent-Length: 8000000\r\n"
	h := holding{connections: 70, piece: "x", request: raw("POST", "/api/v2/pushes", head, text)}
	return v.beside(ctx, h, "sender elsewhere, 200 KB", creating(recipient, strings.Repeat("x", 200_000), ""))
}

// slowAnswers is a client that has the link of one request, and sends files to it slowly.
func slowAnswers(ctx context.Context, v *victim) []line {
	links := v.requests(ctx, 2)
	head := "Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 50000000\r\n"
	h := holding{
		connections: 90, piece: strings.Repeat("x", 1500),
		request: raw("POST", links[0], head, formOfFile+strings.Repeat("x", 70_000)),
	}
	other := ask{from: recipient, path: links[1], multipart: formOfFile + "x\r\n--b--\r\n"}
	return v.beside(ctx, h, "sender elsewhere, a file to another request", other)
}
