//go:build linux

package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pushbox/internal/testkit/env"
)

const drillLimit = 10 * time.Minute

// drillUnit runs the drill when the container has booted, and then turns it off.
const drillUnit = `[Unit]
After=multi-user.target
[Service]
Type=oneshot
ExecStart=/bin/sh /drill/drill.sh
StandardOutput=append:/drill/log
StandardError=append:/drill/log
ExecStopPost=/bin/systemctl poweroff --no-block
[Install]
WantedBy=multi-user.target
`

// TestTheDebianPackageWorksFromInstallToPurge builds a release twice, compares both,
// and installs the Debian package in a container that boots: the real unit, scripts,
// limits and credentials. It needs root, mmdebstrap, systemd-container, lintian and a
// Debian mirror, takes minutes, and runs only with PUSHBOX_TEST_RELEASE=1.
func TestTheDebianPackageWorksFromInstallToPurge(t *testing.T) {
	env.Length(t, "PUSHBOX_TEST_RELEASE")
	t.Parallel()
	dir, dist := t.TempDir(), filepath.Join(t.TempDir(), "dist")
	var out, notes strings.Builder
	if err := command(t.Context(), []string{"--target", "linux/amd64", "--dist", dist, "--verify", "--allow-changes", "--without-vulncheck"}, &out, &notes); err != nil {
		t.Fatalf("%v\n%s", err, &notes)
	}
	deb, archive := only(t, dist, "*.deb"), only(t, dist, "*.tar.gz")
	env.Equal(t, "lintian", do(t, "lintian", "--allow-root", "--fail-on", "error,warning", "--tag-display-limit", "0", deb), "")
	root := filepath.Join(dir, "root")
	do(t, "mmdebstrap", "--quiet", "--variant=minbase", "--include=systemd,systemd-sysv,dbus,curl,procps", "bookworm", root)
	equip(t, filepath.Join(root, "drill"), deb)
	do(t, "cp", archive, filepath.Join(root, "drill"))
	env.OK(t, os.WriteFile(filepath.Join(root, "etc/systemd/system/drill.service"), []byte(drillUnit), fileMode))
	do(t, "systemctl", "--root="+root, "enable", "drill.service")
	ctx, cancel := context.WithTimeout(t.Context(), drillLimit)
	defer cancel()
	boot := exec.CommandContext(ctx, "systemd-nspawn", "-D", root, "--register=no", "--keep-unit", "--private-network", "--console=pipe", "-b")
	said, err := boot.CombinedOutput()
	log, _ := os.ReadFile(filepath.Join(root, "drill/log"))
	if err != nil || !strings.HasSuffix(string(log), "\ndrill: done\n") {
		t.Errorf("%v\n%.3000s\n%s", err, said, log)
	}
}

// equip puts the files of the drill into a directory: its script, the package, and an
// older version of the package.
func equip(t *testing.T, dir, deb string) {
	t.Helper()
	env.OK(t, os.Mkdir(dir, dirMode))
	do(t, "cp", "testdata/drill.sh", dir)
	do(t, "cp", deb, filepath.Join(dir, "new.deb"))
	old := filepath.Join(dir, "old")
	do(t, "dpkg-deb", "-R", deb, old)
	do(t, "sed", "-i", "s/^Version:.*/Version: 2.9.9-1/", filepath.Join(old, "DEBIAN/control"))
	// Its settings are a conffile, whose change must not stop an upgrade with a question.
	settings := filepath.Join(old, "etc/pushbox/config.yaml")
	do(t, "install", "-D", filepath.Join(old, "usr/share/pushbox/config.yaml"), settings)
	do(t, "sed", "-i", "1i # of an older version", settings)
	env.OK(t, os.WriteFile(filepath.Join(old, "DEBIAN/conffiles"), []byte("/etc/pushbox/config.yaml\n"), fileMode))
	do(t, "dpkg-deb", "--root-owner-group", "-Znone", "-b", old, filepath.Join(dir, "old.deb"))
}

// only returns the only file that matches a pattern.
func only(t *testing.T, dir, pattern string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(names) != 1 {
		t.Fatalf("%s: %v, %v", pattern, names, err)
	}
	return names[0]
}
