package docs

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"pushbox/internal/proctest"
	"pushbox/internal/testkit/env"
)

// A marionette drives Thunderbird by its remote protocol: texts of JSON, each with its length.
type marionette struct {
	t    *testing.T
	conn net.Conn
	in   *bufio.Reader
	n    int
}

// startThunderbird starts Thunderbird without a window and with a profile of its own.
func startThunderbird(t *testing.T) *marionette {
	t.Helper()
	program := proctest.Installed(t, "thunderbird", "thunderbird")
	home, address := t.TempDir(), env.FreeAddress(t)
	_, port, _ := net.SplitHostPort(address)
	env.OK(t, os.WriteFile(filepath.Join(home, "user.js"), []byte(`user_pref("marionette.port", `+port+`);
user_pref("extensions.webextensions.remote", false);
user_pref("mail.provider.suppress_dialog_on_startup", true);
`), 0o600))
	cmd := exec.CommandContext(t.Context(), program, "--headless", "--marionette", "--remote-allow-system-access", "--no-remote", "--profile", home)
	cmd.Env = append(proctest.Environ(), "HOME="+home)
	env.OK(t, cmd.Start())
	t.Cleanup(func() { _, _ = cmd.Process.Kill(), cmd.Wait() })
	m := &marionette{t: t}
	env.Eventually(t, "Thunderbird answers", func() bool {
		conn, err := net.Dial("tcp", address)
		m.conn = conn
		return err == nil
	})
	t.Cleanup(func() { _ = m.conn.Close() })
	env.OK(t, m.conn.SetDeadline(time.Now().Add(env.Patience)))
	m.in = bufio.NewReader(m.conn)
	m.read() // its greeting
	m.call("WebDriver:NewSession", map[string]any{"capabilities": map[string]any{}})
	m.call("WebDriver:SetTimeouts", map[string]any{"script": env.Patience.Milliseconds()})
	return m
}

func (m *marionette) read() json.RawMessage {
	m.t.Helper()
	length := strings.TrimSuffix(env.Must(m.in.ReadString(':'))(m.t), ":")
	text := make([]byte, env.Must(strconv.Atoi(length))(m.t))
	env.Must(io.ReadFull(m.in, text))(m.t)
	return text
}

// call runs a command and returns its result.
func (m *marionette) call(command string, arguments map[string]any) json.RawMessage {
	m.t.Helper()
	m.n++
	text := env.Must(json.Marshal([]any{0, m.n, command, arguments}))(m.t)
	env.Must(fmt.Fprintf(m.conn, "%d:%s", len(text), text))(m.t)
	var answer [4]json.RawMessage
	env.OK(m.t, json.Unmarshal(m.read(), &answer))
	if string(answer[2]) != "null" {
		m.t.Fatalf("%s: %s", command, answer[2])
	}
	return answer[3]
}

// TestThunderbirdSendsAttachments installs the add-on, types its settings, and sends files of a mail.
func TestThunderbirdSendsAttachments(t *testing.T) {
	t.Parallel()
	proctest.Installed(t, "thunderbird", "thunderbird")
	s := newShell(t)
	s.makeToken()
	token := strings.TrimPrefix(s.env[len(s.env)-1], "API_TOKEN=")
	file := filepath.Join(t.TempDir(), "größe.txt")
	env.OK(t, os.WriteFile(file, []byte("of a mail"), 0o600))
	m := startThunderbird(t)
	m.call("Addon:Install", map[string]any{"path": absolute(t, "deploy/thunderbird"), "temporary": true})
	m.call("Marionette:SetContext", map[string]any{"value": "chrome"})
	answer := m.call("WebDriver:ExecuteAsyncScript", map[string]any{
		"script": string(readFile(t, "internal/harness/docs/testdata/thunderbird.js")), "newSandbox": true,
		"args": []any{
			map[string]string{"server": s.url + "/", "token": token, "days": "2", "views": "3"},
			[]map[string]string{{"server": "http://push.example.com"}, {"server": "http://127.0.0.1:1"}, {"token": "wrong"}},
			file,
		},
	})
	var got struct {
		Value struct {
			Problem, Said, Kept, Removed string
			Refused                      []string
			Before                       bool
			Limit                        int
		}
	}
	env.OK(t, json.Unmarshal(answer, &got))
	v := got.Value
	if v.Problem != "" || v.Said != "Saved." || v.Before || v.Limit != 3 || !strings.HasPrefix(v.Kept, s.url+"/p/") {
		t.Fatalf("%+v", v)
	}
	env.Equal(t, "what is refused", strings.Join(v.Refused, "|"),
		"The address must begin with https://.|There is no pushbox at this address, or it cannot be reached.|The API token is not valid.")
	live, _ := s.run(`curl -s -H "Authorization: Bearer $API_TOKEN" http://127.0.0.1:5100/api/v2/pushes/active`)
	kept, removed := strings.Split(v.Kept, "/")[4], strings.Split(v.Removed, "/")[4]
	if !strings.Contains(live, kept) || strings.Contains(live, removed) || !strings.Contains(live, `"expire_after_days":2`) {
		t.Errorf("live are %s", live)
	}
	shown, _ := s.run("curl -s http://127.0.0.1:5100/api/v2/pushes/" + kept)
	env.Contains(t, "the push", shown, `"filename":"größe.txt"`)
}
