package cli

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"unicode/utf16"

	"pushbox/internal/testkit/env"
)

// A recorder keeps every byte that clients send to a server.
type recorder struct {
	net.Listener
	mu   sync.Mutex
	sent bytes.Buffer
}

func (r *recorder) Accept() (net.Conn, error) {
	c, err := r.Listener.Accept()
	return &recordedConn{Conn: c, by: r}, err
}

type recordedConn struct {
	net.Conn
	by  *recorder
	own bytes.Buffer // of this connection alone: two may send at the same time
}

func (c *recordedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.own.Write(p[:n])
	return n, err
}

func (c *recordedConn) Close() error {
	c.by.mu.Lock()
	defer c.by.mu.Unlock()
	_, _ = c.own.WriteTo(&c.by.sent) // to a buffer
	return c.Conn.Close()
}

// recorded starts f anew, behind a recorder.
func recorded(t *testing.T, f *fakeServer) *recorder {
	t.Helper()
	f.Server.Close()
	f.Server = httptest.NewUnstartedServer(f)
	r := &recorder{Listener: f.Listener}
	f.Listener = r
	f.Start()
	t.Cleanup(f.Close)
	return r
}

// heard is what came by the time that the server ends.
func (r *recorder) heard(f *fakeServer) []byte {
	f.Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sent.Bytes()
}

// disguises are a text in the encodings in which it could be sent.
func disguises(text string) map[string][]byte {
	quoted, _ := json.Marshal(text) // a text has a form
	ascii := new(strings.Builder)
	for _, unit := range utf16.Encode([]rune(text)) {
		if unit < 0x80 {
			ascii.WriteByte(byte(unit))
		} else {
			fmt.Fprintf(ascii, `\u%04x`, unit)
		}
	}
	all := map[string][]byte{
		"as it is": []byte(text), "in JSON": quoted[1 : len(quoted)-1], "in JSON of ASCII": []byte(ascii.String()),
		"in a URL": []byte(url.PathEscape(text)), "in a form": []byte(url.QueryEscape(text)),
	}
	little, big := new(bytes.Buffer), new(bytes.Buffer)
	for _, unit := range utf16.Encode([]rune(text)) {
		little.Write([]byte{byte(unit), byte(unit >> 8)})
		big.Write([]byte{byte(unit >> 8), byte(unit)})
	}
	for name, b := range map[string][]byte{"UTF-8": []byte(text), "UTF-16LE": little.Bytes(), "UTF-16BE": big.Bytes()} {
		all[name] = b
		all[name+" in hexadecimal"], all[name+" in upper hexadecimal"] = []byte(hex.EncodeToString(b)), []byte(strings.ToUpper(hex.EncodeToString(b)))
		for before := range 3 { // bytes in front of it, which move it in base64
			for alphabet, e := range map[string]*base64.Encoding{"base64": base64.RawStdEncoding, "base64url": base64.RawURLEncoding} {
				coded := e.EncodeToString(append(make([]byte, before), b...))
				all[fmt.Sprintf("%s in %s after %d", name, alphabet, before)] = []byte(coded[(before*4+2)/3 : (before+len(b))*4/3])
			}
		}
	}
	return all
}

// leaks lists how parts of a text occur in what was sent.
func leaks(sent []byte, text string) (found []string) {
	const width, step = 16, 8 // characters: so 24 in a row are found, wherever they begin
	all := []rune(text)
	for at := 0; at+width <= len(all); at += step {
		for how, disguised := range disguises(string(all[at : at+width])) {
			if bytes.Contains(sent, disguised) {
				found = append(found, how)
			}
		}
	}
	return found
}

// unique is a text that is nowhere else, with characters that encodings change.
func unique(what string) string {
	return fmt.Sprintf("%s %016x ä&+ %016x", what, rand.Uint64(), rand.Uint64())
}

func TestALeakIsFoundInEveryEncoding(t *testing.T) {
	t.Parallel()
	text := unique("control")
	for how, disguised := range disguises(text) {
		around := []byte(unique("around"))
		if len(leaks(bytes.Join([][]byte{around, disguised, around}, nil), text)) == 0 {
			t.Errorf("%s it is not found", how)
		}
	}
	if found := leaks([]byte(unique("other")), text); len(found) > 0 {
		t.Errorf("it is found in another text %q", found)
	}
}

// Neither the text of an encrypted push nor the names and contents of its files are in anything that
// is sent, in any encoding. What is not encrypted is: so the recorder misses nothing.
func TestNothingOfAnEncryptedPushIsSentInClear(t *testing.T) {
	t.Parallel()
	for _, encrypted := range []bool{true, false} {
		text, name, small, note := unique("text"), unique("name"), unique("small"), unique("note")
		begin, middle, end := unique("begin"), unique("middle"), unique("end")
		big := make([]byte, 300<<10) // several chunks
		env.Must(io.ReadFull(rand.NewChaCha8([32]byte{1}), big))(t)
		copy(big, begin)
		copy(big[64<<10-20:], middle) // across two
		copy(big[len(big)-len(end):], end)
		dir := t.TempDir()
		files := []string{filepath.Join(dir, name+".txt"), filepath.Join(dir, "b")}
		env.OK(t, os.WriteFile(files[0], []byte(small), 0o600))
		env.OK(t, os.WriteFile(files[1], big, 0o600))
		table := unique("first row") + "\n" + unique("second row")
		for _, push := range []struct {
			stdin   string
			args    []string
			secrets []string
		}{
			{text, nil, []string{text}},
			{"", files, []string{name, small, begin, middle, end}},
			{"text\n" + table + "\n", []string{"--csv", "-"}, strings.Split(table, "\n")},
		} {
			f := newFake(t)
			r := recorded(t, f)
			args := append([]string{"push", "--url", f.URL, "--note", note, fmt.Sprintf("--end-to-end=%v", encrypted)}, push.args...)
			got := act(t, push.stdin, nil, args...).want(t, exitDone)
			sent := r.heard(f)
			for _, text := range push.secrets {
				if found := leaks(sent, text); encrypted != (len(found) == 0) {
					t.Errorf("encrypted: %v; of %s it sends %q", encrypted, text, found)
				}
			}
			if len(leaks(sent, note)) == 0 {
				t.Error("the recorder misses what the server may read")
			}
			for line := range strings.Lines(got.stdout) {
				if _, key, has := strings.Cut(strings.TrimSpace(line), "#"); has && len(leaks(sent, key)) > 0 {
					t.Error("it sends the key")
				}
			}
		}
	}
}
