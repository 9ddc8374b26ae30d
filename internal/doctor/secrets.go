package doctor

import (
	"context"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strings"

	"pushbox/internal/clientip"
)

// Bits of a mode, for users who are neither the owner nor in the group.
const othersAll fs.FileMode = 0o007

// checkSecrets reports who can open the files with secrets that settings name, except
// the master key. Certificates and tokens are often shared with a group.
func checkSecrets(_ context.Context, s *Subject) (all []Finding) {
	type secretFile struct{ setting, path string }
	files := []secretFile{
		{"database_url_file", s.Config.DatabaseURLFile},
		{"tls.key_file", s.Config.TLS.KeyFile},
		{"metrics.token_file", s.Config.Metrics.TokenFile},
		{"webhooks.secret_file", s.Config.Webhooks.SecretFile},
		{"mail.password_file", s.Config.Mail.PasswordFile},
		{"ldap.bind_password_file", s.Config.LDAP.BindPasswordFile},
	}
	for _, p := range s.Config.SignIn.OIDC {
		files = append(files, secretFile{"client_secret_file of " + p.Name, p.ClientSecretFile})
	}
	for _, at := range files {
		if at.path != "" {
			all = append(all, judgeSecret(at.setting, at.path))
		}
	}
	if cert := s.Config.TLS.CertFile; cert != "" {
		if _, err := os.ReadFile(cert); err != nil {
			all = append(all, problem("let the server's user read the file, and run doctor as that user; or change tls.cert_file", "tls.cert_file: %v", err))
		}
	}
	if len(all) == 0 {
		all = one(skipped("no setting names a file with a secret"))
	}
	return all
}

func judgeSecret(setting, path string) Finding {
	f, err := os.Open(path)
	if err != nil {
		return problem(fmt.Sprintf("let the server's user read the file, and run doctor as that user; or change %s", setting), "%s: %v", setting, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return problem("change "+setting, "%s: %v", setting, err)
	}
	if mode := perm(info); mode&(othersAll|writable) != 0 {
		return problem("chmod 600 "+path, "%s: other users can open %s (mode %04o)", setting, path, mode)
	}
	return fine("%s: the server can read %s, other users cannot", setting, path)
}

// checkMetrics reports whether other clients than Prometheus can read the metrics.
func checkMetrics(_ context.Context, s *Subject) []Finding {
	m := s.Config.Metrics
	switch {
	case m.Listen == "" && !m.HasToken():
		return one(skipped("metrics are off"))
	case m.HasToken():
		return one(fine("metrics need the token"))
	case !isLoopback(m.Listen):
		return one(warning("set metrics.token_file, or let only Prometheus reach that address", "every client that reaches %s can read them: there is no token", m.Listen))
	}
	return one(fine("metrics are at %s, for programs on this machine", m.Listen))
}

// isLoopback reports whether only this machine reaches a listener at an address.
func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && clientip.IsLoopback(host)
}

const swaps = "/proc/swaps"

func checkSwap(context.Context, *Subject) []Finding {
	text, err := os.ReadFile(swaps)
	if err != nil {
		return one(skipped("this system does not report it"))
	}
	return one(judgeSwap(string(text)))
}

// judgeSwap reads the lines below the head: a name, a kind and sizes. zram does not
// count, since it is memory.
func judgeSwap(text string) Finding {
	var disks []string
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		if name, _, _ := strings.Cut(line, " "); i > 0 && !strings.HasPrefix(name, "/dev/zram") && name != "" {
			disks = append(disks, name)
		}
	}
	if len(disks) == 0 {
		return fine("there is no swap on a disk")
	}
	return warning("encrypt the swap, or set MemorySwapMax=0 in the service unit", "memory with secrets may be written to %s", strings.Join(disks, ", "))
}
