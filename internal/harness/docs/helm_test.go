package docs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"pushbox/internal/proctest"
	"pushbox/internal/testkit/env"
)

const chart = "deploy/helm/pushbox"

// helm runs helm: that of this machine, or in the long run one that is built from its module.
func helm(t *testing.T, args ...string) (string, error) {
	t.Helper()
	program, err := exec.LookPath("helm")
	if err != nil {
		env.NeedLong(t, "helm is not installed here, and building it takes minutes")
		cmd := exec.CommandContext(t.Context(), "go", "tool", "-n", "helm")
		cmd.Dir = absolute(t, "internal/tools/helm")
		cmd.Env = append(proctest.Environ(), "CGO_ENABLED=0")
		program = strings.TrimSpace(string(env.Must(cmd.Output())(t)))
	}
	out, err := exec.CommandContext(t.Context(), program, args...).CombinedOutput()
	return string(out), err
}

// rendered returns the objects that the chart gives with some values.
func rendered(t *testing.T, release string, values ...string) []map[string]any {
	t.Helper()
	args := []string{"template", release, absolute(t, chart), "--kube-version", "1.30.0"}
	for _, v := range values {
		args = append(args, "--set-string", v)
	}
	return objects(t, env.Must(helm(t, args...))(t))
}

// objects reads objects, in the order of their kinds.
func objects(t *testing.T, text string) (all []map[string]any) {
	t.Helper()
	defer func() {
		slices.SortFunc(all, func(a, b map[string]any) int { return strings.Compare(fmt.Sprint(a["kind"]), fmt.Sprint(b["kind"])) })
	}()
	for d := yaml.NewDecoder(strings.NewReader(text)); ; {
		var o map[string]any
		err := d.Decode(&o)
		if errors.Is(err, io.EOF) {
			return all
		}
		env.OK(t, err)
		all = append(all, o)
	}
}

// TestTheChartGivesTheFileForKubernetes: with its own values, so that there is one way to run pushbox
// there, told twice.
func TestTheChartGivesTheFileForKubernetes(t *testing.T) {
	t.Parallel()
	if out, err := helm(t, "lint", "--strict", absolute(t, chart)); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got, want := rendered(t, "pushbox"), objects(t, string(readFile(t, "deploy/kubernetes.yaml")))
	if len(want) != 3 || !reflect.DeepEqual(got, want) {
		t.Errorf("the chart gives\n%v\nand the file has\n%v", got, want)
	}
}

// TestTheChartTakesItsValues gives each value, and lets the program read the settings.
func TestTheChartTakesItsValues(t *testing.T) {
	t.Parallel()
	got := rendered(t, "other", "image=registry.example/pushbox:x", "baseURL=https://secret.example", "trustedProxies=192.0.2.0/24",
		"keySecret=its-key", "env.PUSHBOX_ALLOW_ANONYMOUS=false", "storage.size=1Gi", "storage.className=fast", "resources.limits.memory=1Gi")
	if kinds := len(got); kinds != 3 {
		t.Fatalf("%d objects: an ingress was not asked for", kinds)
	}
	var text bytes.Buffer
	env.OK(t, yaml.NewEncoder(&text).Encode(got))
	for _, want := range []string{
		"registry.example/pushbox:x", "https://secret.example", "192.0.2.0/24", "secretName: its-key", "claimName: other", "storageClassName: fast",
		"storage: 1Gi", "memory: 1Gi",
	} {
		env.Contains(t, "it", text.String(), want)
	}
	var w workload
	env.OK(t, yaml.Unmarshal(env.Must(yaml.Marshal(got[0]))(t), &w)) // the deployment
	cmd := exec.CommandContext(t.Context(), "pushbox", "config", "print")
	cmd.Env = proctest.Environ()
	for _, v := range w.Spec.Template.Spec.Containers[0].Env {
		cmd.Env = append(cmd.Env, v.Name+"="+v.Value)
	}
	out, err := cmd.CombinedOutput()
	env.OK(t, err)
	env.Contains(t, "the settings", string(out), "allow_anonymous: false")
}

func TestTheChartMakesAnIngress(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "values.yaml")
	env.OK(t, os.WriteFile(file, []byte("baseURL: https://secret.example:8443\ningress: {enabled: true, className: nginx, tlsSecret: cert, annotations: {a: b}}\n"), 0o600))
	got := objects(t, env.Must(helm(t, "template", "pushbox", absolute(t, chart), "--kube-version", "1.30.0", "-f", file))(t))
	i := slices.IndexFunc(got, func(o map[string]any) bool { return o["kind"] == "Ingress" })
	if i < 0 {
		t.Fatalf("there is none: %v", got)
	}
	text := string(env.Must(yaml.Marshal(got[i]))(t))
	for _, want := range []string{"host: secret.example\n", "ingressClassName: nginx", "secretName: cert", "a: b", "name: pushbox"} {
		env.Contains(t, "it", text, want)
	}
}

// TestTheChartRefusesWrongValues: with the reason, before anything is installed.
func TestTheChartRefusesWrongValues(t *testing.T) {
	t.Parallel()
	for value, reason := range map[string]string{"baseURL=push.example.com": "baseURL", "env.LISTEN=:80": "LISTEN", "replicas=2": "replicas", "keySecret=": "keySecret"} {
		if out, err := helm(t, "template", "pushbox", absolute(t, chart), "--kube-version", "1.30.0", "--set-string", value); err == nil || !strings.Contains(out, reason) {
			t.Errorf("%s: %v\n%s", value, err, out)
		}
	}
}
