//go:build unix

package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
)

// service is the user that a server runs as.
const service = 65534

// give makes files belong to a user.
func give(t *testing.T, uid int, paths ...string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	for _, path := range paths {
		env.OK(t, os.Chown(path, uid, uid))
	}
}

func TestAKeyThatTheServerCannotReadIsNamed(t *testing.T) {
	t.Parallel()
	const denied = "open master.key: permission denied"
	stopped := func(s *Subject) { s.Running = false }
	refused := func(s *Subject) { s.Facts.KeyFault = denied }
	unopened := func(s *Subject) {
		s.Config.MasterKeyFile, s.Running, s.Facts = s.Facts.Key, false, nil
	}
	for name, test := range map[string]struct {
		near, key int // owners of the key's directory and of the key
		state     func(*Subject)
		grade     Grade
		text      string
		cure      string
	}{
		"of the service":                       {service, service, stopped, OK, "it fits", ""},
		"of root, beside the service's files":  {service, 0, stopped, Problem, "belongs to user 0, and the data directory to user 65534", "chown 65534 "},
		"of root, in a directory of root":      {0, 0, stopped, Warning, "belongs to user 0, and the data directory to user 65534", "if neither systemd nor a container passes the key"},
		"of another user":                      {0, 1234, stopped, Warning, "belongs to user 1234", "chown 65534 "},
		"that a server has just read":          {0, 0, func(*Subject) {}, OK, "it fits", ""},
		"that a server cannot read again":      {0, 0, refused, Problem, denied, "chown 65534 "},
		"of the service, and another":          {0, service, refused, Problem, denied, "put your copy of the key back"},
		"of root, before there is a database":  {0, 0, unopened, Warning, "belongs to user 0", "chown 65534 "},
		"of the service, without a database":   {0, service, unopened, Skipped, "cannot be opened", ""},
		"of root, before an upgrade":           {0, 0, func(s *Subject) { unopened(s); older(s, 1) }, Warning, "belongs to user 0", "chown 65534 "},
		"of root, with the key in the setting": {0, 0, func(s *Subject) { unopened(s); s.Config.MasterKey = secret.New("key") }, Skipped, "cannot be opened", ""},
	} {
		s := healthy(t)
		give(t, service, s.Config.DataDir, s.Database)
		give(t, test.near, filepath.Dir(s.Facts.Key))
		give(t, test.key, s.Facts.Key)
		test.state(s)
		f := of(t, s, "master key")
		if wants(t, name, f, test.grade, test.text); !strings.Contains(f.Cure, test.cure) {
			t.Errorf("%s: the cure is %q", name, f.Cure)
		}
	}
}

func TestAKeyOfAnotherUserIsNoMatterOfAServerOfRoot(t *testing.T) {
	t.Parallel()
	s := healthy(t)
	s.Running = false
	give(t, service, s.Facts.Key)
	wants(t, "root reads it", of(t, s, "master key"), OK, "it fits")
}
