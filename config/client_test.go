package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/internal/testkit/env"
)

// atHome returns the environment of a user whose client.yaml has that text, and the
// directory of the file.
func atHome(t *testing.T, text string) (environ []string, dir string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the file has another path on this system")
	}
	home := t.TempDir()
	dir = filepath.Join(home, ".config", "pushbox")
	env.OK(t, os.MkdirAll(dir, 0o700))
	env.OK(t, os.WriteFile(filepath.Join(dir, "client.yaml"), []byte(text), 0o600))
	return []string{"HOME=" + home}, dir
}

func flag(name, value string) config.Flag { return config.Flag{Name: "--" + name, Value: value} }

func TestClientFlagsOverrideTheEnvironmentAndThatTheFile(t *testing.T) {
	t.Parallel()
	environ, dir := atHome(t, "url: https://file.example/\ntoken_file: token\nca_file: /etc/ca.pem\n")
	inFile := config.Client{
		URL: "https://file.example", TokenFile: filepath.Join(dir, "token"), TokenURL: "https://file.example", CAFile: "/etc/ca.pem",
	}
	for _, test := range []struct {
		name    string
		environ []string
		flags   map[string]config.Flag
		want    func(*config.Client)
	}{
		{"the file alone", nil, nil, func(*config.Client) {}},
		{
			"another server in the environment",
			[]string{"PUSHBOX_URL=https://env.example"},
			nil,
			func(c *config.Client) { c.URL = "https://env.example" },
		},
		{
			"a flag over the environment",
			[]string{"PUSHBOX_URL=https://env.example"},
			map[string]config.Flag{"url": flag("url", "https://flag.example")},
			func(c *config.Client) { c.URL = "https://flag.example" },
		},
		{
			"a token for the server of the file",
			[]string{"PUSHBOX_TOKEN_FILE=mine"},
			map[string]config.Flag{"url": flag("url", "https://flag.example")},
			func(c *config.Client) {
				c.URL, c.TokenFile, c.TokenURL = "https://flag.example", "mine", "https://file.example"
			},
		},
		{
			"a token with its server",
			[]string{"PUSHBOX_TOKEN_FILE=mine", "PUSHBOX_URL=https://env.example"},
			nil,
			func(c *config.Client) {
				c.URL, c.TokenFile, c.TokenURL = "https://env.example", "mine", "https://env.example"
			},
		},
		{
			"a flag for the token",
			[]string{"PUSHBOX_TOKEN_FILE=mine", "PUSHBOX_URL=https://env.example"},
			map[string]config.Flag{"token_file": flag("token-file", "other"), "ca_file": flag("ca-file", "ca")},
			func(c *config.Client) {
				c.URL, c.TokenFile, c.TokenURL, c.CAFile = "https://env.example", "other", "https://env.example", "ca"
			},
		},
		{"settings of a server", []string{"PUSHBOX_LISTEN=nowhere", "PUSHBOX_ODD=x"}, nil, func(*config.Client) {}},
	} {
		want := inFile
		test.want(&want)
		got, err := config.LoadClient(config.ClientSource{Environ: append(environ, test.environ...), Flags: test.flags})
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", test.name, got, err, want)
		}
	}
}

func TestAClientNeedsNoFile(t *testing.T) {
	t.Parallel()
	for _, environ := range [][]string{nil, {"HOME="}, {"HOME=relative"}, {"HOME=" + t.TempDir()}, {"XDG_CONFIG_HOME=relative"}} {
		if c, err := config.LoadClient(config.ClientSource{Environ: environ}); err != nil || c != (config.Client{}) {
			t.Errorf("%q: %+v, %v", environ, c, err)
		}
	}
}

func TestTheClientFileIsInTheUsersConfigurationDirectory(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the file has another path on this system")
	}
	for want, environ := range map[string][]string{
		"/home/ann/.config/pushbox/client.yaml": {"HOME=/home/ann", "XDG_CONFIG_HOME=relative"},
		"/xdg/pushbox/client.yaml":              {"HOME=/home/ann", "XDG_CONFIG_HOME=/xdg"},
		"":                                      {"HOME=home/ann"},
	} {
		env.Equal(t, environ, config.ClientFile(environ), want)
	}
}

func TestPathsInTheClientFileAreRelativeToIt(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"token": "DIR/token", "../token": "HOME/.config/token", "/run/token": "/run/token", "~/token": "HOME/token", "~token": "DIR/~token",
	} {
		environ, dir := atHome(t, "token_file: "+path)
		c, err := config.LoadClient(config.ClientSource{Environ: environ})
		home := filepath.Dir(filepath.Dir(dir))
		want = strings.NewReplacer("DIR", dir, "HOME", home).Replace(want)
		if err != nil || c.TokenFile != want {
			t.Errorf("%s became %s, %v", path, c.TokenFile, err)
		}
	}
}

func TestProblemsOfAClientAreReportedTogether(t *testing.T) {
	t.Parallel()
	environ, dir := atHome(t, "urll: x\nurl: ''\ntoken_file: 3\nlisten: ':1'\n")
	_, err := config.LoadClient(config.ClientSource{
		Environ: append(environ, "PUSHBOX_URL=https://ann:marker@host", "PUSHBOX_CA_FILE="),
		Flags:   map[string]config.Flag{"url": flag("url", "ftp://x")},
	})
	var all *config.ProblemsError
	if !errors.As(err, &all) {
		t.Fatalf("got %v", err)
	}
	file := "(file " + filepath.Join(dir, "client.yaml")
	for _, want := range []string{
		"urll " + file + ", line 1): is not a setting; did you mean url?",
		"url " + file + ", line 2): is empty",
		"token_file " + file + ", line 3): must be a path",
		"listen " + file + ", line 4): is not a setting",
		"url (environment PUSHBOX_URL): must not have a user name",
		"ca_file (environment PUSHBOX_CA_FILE): is empty",
		"url (flag --url): must begin with https:// or http://",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("it lacks %q:\n%v", want, err)
		}
	}
	if len(all.Problems) != 7 || strings.Contains(err.Error(), "marker") {
		t.Errorf("%d problems:\n%v", len(all.Problems), err)
	}
}

func TestTheServerIgnoresTheVariablesOfAClient(t *testing.T) {
	t.Parallel()
	l := mustLoad(t, config.Source{Environ: []string{"PUSHBOX_URL=odd", "PUSHBOX_TOKEN_FILE=", "PUSHBOX_CA_FILE=x"}})
	for _, v := range l.Values {
		if v.Origin != "default" {
			t.Errorf("one of them set %+v", v)
		}
	}
	got := problems(t, config.Source{Environ: []string{"PUSHBOX_TOKEN_FILES=x"}})
	if want := "environment PUSHBOX_TOKEN_FILES: is not a setting; did you mean PUSHBOX_TOKEN_FILE?"; got[0] != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, k := range config.Keys() {
		if k.Env == "PUSHBOX_URL" || k.Env == "PUSHBOX_TOKEN_FILE" || k.Env == "PUSHBOX_CA_FILE" {
			t.Errorf("%s is a setting of the server, too", k.Env)
		}
	}
}
