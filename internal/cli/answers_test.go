package cli

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"pushbox/internal/endtoend"
)

// asked is a server that has one request, with these answers.
func asked(t *testing.T, answers ...map[string]any) (link string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.Method != http.MethodGet || r.RequestURI != "/api/v2/requests/"+linkToken:
			w.WriteHeader(http.StatusNotFound)
		default:
			_ = json.NewEncoder(w).Encode(map[string]any{"id": linkToken, "answers": append([]map[string]any{}, answers...)})
		}
	}))
	t.Cleanup(s.Close)
	return s.URL + "/requests/" + linkToken
}

func TestAnswersArePrintedAsLinks(t *testing.T) {
	t.Parallel()
	// From testdata/end-to-end/requests.json.
	const (
		fragment = "a78UfqftCuHpaMF3lnfDxktrimZcwQt4lys4G6l1tJX0emjKp"
		other    = "afLPWUSO7AbABCr507D_qahNYlgAaUYsMi52Yq4uauTPvccCc1r8-dFKY3om4O4tfdIaEN_RQWMaTnvzmBoUXOJrcYPM"
		wrapped  = "AgQdy33QdKyPmXiU3jBaL5FXGVsmeY2VEXTdTf_6knKH95t8jGgaQkF0VWtSddlvhin7ZLmHgSmsa7jWp0gHxn_QY5HuDZHVU87GTGKwSsQJpF8eXI2J4OnNzsbm1IeRdOZHPgqetWoaAUU6m8GebgcK"
	)
	const far = "https://push.example.com/p/" + linkToken
	plain := map[string]any{"html_url": far, "expired": false, "wrapped_key": nil}
	over := map[string]any{"html_url": far, "expired": true, "wrapped_key": nil}
	encrypted := map[string]any{"html_url": far, "expired": false, "wrapped_key": wrapped}

	link := asked(t, plain, over)
	for args, stdin := range map[string]string{link: "", "-": link + "\n"} {
		got := act(t, stdin, nil, "answers", args).want(t, exitDone, "answers that have ended: 1")
		if got.stdout != far+"\n" {
			t.Errorf("printed %q", got.stdout)
		}
	}
	if got := act(t, "", nil, "answers", asked(t)).want(t, exitDone); got.stdout != "" {
		t.Errorf("without answers: printed %q", got.stdout)
	}

	link = asked(t, plain, encrypted)
	got := act(t, "", nil, "answers", link+"#"+fragment).want(t, exitDone)
	lines := strings.Split(got.stdout, "\n")
	address, key, _ := strings.Cut(lines[1], "#")
	if _, err := endtoend.ParseFragment(key); err != nil || len(lines) != 3 || lines[0] != far || address != far {
		t.Errorf("printed %q: %v", got.stdout, err)
	}
	for args, says := range map[string]string{link: "answers that are encrypted: 1; the link has no key", link + "#" + other: "answers that cannot be decrypted: 1"} {
		if got := act(t, "", nil, "answers", args).want(t, exitFailed, says); got.stdout != far+"\n" || strings.Contains(got.stderr, other) {
			t.Errorf("%s: printed %q", says, got.stdout)
		}
	}
	act(t, "", nil, "answers", link+"#"+fragment[:40]).want(t, exitFailed, "is incomplete or was changed")
	act(t, "", nil, "answers", far).want(t, exitUsage, "must be the link of a request's page")
	act(t, "", nil, "answers", link+"x").want(t, exitFailed, "hint: ")
}
