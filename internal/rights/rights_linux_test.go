package rights_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pushbox/internal/rights"
	"pushbox/internal/testkit/env"
)

const (
	dirVar  = "RIGHTS_TEST_DIR"
	service = 65534
)

// TestMain is also a process of its own, which takes rights and prints those that it has: they are those of a whole process.
func TestMain(m *testing.M) {
	dir := os.Getenv(dirVar)
	if dir == "" {
		os.Exit(m.Run())
	}
	show := func(what string) error {
		status, err := os.ReadFile("/proc/self/status")
		for line := range strings.Lines(string(status)) {
			for _, name := range []string{"Uid:", "Gid:", "Groups:"} {
				if values, is := strings.CutPrefix(line, name); is {
					fmt.Println(what, name, strings.Join(strings.Fields(values)[:min(3, len(strings.Fields(values)))], " "))
				}
			}
		}
		return err
	}
	err := rights.Take(dir)
	if err == nil {
		err = show("taken")
	}
	if err == nil {
		err = rights.AsCaller(func() error { return show("caller") })
	}
	if err == nil {
		err = rights.Beside(filepath.Join(dir, "file"), func() error { return show("beside") })
	}
	if err != nil {
		fmt.Println(err)
	}
}

func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can give directories away")
	}
}

// open gives others the way to a directory of the test.
func open(t *testing.T, dir string) string {
	t.Helper()
	env.OK(t, os.Chmod(filepath.Dir(dir), 0o711))
	return dir
}

func TestTheOwnerOfADirectoryHasNoPowerOverTheProcess(t *testing.T) {
	t.Parallel()
	needRoot(t)
	for name, test := range map[string]struct {
		gid  int
		want string
	}{
		"a group of its own": {service, "taken Uid: 0 65534 0\ntaken Gid: 0 65534 0\ntaken Groups: 65534\n"},
		"the group of root":  {0, "taken Uid: 0 65534 0\ntaken Gid: 0 65534 0\ntaken Groups: 65534\n"},
	} {
		dir := open(t, t.TempDir())
		env.OK(t, os.Chown(dir, service, test.gid))
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), dirVar+"="+dir)
		got := string(env.Must(cmd.Output())(t))
		beside := strings.ReplaceAll(test.want, "taken", "beside")
		if !strings.HasPrefix(got, test.want) || !strings.HasSuffix(got, beside) || !strings.Contains(got, "caller Uid: 0 0 0\ncaller Gid: 0 0 0\n") {
			t.Errorf("%s:\n%s", name, got)
		}
	}
}

func TestTheFirstUserOnTheWayToADirectoryOwnsIt(t *testing.T) {
	t.Parallel()
	needRoot(t)
	top := env.Must(filepath.EvalSymlinks(t.TempDir()))(t)
	at := func(names ...string) string { return filepath.Join(append([]string{top}, names...)...) }
	for _, dir := range []string{at("root", "data"), at("service", "data"), at("root", "given"), at("open", "data")} {
		env.OK(t, os.MkdirAll(dir, 0o700))
	}
	for _, dir := range []string{at("service"), at("root", "given")} {
		env.OK(t, os.Chown(dir, service, service))
	}
	env.OK(t, errors.Join(os.Mkdir(at("service", "third"), 0o700), os.Chown(at("service", "third"), service-1, service-1)))
	env.OK(t, errors.Join(os.Mkdir(at("group"), 0o700), os.Chown(at("group"), 0, service), os.Chmod(at("group"), 0o770)))
	env.OK(t, errors.Join(os.Chmod(at("open"), 0o777), os.Mkdir(at("sticky"), 0o700), os.Chmod(at("sticky"), 0o777|os.ModeSticky)))
	for link, target := range map[string]string{
		at("of-root"):               "root/data",
		at("to-service"):            at("service", "data"),
		at("service", "led"):        "../root/data",
		at("service", "third", "x"): "../data",
		at("root", "data", "up"):    "../../service/data",
		at("root", "data", "way"):   at("root", "data", "way"),
	} {
		env.OK(t, os.Symlink(target, link))
	}
	for path, want := range map[string]string{
		at("root", "data"):              "",
		at("root", "data", "nothing"):   "",
		at("of-root"):                   "",
		at("root", "given"):             at("root", "given"),
		at("root", "given", "nothing"):  at("root", "given"),
		at("service", "data"):           at("service"),
		at("service", "nothing"):        at("service"),
		at("service", "led"):            at("service"),
		at("to-service"):                at("service"),
		at("root", "data", "up"):        at("service"),
		at("root") + "/data/up/../data": at("service"),
		at("service", "third"):          at("service", "third"),
		at("service", "third", "x"):     at("service", "third"),
		at("sticky"):                    "",
	} {
		got, err := rights.Of(path)
		env.OK(t, err)
		if want == "" && got != nil || want != "" && (got == nil || got.At != want) {
			t.Errorf("%s: got %+v, want %q", path, got, want)
		}
	}
	for path, want := range map[string]string{
		at("open", "data"):        "every user can replace files in " + at("open"),
		at("root", "data", "way"): "too many levels of symbolic links",
		at("group", "data"):       "the group 65534 can replace files in " + at("group"),
	} {
		_, err := rights.Of(path)
		env.Contains(t, path, fmt.Sprint(err), want)
	}
	for name, uid := range map[string]int{"of-root": 0, "of-service": service} {
		path := at("sticky", name)
		env.OK(t, errors.Join(os.WriteFile(path, nil, 0o600), os.Chown(path, uid, uid)))
		access := env.Must(rights.At(path))(t)
		env.Equal(t, name, access.Owner() != nil, uid != 0)
	}
}
