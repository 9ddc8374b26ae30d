package config_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/internal/testkit/env"
)

const marker = "hunter2marker"

func TestTheMasterKeyIsNeverShown(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	for _, src := range []config.Source{
		{Environ: []string{"PUSHBOX_MASTER_KEY=" + marker}},
		{File: writeFile(t, "master_key: "+marker)},
	} {
		l := mustLoad(t, src)
		if l.Config.MasterKey.Reveal() != marker {
			t.Error("the key did not arrive")
		}
		env.OK(t, l.Print(&out))
		fmt.Fprintf(&out, "%+v %#v %v", l, l.Config, l.Values)
	}
	env.Contains(t, "the output does not show that there is a key", out.String(), "master_key: [redacted]")
	for _, src := range []config.Source{
		{Environ: []string{"PUSHBOX_MASTER_KEY=" + marker, "PUSHBOX_MASTER_KEY_FILE=/k"}},
		{Flags: map[string]config.Flag{"master_key": {Name: "--master-key", Value: marker}}},
		{Environ: []string{"PUSHBOX_MASTER_KEEY=" + marker}},
		{File: writeFile(t, "master_key: {"+marker+": 1}")},
		{File: writeFile(t, "master_key: ["+marker+"]")},
		{File: writeFile(t, "{master_key:"+marker+"}")},
		{File: writeFile(t, "master_key:"+marker)},
		{File: writeFile(t, "master_key:"+marker+"\nlisten: x")},
		{File: writeFile(t, "master_key: *"+marker)},
		{File: writeFile(t, "master_key: !"+marker+" x")},
		{File: writeFile(t, "master_key: "+marker+": x")},
		{File: writeFile(t, "master_key: \""+marker)},
		{File: writeFile(t, "master_key: "+marker+"\nmaster_key: "+marker)},
		{File: writeFile(t, "base_url: https://me:"+marker+"@push.example.com")},
		{File: writeFile(t, "base_url: https://me:"+marker+"@:push.example.com:x")},
	} {
		fmt.Fprintln(&out, problems(t, src))
	}
	if strings.Contains(out.String(), marker) {
		t.Errorf("the key was shown:\n%s", out.String())
	}
}

func TestSecretsOfTheEnvironmentAreNeverShown(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	beside := []string{"PUSHBOX_BASE_URL=https://push.example.com", "PUSHBOX_MAIL_HOST=mail.example.com", "PUSHBOX_MAIL_FROM=a@example.com", "PUSHBOX_MAIL_USER=a", "PUSHBOX_WEBHOOKS_URL=https://hooks.example.com/"}
	given := []string{"PUSHBOX_MAIL_PASSWORD=" + marker, "PUSHBOX_WEBHOOKS_SECRET=" + marker, "PUSHBOX_METRICS_TOKEN=" + marker}
	l := mustLoad(t, config.Source{Environ: append(beside, given...)})
	if c := l.Config; c.Mail.Password.Reveal() != marker || c.Webhooks.Secret.Reveal() != marker || c.Metrics.Token.Reveal() != marker || !c.Metrics.HasToken() {
		t.Error("a secret did not arrive")
	}
	env.OK(t, l.Print(&out))
	fmt.Fprintf(&out, "%+v %#v %v", l, l.Config, l.Values)
	for _, file := range []string{"MAIL_PASSWORD_FILE", "WEBHOOKS_SECRET_FILE", "METRICS_TOKEN_FILE"} {
		got := problems(t, config.Source{Environ: append(append(beside, given...), "PUSHBOX_"+file+"=/some/where")})
		if len(got) != 1 || !strings.Contains(got[0], "cannot be given together with") {
			t.Errorf("%s beside its value: %q", file, got)
		}
		fmt.Fprintln(&out, got)
	}
	if strings.Contains(out.String(), marker) || strings.Count(out.String(), "[redacted]") < 4 {
		t.Errorf("a secret was shown:\n%s", out.String())
	}
}

// The address of a webhook often has a secret in its path.
func TestTheAddressOfTheServersWebhookIsNeverShown(t *testing.T) {
	t.Parallel()
	const address = "https://hooks.example.com/" + marker
	var out strings.Builder
	l := mustLoad(t, config.Source{File: writeFile(t, "webhooks: {url: \""+address+"\", secret_file: f}")})
	if l.Config.Webhooks.URL.Reveal() != address {
		t.Error("the address did not arrive")
	}
	env.OK(t, l.Print(&out))
	fmt.Fprintf(&out, "%+v %#v %v", l, l.Config, l.Values)
	fmt.Fprintln(&out, problems(t, config.Source{File: writeFile(t, "webhooks: {url: \""+address+"\"}")}))
	if strings.Contains(out.String(), marker) || !strings.Contains(out.String(), "url: [redacted]") {
		t.Errorf("the address was shown:\n%s", out.String())
	}
}

func TestTheMasterKeyAndItsFileExcludeEachOther(t *testing.T) {
	t.Parallel()
	wantProblem(t, config.Source{File: writeFile(t, "master_key_file: /k\n"), Environ: []string{"PUSHBOX_MASTER_KEY=k"}},
		"master_key (environment PUSHBOX_MASTER_KEY): cannot be given together with master_key_file (file pushbox.yaml, line 1)")
}

func TestAPrintedKeyIsRefused(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	env.OK(t, mustLoad(t, config.Source{Environ: []string{"PUSHBOX_MASTER_KEY=k"}}).Print(&out))
	got := problems(t, config.Source{File: writeFile(t, out.String())})
	if len(got) != 1 || !strings.HasPrefix(got[0], "master_key (") {
		t.Errorf("got %q", got)
	}
}

func TestTheCredentialOfSystemd(t *testing.T) {
	t.Parallel()
	with, without := t.TempDir(), t.TempDir()
	path := filepath.Join(with, "master.key")
	env.OK(t, os.WriteFile(path, []byte("k"), 0o400))
	for _, test := range []struct {
		name    string
		environ []string
		want    string
		from    string
	}{
		{"handed over", []string{"CREDENTIALS_DIRECTORY=" + with}, path, "systemd credential master.key"},
		{"another one", []string{"CREDENTIALS_DIRECTORY=" + without}, "", "default"},
		{"a directory that is gone", []string{"CREDENTIALS_DIRECTORY=" + without + "/x"}, "", "default"},
		{"none", []string{"CREDENTIALS_DIRECTORY="}, "", "default"},
		{"beside a file", []string{"CREDENTIALS_DIRECTORY=" + with, "PUSHBOX_MASTER_KEY_FILE=/k"}, "/k", "environment PUSHBOX_MASTER_KEY_FILE"},
		{"beside an empty file name", []string{"CREDENTIALS_DIRECTORY=" + with, "PUSHBOX_MASTER_KEY_FILE="}, path, "systemd credential master.key"},
		{"beside a key", []string{"CREDENTIALS_DIRECTORY=" + with, "PUSHBOX_MASTER_KEY=k"}, "", "default"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			l := mustLoad(t, config.Source{Environ: test.environ})
			if v := valueOf(t, l, "master_key_file"); l.Config.MasterKeyFile != test.want || v.Origin != test.from {
				t.Errorf("got %q and %+v", l.Config.MasterKeyFile, v)
			}
		})
	}
}

func TestTheDirectoryForKeysBesideTheSettings(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		make    []string // below the directory of the settings; a name that ends with / is a directory
		setting string
		environ string
		want    string // below the same
	}{
		{name: "none"},
		{name: "one", make: []string{"key/"}, want: "key/master.key"},
		{name: "one with a key", make: []string{"key/", "key/master.key"}, want: "key/master.key"},
		{name: "a key with the data", make: []string{"key/", "data/", "data/master.key"}},
		{name: "a key at both places", make: []string{"key/", "key/master.key", "data/", "data/master.key"}},
		{name: "a file of that name", make: []string{"key"}},
		{name: "a setting", make: []string{"key/"}, setting: "master_key_file: /k", want: "/k"},
		{name: "a key as a setting", make: []string{"key/"}, setting: "master_key: k"},
		{name: "a credential", make: []string{"key/", "master.key"}, environ: "CREDENTIALS_DIRECTORY=", want: "master.key"},
		{name: "no credential", make: []string{"key/"}, environ: "CREDENTIALS_DIRECTORY=", want: "key/master.key"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			file := filepath.Join(dir, "pushbox.yaml")
			text := fmt.Sprintf("data_dir: %q\n%s\n", filepath.Join(dir, "data"), test.setting)
			env.OK(t, os.WriteFile(file, []byte(text), 0o600))
			for _, name := range test.make {
				err := error(nil)
				if path := filepath.Join(dir, name); strings.HasSuffix(name, "/") {
					err = os.Mkdir(path, 0o700)
				} else {
					err = os.WriteFile(path, nil, 0o600)
				}
				env.OK(t, err)
			}
			src := config.Source{File: file}
			if test.environ != "" {
				src.Environ = []string{test.environ + dir}
			}
			want := test.want
			if want != "" && !filepath.IsAbs(want) {
				want = filepath.Join(dir, want)
			}
			l := mustLoad(t, src)
			env.Equal(t, "got", l.Config.MasterKeyFile, want)
			if test.want == "key/master.key" && valueOf(t, l, "master_key_file").Origin != "directory "+filepath.Join(dir, "key") {
				t.Errorf("its origin is %q", valueOf(t, l, "master_key_file").Origin)
			}
		})
	}
}

func TestAnUnreadableCredential(t *testing.T) {
	t.Parallel()
	file := writeFile(t, "")
	if _, err := os.Stat(file + "/master.key"); errors.Is(err, fs.ErrNotExist) {
		t.Skip("this system says that there is none")
	}
	wantProblem(t, config.Source{Environ: []string{"CREDENTIALS_DIRECTORY=" + file}}, "master_key_file (systemd credential master.key): cannot be read: not a directory")
}

func TestThePathOfTheKeyFile(t *testing.T) {
	t.Parallel()
	c := config.Default()
	c.DataDir = "/var/lib/pushbox"
	if got := c.KeyFile(); got != "/var/lib/pushbox/master.key" {
		t.Errorf("got %s", got)
	}
	c.MasterKeyFile = "/etc/pushbox.key"
	if got := c.KeyFile(); got != "/etc/pushbox.key" {
		t.Errorf("got %s", got)
	}
}
