package doctor

import (
	"context"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"strings"
)

// Bits of a mode, for users who are neither the owner nor in the group.
const othersAll fs.FileMode = 0o007

// checkSecrets tells who can open the files with secrets that settings name, beside
// the master key. Certificates and tokens are often shared with a group.
func checkSecrets(_ context.Context, s *Subject) (all []Finding) {
	for _, at := range []struct{ setting, path string }{
		{"tls.key_file", s.Config.TLS.KeyFile},
		{"metrics.token_file", s.Config.Metrics.TokenFile},
		{"webhooks.secret_file", s.Config.Webhooks.SecretFile},
		{"mail.password_file", s.Config.Mail.PasswordFile},
	} {
		if at.path != "" {
			all = append(all, judgeSecret(at.setting, at.path))
		}
	}
	if len(all) == 0 {
		all = one(skipped("no setting names one"))
	}
	return all
}

func judgeSecret(setting, path string) Finding {
	f, err := os.Open(path)
	if err != nil {
		return problem(fmt.Sprintf("let the user that the server runs as read it, and run doctor as that user; or change %s", setting), "%s: %v", setting, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return problem("change "+setting, "%s: %v", setting, err)
	}
	if mode := perm(info); mode&(othersAll|writable) != 0 {
		return problem("chmod 600 "+path, "%s: other users can open %s (mode %04o)", setting, path, mode)
	}
	return fine("%s: %s can be read, and not by everybody", setting, path)
}

// checkMetrics tells whether who is not Prometheus can read how much the server is used.
func checkMetrics(_ context.Context, s *Subject) []Finding {
	m := s.Config.Metrics
	switch {
	case m.Listen == "" && m.TokenFile == "":
		return one(skipped("they are off"))
	case m.TokenFile != "":
		return one(fine("who asks for them needs the token"))
	case !isLoopback(m.Listen):
		return one(warning("set metrics.token_file, or let Prometheus alone reach that address", "whoever reaches %s can read them: metrics.listen without a token", m.Listen))
	}
	return one(fine("they are at %s, for programs on this machine", m.Listen))
}

// isLoopback reports whether only this machine reaches a listener at an address.
func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.IsLoopback() || strings.EqualFold(host, "localhost")
}
