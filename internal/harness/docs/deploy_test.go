package docs

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"pushbox/internal/proctest"
	"pushbox/internal/testkit/env"
)

const unit = "deploy/systemd/pushbox.service"

// TestTheUnitIsExposedToLittle lets systemd rate the unit, with and without the right
// to low ports: 0 is a service that may do nothing, 10 one that may do everything.
func TestTheUnitIsExposedToLittle(t *testing.T) {
	t.Parallel()
	analyze := proctest.Installed(t, "systemd-analyze", "systemd")
	dir := t.TempDir()
	plain := readFile(t, unit)
	ports := readFile(t, "deploy/systemd/low-ports.conf")
	several := readFile(t, "deploy/scaling/pushbox@.service")
	if !strings.Contains(string(several), "\n[Install]\nWantedBy=multi-user.target\n") {
		t.Error("the unit for several servers cannot be enabled")
	}
	for name, text := range map[string]string{"pushbox.service": string(plain), "ports.service": string(plain) + string(ports), "pushbox@5101.service": string(several)} {
		path := filepath.Join(dir, name)
		env.OK(t, os.WriteFile(path, []byte(strings.ReplaceAll(text, "/usr/bin/pushbox", "/bin/true")), 0o600))
		output, err := exec.CommandContext(t.Context(), analyze, "security", "--offline=true", "--no-pager", path).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, output)
		}
		m := regexp.MustCompile(`Overall exposure level for \S+: ([0-9.]+)`).FindSubmatch(output)
		if m == nil {
			t.Fatalf("no rating: %s", output)
		}
		if rating, err := strconv.ParseFloat(string(m[1]), 64); err != nil || rating > 1.5 {
			t.Errorf("%s is rated %s: %v\n%s", name, m[1], err, output)
		}
		if output, err := exec.CommandContext(t.Context(), analyze, "verify", "--man=no", path).CombinedOutput(); err != nil || strings.Contains(string(output), name) {
			t.Errorf("%s: %v\n%s", name, err, output)
		}
	}
}

// TestThePackagesSettingsAreSettings also checks that the settings fit the unit and the
// other files.
func TestThePackagesSettingsAreSettings(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "pushbox", "config", "print", "--config", "deploy/config.yaml")
	cmd.Env = proctest.Environ()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{`data_dir: "/var/lib/pushbox"`, `listen: "127.0.0.1:5100"`} {
		if !strings.Contains(string(out), want) {
			t.Errorf("%s is not in force:\n%s", want, out)
		}
	}
	text := readFile(t, unit)
	for _, want := range []string{"\nStateDirectory=pushbox\n", "\nStateDirectoryMode=0700\n", "serve --config /etc/pushbox/config.yaml\n"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the unit does not say %q", want)
		}
	}
}

// A workload is what these tests check in the files of Kubernetes and Compose.
type workload struct {
	Kind     string
	Services map[string]struct{ Environment map[string]string }
	Spec     struct {
		Strategy struct{ Type string }
		Template struct {
			Spec struct {
				EnableServiceLinks *bool `yaml:"enableServiceLinks"`
				SecurityContext    struct {
					RunAsUser           int    `yaml:"runAsUser"`
					FSGroupChangePolicy string `yaml:"fsGroupChangePolicy"`
				} `yaml:"securityContext"`
				Containers []struct {
					Env []struct{ Name, Value string }
				}
			}
		}
	}
}

// TestTheKeyIsApartFromTheDataByDefault: in each file, the key is in another place than the
// data, and what needs it there can write to it.
func TestTheKeyIsApartFromTheDataByDefault(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]string{
		"compose.yaml":            {"- data:/data", "- key:/key", "PUSHBOX_MASTER_KEY_FILE: /key/master.key", "\n  key: {}"},
		"kubernetes.yaml":         {"value: /data/pushbox}", "value: /run/key/master.key}", "{name: key, mountPath: /run/key, readOnly: true}"},
		"Containerfile":           {"PUSHBOX_DATA_DIR=/data", "PUSHBOX_MASTER_KEY_FILE=/key/master.key", "--chown=65532:65532 --chmod=0700 /out/key /key", "\nVOLUME /data\n"},
		"systemd/pushbox.service": {"\nReadWritePaths=-/etc/pushbox/key\n", "--config /etc/pushbox/config.yaml\n"},
		"systemd/tmpfiles.conf":   {"\nd /etc/pushbox/key 0700 pushbox pushbox\n"},
		"package/deb-postinst.sh": {"for dir in /var/lib/pushbox /etc/pushbox/key; do"},
		"package/rpm-postinst.sh": {"for dir in /var/lib/pushbox /etc/pushbox/key; do"},
	} {
		text := readFile(t, filepath.Join("deploy", name))
		for _, part := range want {
			if !strings.Contains(string(text), part) {
				t.Errorf("%s lacks %q", name, part)
			}
		}
	}
}

// TestContainersAreCheckedByTheProgram: there is no other program in the image.
func TestContainersAreCheckedByTheProgram(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Containerfile": `HEALTHCHECK --interval=30s --timeout=10s --start-period=10m --retries=3 CMD ["/pushbox", "healthcheck"]`,
		"compose.yaml":  `test: ["CMD", "/pushbox", "healthcheck"]`,
	} {
		text := readFile(t, filepath.Join("deploy", name))
		if !strings.Contains(string(text), want) {
			t.Errorf("%s lacks %q", name, want)
		}
	}
}

// TestContainersAreGivenSettingsThatExist lets the program read the environment
// variables of each file as settings.
func TestContainersAreGivenSettingsThatExist(t *testing.T) {
	t.Parallel()
	variables := make(map[string][]string)
	for _, name := range []string{"kubernetes.yaml", "compose.yaml", "scaling/kubernetes.yaml", "scaling/compose.yaml"} {
		for d := yaml.NewDecoder(bytes.NewReader(readFile(t, filepath.Join("deploy", name)))); ; {
			var w workload
			if err := d.Decode(&w); err != nil {
				break
			}
			for service, of := range w.Services {
				if !strings.HasPrefix(service, "pushbox") {
					continue
				}
				for key, value := range of.Environment {
					variables[name] = append(variables[name], key+"="+value)
				}
			}
			pod := w.Spec.Template.Spec
			for _, c := range pod.Containers {
				for _, v := range c.Env {
					variables[name] = append(variables[name], v.Name+"="+v.Value)
				}
			}
			recreates := w.Spec.Strategy.Type == "Recreate"
			if w.Kind == "Deployment" && (recreates == strings.HasPrefix(name, "scaling/") || pod.EnableServiceLinks == nil || *pod.EnableServiceLinks ||
				pod.SecurityContext.RunAsUser != 65532 || pod.SecurityContext.FSGroupChangePolicy != "OnRootMismatch") {
				t.Errorf("two pods could open one file, or it does not start: %+v", w)
			}
		}
	}
	image := readFile(t, "deploy/Containerfile")
	variables["Containerfile"] = regexp.MustCompile(`PUSHBOX_\w+=\S+`).FindAllString(string(image), -1)
	unit := readFile(t, "deploy/scaling/pushbox@.service")
	variables["scaling/pushbox@.service"] = regexp.MustCompile(`PUSHBOX_\w+=\S+`).FindAllString(strings.NewReplacer("%i", "5101", "%S", "/var/lib", "%d", "/run").Replace(string(unit)), -1)
	for name, given := range variables {
		cmd := exec.CommandContext(t.Context(), "pushbox", "config", "print")
		cmd.Env = append(proctest.Environ(), given...)
		if out, err := cmd.CombinedOutput(); err != nil || len(given) < 2 {
			t.Errorf("%s: %q: %v\n%s", name, given, err, out)
		}
	}
	env.Equal(t, "files were read", len(variables), 6)
}
