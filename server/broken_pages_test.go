package server_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"pushbox/server/servertest"
)

// faultOf returns the only line in the log about a fault of the server.
func faultOf(a *servertest.Server) (line struct {
	RequestID string `json:"request_id"`
	Level     string
	Status    int
	Error     string
	Stack     string
},
) {
	a.T.Helper()
	if err := json.Unmarshal([]byte(a.Log.String()), &line); err != nil {
		a.T.Fatalf("%v: %s", err, a.Log)
	}
	if line.Level != "error" || line.Status != http.StatusInternalServerError || line.Error == "" || line.RequestID == "" {
		a.T.Errorf("%+v", line)
	}
	return line
}

func TestAPageThatFailsToRenderIsA500(t *testing.T) {
	t.Parallel()
	for name, cause := range map[string]string{"error": "can't evaluate field", "panic": "broken"} {
		a := servertest.New(t)
		a.Handler.AddBrokenPages()
		got := a.Get("/broken/" + name).Want(http.StatusInternalServerError)
		line := faultOf(a)
		got.Page().Has(line.RequestID)
		if !strings.Contains(line.Error, cause) || strings.Contains(got.Body, cause) {
			t.Errorf("%s: %q, and the page: %s", name, line.Error, got.Body)
		}
		if got.Header.Get("Set-Cookie") != "" || strings.Count(got.Body, "<html") != 1 {
			t.Errorf("%s: something of the broken page was sent: %v", name, got.Header)
		}
	}
}

func TestIfNoPageRendersTheAnswerIsALineOfText(t *testing.T) {
	t.Parallel()
	for _, panics := range []bool{false, true} {
		for path, method := range map[string]string{"/": "GET", "/nothing": "GET", "/users/sign_in": "POST", "/users/sign_up": "HEAD"} {
			a := servertest.New(t)
			a.Handler.BreakPages(panics)
			got := a.Do(method, path, "").Want(http.StatusInternalServerError)
			line := faultOf(a)
			if method != "HEAD" && !strings.Contains(got.Body, line.RequestID) || strings.Contains(got.Body, "<") {
				t.Errorf("%s: %s", path, got.Body)
			}
			if panics != (line.Stack != "") {
				t.Errorf("%s: the stack is %q", path, line.Stack)
			}
			if got.Header.Get("Content-Type") != "text/plain; charset=utf-8" || got.Header.Get("Content-Security-Policy") == "" || got.Header.Get("Cache-Control") != "no-store" {
				t.Errorf("%s: %v", path, got.Header)
			}
			a.Get("/healthz").Want(http.StatusOK)
		}
	}
}
