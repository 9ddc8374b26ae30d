package docs

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pushbox/internal/proctest"
	"pushbox/internal/testkit/env"
)

// asked runs a play on this machine that looks a secret up with the plugin, and prints the links.
func (s *shell) asked(ansible, lookup string, more ...string) (string, error) {
	s.t.Helper()
	play := filepath.Join(s.t.TempDir(), "play.yml")
	env.OK(s.t, os.WriteFile(play, []byte("- hosts: localhost\n  gather_facts: false\n  tasks:\n"+
		"    - ansible.builtin.set_fact: {links: \"{{ "+lookup+" }}\"}\n    - ansible.builtin.debug: {var: links}\n"), 0o600))
	cmd := exec.CommandContext(s.t.Context(), ansible, "-vvv", "-i", "localhost,", "-c", "local", play)
	cmd.Env = append(append(s.env, "ANSIBLE_LOOKUP_PLUGINS="+absolute(s.t, "deploy/ansible/lookup_plugins"), "ANSIBLE_NOCOLOR=1", "HOME="+s.t.TempDir(), "PUSHBOX_URL="+s.url), more...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TestAnsibleSendsSecrets: the lookup makes pushes of the account, and nothing of them or of the token is in what
// Ansible prints, even at its most talkative.
func TestAnsibleSendsSecrets(t *testing.T) {
	t.Parallel()
	ansible := proctest.Installed(t, "ansible-playbook", "ansible-core")
	s := newShell(t)
	s.makeToken()
	out, err := s.asked(ansible, `query('pushbox', lookup('env', 'TEXT'), 'another', views=2, days=3, passphrase=lookup('env', 'PIN'), label='by a play')`,
		"TEXT=canary ü one", "PIN=canary pin")
	links := regexp.MustCompile(`http://[^"/]+/p/[a-z2-7]{34}(?:/r)?`).FindAllString(out, -1)
	if err != nil || len(links) != 4 || strings.Contains(out, "canary") {
		t.Fatalf("%v, %d links\n%s", err, len(links), out)
	}
	token := strings.Split(links[0], "/")[4]
	request := env.Must(http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/api/v2/pushes/"+token, http.NoBody))(t)
	request.Header.Set("X-Push-Passphrase", "canary pin")
	answer := env.Must(http.DefaultClient.Do(request))(t)
	defer func() { _ = answer.Body.Close() }()
	var push struct {
		Payload    string
		Days       int  `json:"expire_after_days"`
		Views      int  `json:"expire_after_views"`
		Passphrase bool `json:"passphrase_protected"`
	}
	env.OK(t, json.Unmarshal(env.Must(io.ReadAll(answer.Body))(t), &push))
	if push.Payload != "canary ü one" || push.Days != 3 || push.Views != 2 || !push.Passphrase {
		t.Errorf("%+v", push)
	}
	for name, test := range map[string]struct{ options, variable, want string }{
		"a field that is refused":    {"views=0", "", "refused the secret: 422"},
		"a token that is not valid":  {"views=1", "API_TOKEN=canary-token", "refused the secret: 401"},
		"a server that is not there": {"views=1", "PUSHBOX_URL=http://127.0.0.1:1", "took no secret"},
		"a file that is not there":   {"views=1", "PUSHBOX_TOKEN_FILE=/nowhere", "cannot be read: FileNotFoundError"},
	} {
		out, err := s.asked(ansible, "query('pushbox', lookup('env', 'TEXT'), "+test.options+")", "TEXT=canary", test.variable)
		if err == nil || strings.Contains(out, "canary") || !strings.Contains(out, test.want) {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

// TestTheRoleFitsTheArchive: its syntax is right, and the files that it takes from an archive are in it.
func TestTheRoleFitsTheArchive(t *testing.T) {
	t.Parallel()
	const tasks = "deploy/ansible/roles/pushbox/tasks/main.yml"
	found := regexp.MustCompile(`\{src: (deploy/\S+), dest: (\S+),`).FindAllStringSubmatch(string(readFile(t, tasks)), -1)
	for _, m := range found {
		readFile(t, m[1])
		env.Contains(t, "docs/install.md", string(readFile(t, "docs/install.md")), m[1]+" "+m[2])
	}
	env.Equal(t, "files are installed", len(found), 3)
	ansible := proctest.Installed(t, "ansible-playbook", "ansible-core")
	out, err := exec.CommandContext(t.Context(), ansible, "--syntax-check", "-i", "localhost,", absolute(t, "deploy/ansible/site.yml")).CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
