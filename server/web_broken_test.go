package server_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// fault is the one line that the log has of a request that the server failed.
func (a *api) fault() (line struct {
	RequestID string `json:"request_id"`
	Level     string
	Status    int
	Error     string
	Stack     string
},
) {
	a.t.Helper()
	if err := json.Unmarshal([]byte(a.log.String()), &line); err != nil {
		a.t.Fatalf("%v: %s", err, a.log)
	}
	if line.Level != "error" || line.Status != http.StatusInternalServerError || line.Error == "" || line.RequestID == "" {
		a.t.Errorf("%+v", line)
	}
	return line
}

func TestAPageThatFailsToRenderIsA500(t *testing.T) {
	t.Parallel()
	for name, cause := range map[string]string{"error": "can't evaluate field", "panic": "broken"} {
		a := newAPI(t)
		a.handler.AddBrokenPages()
		got := a.get("/broken/" + name).want(http.StatusInternalServerError)
		line := a.fault()
		got.page().has(line.RequestID)
		if !strings.Contains(line.Error, cause) || strings.Contains(got.body, cause) {
			t.Errorf("%s: %q, and the page: %s", name, line.Error, got.body)
		}
		if got.header.Get("Set-Cookie") != "" || strings.Count(got.body, "<html") != 1 {
			t.Errorf("%s: something of the broken page was sent: %v", name, got.header)
		}
	}
}

func TestWhereNoPageRendersThereIsALineOfText(t *testing.T) {
	t.Parallel()
	for _, panics := range []bool{false, true} {
		for path, method := range map[string]string{"/": "GET", "/nothing": "GET", "/users/sign_in": "POST", "/users/sign_up": "HEAD"} {
			a := newAPI(t)
			a.handler.BreakPages(panics)
			got := a.do(method, path, "").want(http.StatusInternalServerError)
			line := a.fault()
			if method != "HEAD" && !strings.Contains(got.body, line.RequestID) || strings.Contains(got.body, "<") {
				t.Errorf("%s: %s", path, got.body)
			}
			if panics != (line.Stack != "") {
				t.Errorf("%s: the stack is %q", path, line.Stack)
			}
			if got.header.Get("Content-Type") != "text/plain; charset=utf-8" || got.header.Get("Content-Security-Policy") == "" || got.header.Get("Cache-Control") != "no-store" {
				t.Errorf("%s: %v", path, got.header)
			}
			a.get("/healthz").want(http.StatusOK)
		}
	}
}
