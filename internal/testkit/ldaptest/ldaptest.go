// Package ldaptest runs OpenLDAP's slapd for tests, with a directory of its own.
package ldaptest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-ldap/ldap/v3"

	"pushbox/internal/testkit/certtest"
	"pushbox/internal/testkit/env"
)

// What each directory has.
const (
	Base     = "dc=example,dc=com"
	People   = "ou=people," + Base
	Groups   = "ou=groups," + Base
	Searcher = "cn=searcher," + Base // may read all but passwords
	Password = "directory-marker"    // of Searcher
	root     = "cn=root," + Base
)

// A Server is a slapd.
type Server struct {
	URL       string // ldap://, which takes StartTLS
	SecureURL string // ldaps://
	Authority []byte // the certificate in PEM that signed the server's

	t    testing.TB
	dir  string
	stop func()
}

// New starts a slapd with those entries, in LDIF; without slapd it skips the test. It
// ends with the test.
func New(t testing.TB, ldif string) *Server {
	t.Helper()
	program := "/usr/sbin/slapd"
	if path, err := exec.LookPath("slapd"); err == nil {
		program = path
	} else if _, err := exec.LookPath(program); err != nil {
		t.Skip("slapd is not installed (Debian: apt-get install slapd)")
	}
	s := &Server{t: t, dir: env.ShortDir(t)}
	certificate, authority := certtest.New(t, "127.0.0.1")
	s.Authority = authority
	cert, key := certtest.PEM(t, certificate)
	s.write("ca.pem", string(authority))
	s.write("cert.pem", string(cert))
	s.write("key.pem", string(key))
	settings := s.write("slapd.conf", strings.NewReplacer("DIR", s.dir, "BASE", Base, "SEARCHER", Searcher, "ROOT", root, "PASSWORD", Password).Replace(`
include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
modulepath /usr/lib/ldap
moduleload back_mdb
TLSCACertificateFile DIR/ca.pem
TLSCertificateFile DIR/cert.pem
TLSCertificateKeyFile DIR/key.pem
security simple_bind=128
database mdb
directory DIR/data
suffix BASE
rootdn ROOT
rootpw PASSWORD
access to attrs=userPassword by anonymous auth by * none
access to * by dn.exact=SEARCHER read by anonymous auth by * none
`))
	env.OK(t, os.Mkdir(filepath.Join(s.dir, "data"), 0o700))
	plain, secure := env.FreeAddress(t), env.FreeAddress(t)
	s.URL, s.SecureURL = "ldap://"+plain, "ldaps://"+secure
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, program, "-d", "0", "-f", settings, "-h", s.URL+" "+s.SecureURL)
	cmd.Stderr = os.Stderr
	env.OK(t, cmd.Start())
	s.stop = func() {
		cancel()
		_ = cmd.Wait() // it was killed
	}
	t.Cleanup(s.Stop)
	env.Eventually(t, "slapd takes connections", func() bool {
		c, err := net.Dial("tcp", secure)
		return err == nil && c.Close() == nil
	})
	s.Add(fmt.Sprintf("dn: %s\nobjectClass: dcObject\nobjectClass: organization\no: Example\n\ndn: %s\nobjectClass: organizationalUnit\n\ndn: %s\nobjectClass: organizationalUnit\n\ndn: %s\nobjectClass: applicationProcess\nobjectClass: simpleSecurityObject\nuserPassword: %s\n\n",
		Base, People, Groups, Searcher, Password) + ldif)
	return s
}

func (s *Server) write(name, text string) string {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	env.OK(s.t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// Stop ends the server.
func (s *Server) Stop() { s.stop() }

// Roots has the authority that signed the server's certificate.
func (s *Server) Roots() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(s.Authority)
	return pool
}

// Add adds entries in a simple LDIF: each line is a name and a value, and lines are not
// folded. An entry without an attribute of its RDN gets it.
func (s *Server) Add(ldif string) {
	s.t.Helper()
	s.do(func(c *ldap.Conn) error {
		for _, text := range strings.Split(strings.TrimSpace(ldif), "\n\n") {
			var in *ldap.AddRequest
			values := make(map[string][]string)
			var order []string
			for line := range strings.Lines(text) {
				name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
				if name == "dn" {
					in = ldap.NewAddRequest(value, nil)
					dn, err := ldap.ParseDN(value)
					if err != nil {
						return err
					}
					rdn := dn.RDNs[0].Attributes[0]
					name, value = rdn.Type, rdn.Value
				}
				if values[name] == nil {
					order = append(order, name)
				}
				values[name] = append(values[name], value)
			}
			for _, name := range order {
				in.Attribute(name, values[name])
			}
			if err := c.Add(in); err != nil {
				return fmt.Errorf("%s: %w", in.DN, err)
			}
		}
		return nil
	})
}

// Set replaces the values of an attribute; without values it removes the attribute.
func (s *Server) Set(dn, attribute string, values ...string) {
	s.t.Helper()
	in := ldap.NewModifyRequest(dn, nil)
	in.Replace(attribute, values)
	s.do(func(c *ldap.Conn) error { return c.Modify(in) })
}

// Remove removes an entry.
func (s *Server) Remove(dn string) {
	s.t.Helper()
	s.do(func(c *ldap.Conn) error { return c.Del(ldap.NewDelRequest(dn, nil)) })
}

func (s *Server) do(f func(*ldap.Conn) error) {
	s.t.Helper()
	c, err := ldap.DialURL(s.SecureURL, ldap.DialWithTLSConfig(&tls.Config{RootCAs: s.Roots()}))
	if err == nil {
		if err = c.Bind(root, Password); err == nil {
			err = f(c)
		}
		_ = c.Close()
	}
	env.OK(s.t, err)
}
