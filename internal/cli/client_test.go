package cli

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pushbox/internal/testkit/env"
)

// sent are the tokens that a server was sent, request by request.
func (f *fakeServer) sent() string {
	var all []string
	for _, r := range f.requests() {
		all = append(all, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
	}
	return strings.Join(all, ",")
}

func TestTheTokenIsSentToItsServerAlone(t *testing.T) {
	t.Parallel()
	token := inFile(t, "token", apiToken+"\n")
	for _, test := range []struct {
		name       string
		home       bool // whether the server is the one that url names
		push, link string
	}{
		{"its own", true, apiToken, apiToken + "," + apiToken},
		{"another", false, "", ","},
	} {
		f := newFake(t)
		url := f.URL
		if !test.home {
			url = "https://push.invalid"
		}
		environ := []string{"PUSHBOX_URL=" + url, "PUSHBOX_TOKEN_FILE=" + token}
		act(t, "", environ, "get", f.link(), "-o", t.TempDir()).want(t, exitDone).discreet(t)
		act(t, "", environ, "expire", f.link()).want(t, exitDone, "the push has ended").discreet(t)
		if got := f.sent(); got != test.link {
			t.Errorf("%s: get and expire sent %q", test.name, got)
		}
		p := newFake(t)
		if test.home {
			environ[0] = "PUSHBOX_URL=" + p.URL
		}
		got := act(t, "x", environ, "push", "--url", p.URL).want(t, exitDone).discreet(t)
		if p.sent() != test.push || !test.home != strings.Contains(got.stderr, "is for https://push.invalid, and is not sent to "+p.URL) {
			t.Errorf("%s: push sent %q\n%s", test.name, p.sent(), got.stderr)
		}
	}
}

func TestATokenWithoutAServerGoesToTheOneThatIsNamed(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	token := inFile(t, "token", apiToken)
	act(t, "x", []string{"PUSHBOX_TOKEN_FILE=" + token}, "push", "--url", f.URL).want(t, exitDone)
	act(t, "", nil, "get", f.link(), "--token-file", token, "-o", t.TempDir()).want(t, exitDone)
	if f.sent() != apiToken+"," {
		t.Errorf("sent %q", f.sent())
	}
}

func TestTokenFilesAreChecked(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	for text, want := range map[string]string{
		"":                        "it is empty",
		"\n":                      "it is empty",
		"a-marker\nb\n":           "more than one line",
		"a-marker\x00":            "characters that no token has",
		strings.Repeat("x", 4097): "more than one line",
	} {
		act(t, "x", nil, "push", "--url", f.URL, "--token-file", inFile(t, "token", text)).
			want(t, exitFailed, "the token file", want, "hint: it must have the API token in one line").discreet(t)
	}
	act(t, "x", nil, "push", "--url", f.URL, "--token-file", "nowhere").want(t, exitFailed, "the token file: open nowhere", "hint: name the file")

	open := inFile(t, "token", apiToken)
	env.OK(t, os.Chmod(open, 0o644))
	act(t, "x", nil, "push", "--url", f.URL, "--token-file", open).want(t, exitDone, "other users can read the token file "+open+" (mode 0644); better: chmod 600").discreet(t)
	if f.sent() != apiToken {
		t.Errorf("sent %q", f.sent())
	}
}

func TestTheFileOfSettingsNamesServerAndToken(t *testing.T) {
	t.Parallel()
	f, home := newFake(t), t.TempDir()
	dir := filepath.Join(home, ".config", "pushbox")
	env.OK(t, os.MkdirAll(dir, 0o700))
	for name, text := range map[string]string{"client.yaml": "url: " + f.URL + "\ntoken_file: token\n", "token": apiToken} {
		env.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	environ := []string{"HOME=" + home}
	act(t, "x", environ, "push").want(t, exitDone)
	other := newFake(t)
	act(t, "x", environ, "push", "--url", other.URL).want(t, exitDone, "is not sent to "+other.URL).discreet(t)
	if f.sent() != apiToken || other.sent() != "" {
		t.Errorf("sent %q and %q", f.sent(), other.sent())
	}
	env.OK(t, os.WriteFile(filepath.Join(dir, "client.yaml"), []byte("server: x\n"), 0o600))
	act(t, "x", environ, "push").want(t, exitUsage, "server (file ", "is not a setting", "hint: correct these settings; pushbox push --help names all of them")
}

func TestAServerWithoutTLSElsewhereIsWarnedAbout(t *testing.T) {
	t.Parallel()
	const warning = "is not encrypted"
	f := newFake(t)
	if got := act(t, "x", nil, "push", "--url", f.URL).want(t, exitDone); strings.Contains(got.stderr, warning) {
		t.Errorf("this machine was warned about:\n%s", got.stderr)
	}
	act(t, "x", nil, "push", "--url", "http://push.invalid").want(t, exitFailed, "http://push.invalid "+warning, "hint: check the name of the host")
	act(t, "", nil, "get", "http://push.invalid/p/"+linkToken, "-o", t.TempDir()).want(t, exitFailed, warning, "a view may have been counted").discreet(t)
}

func TestAPrivateAuthorityIsTrustedIfItIsNamed(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	safe := httptest.NewTLSServer(f)
	t.Cleanup(safe.Close)
	ca := inFile(t, "ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: safe.Certificate().Raw})))
	act(t, "x", nil, "push", "--url", safe.URL, "--ca-file", ca).want(t, exitDone)
	act(t, "x", nil, "push", "--url", safe.URL).want(t, exitFailed, "certificate", "name that with --ca-file")
	act(t, "x", nil, "push", "--url", safe.URL, "--ca-file", inFile(t, "odd.pem", "x")).want(t, exitFailed, "has no certificate", "hint: name a file with certificates")
	act(t, "x", nil, "push", "--url", safe.URL, "--ca-file", "nowhere").want(t, exitFailed, "no such file", "hint: name a file with certificates")
	act(t, "x", nil, "push", "--url", "https"+strings.TrimPrefix(f.URL, "http")).want(t, exitFailed, "hint: the server has no TLS at this address")
}

func TestWhatDoesNotAnswerAsItShouldIsToldWithoutSecrets(t *testing.T) {
	t.Parallel()
	token := inFile(t, "token", apiToken)
	page := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(page.Close)
	odd := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(odd.Close)
	moved := httptest.NewServer(http.RedirectHandler("https://elsewhere.example/p/"+linkToken+"?t=marker", http.StatusMovedPermanently))
	t.Cleanup(moved.Close)
	gone := httptest.NewServer(nil)
	gone.Close()
	for url, want := range map[string][]string{
		page.URL:  {"404 Not Found", "hint: check the link"},
		odd.URL:   {"does not answer as the API", "hint: check the address"},
		moved.URL: {"points to another address, on https://elsewhere.example", "hint: if that is the server you mean"},
		gone.URL:  {"connection refused", "hint: check the address and its port"},
	} {
		environ := []string{"PUSHBOX_URL=" + url, "PUSHBOX_TOKEN_FILE=" + token}
		link := url + "/p/" + linkToken
		for _, args := range [][]string{{"push"}, {"get", link, "-o", t.TempDir()}, {"expire", link}} {
			got := act(t, "text-marker", environ, args...).want(t, exitFailed, want...).discreet(t)
			if got.stdout != "" {
				t.Errorf("printed %q", got.stdout)
			}
		}
	}
}
