package main

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"time"
)

// Whence a file of a package comes: the tree, what goes beside the program, or the
// program itself.

func fromTree(name string) func(job, build) ([]byte, error) {
	return func(j job, _ build) ([]byte, error) { return j.read(name) }
}

func beside(name string) func(job, build) ([]byte, error) {
	return func(_ job, b build) ([]byte, error) { return b.named(name) }
}

func theProgram(_ job, b build) ([]byte, error) { return os.ReadFile(b.path) }

func asGzip(inner func(job, build) ([]byte, error)) func(job, build) ([]byte, error) {
	return func(j job, b build) ([]byte, error) {
		content, err := inner(j, b)
		if err != nil {
			return nil, err
		}
		return zipped(content)
	}
}

const docs = "/usr/share/doc/pushbox/"

// commonFiles are those of every package.
func commonFiles() []installed {
	files := []installed{
		{path: "/usr/bin/pushbox", mode: programMode, content: theProgram},
		{path: "/etc/pushbox/config.yaml", mode: fileMode, kind: "config|noreplace", content: fromTree("deploy/config.yaml")},
		{path: "/usr/lib/systemd/system/pushbox.service", mode: fileMode, content: fromTree("deploy/systemd/pushbox.service")},
		{path: "/usr/lib/sysusers.d/pushbox.conf", mode: fileMode, content: fromTree("deploy/systemd/sysusers.conf")},
		{path: "/usr/lib/tmpfiles.d/pushbox.conf", mode: fileMode, content: fromTree("deploy/systemd/tmpfiles.conf")},
		{path: "/usr/share/man/man1/pushbox.1.gz", mode: fileMode, content: asGzip(beside("pushbox.1"))},
		{path: "/usr/share/bash-completion/completions/pushbox", mode: fileMode, content: beside("completions/pushbox.bash")},
		{path: "/usr/share/fish/vendor_completions.d/pushbox.fish", mode: fileMode, content: beside("completions/pushbox.fish")},
		{path: docs + "config.example.yaml", mode: fileMode, content: fromTree("config.example.yaml")},
	}
	for _, name := range []string{"README.md", "SECURITY.md", "docs/install.md", "docs/operating.md", "docs/proxies.md"} {
		files = append(files, installed{path: docs + path.Base(name), mode: fileMode, content: fromTree(name)})
	}
	for _, name := range []string{"systemd/pushbox.socket", "systemd/low-ports.conf", "nginx.conf", "Caddyfile", "haproxy.cfg", "traefik.yaml", "traefik-dynamic.yaml"} {
		files = append(files, installed{path: docs + "examples/" + path.Base(name), mode: fileMode, content: fromTree("deploy/" + name)})
	}
	return files
}

func debianFiles() []installed {
	return append(commonFiles(),
		installed{path: "/usr/share/zsh/vendor-completions/_pushbox", mode: fileMode, content: beside("completions/pushbox.zsh")},
		installed{path: docs + "copyright", mode: fileMode, content: copyright},
		installed{path: docs + "changelog.gz", mode: fileMode, content: asGzip(fromTree("CHANGELOG.md"))},
		installed{path: docs + "changelog.Debian.gz", mode: fileMode, content: asGzip(debianChangelog)},
		installed{path: "/usr/share/lintian/overrides/pushbox", mode: fileMode, content: fromTree("deploy/package/lintian-overrides")},
	)
}

func redHatFiles() []installed {
	const licences = "/usr/share/licenses/pushbox/"
	return append(commonFiles(),
		installed{path: "/usr/share/zsh/site-functions/_pushbox", mode: fileMode, content: beside("completions/pushbox.zsh")},
		installed{path: docs + "CHANGELOG.md", mode: fileMode, content: fromTree("CHANGELOG.md")},
		installed{path: licences + "LICENSE", mode: fileMode, content: fromTree("LICENSE")},
		installed{path: licences + "THIRD-PARTY-LICENSES", mode: fileMode, content: beside("THIRD-PARTY-LICENSES")},
	)
}

// copyright is where Debian has the conditions of all that is in a package.
func copyright(j job, b build) ([]byte, error) {
	own, err := j.read("LICENSE")
	if err != nil {
		return nil, err
	}
	others, err := b.named("THIRD-PARTY-LICENSES")
	return bytes.Join([][]byte{own, others}, []byte("\n")), err
}

// debianChangelog is that of the package; what is new in pushbox is in the other one.
func debianChangelog(j job, _ build) ([]byte, error) {
	const form = "pushbox (%s-1) unstable; urgency=medium\n\n  * See changelog.gz for what is new.\n\n -- %s  %s\n"
	return fmt.Appendf(nil, form, j.version, maintainer, j.time.Format(time.RFC1123Z)), nil
}
