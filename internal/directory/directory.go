// Package directory asks an LDAP server, such as OpenLDAP or Active Directory, who
// people are: it checks their passwords and reads their groups.
//
// Connections are encrypted, by LDAPS or StartTLS (RFC 4513), and each serves one
// question, or those of a Line. What people type is escaped (RFC 4515). An empty password
// is refused, since servers take a bind without a password for an anonymous one that
// succeeds (RFC 4513, 5.1.2). Referrals are not followed.
package directory

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-ldap/ldap/v3"

	"pushbox/config"
	"pushbox/internal/secret"
)

const (
	dialTimeout   = 5 * time.Second
	answerTimeout = 10 * time.Second // of each operation
	maxLogin      = 256              // bytes
	maxPassword   = 1024             // bytes
	maxGroups     = 1000             // that one person may be in, also by way of other groups
	maxDepth      = 16               // groups within groups
	maxQuestions  = 16               // at the same time
	maxAnswers    = 16 << 20         // bytes, to one question
)

// Options are the settings of the directory, without the files that they name, and more.
type Options struct {
	config.LDAP

	Roots       *x509.CertPool  // of certificate authorities; nil: those that the system trusts
	OtherGroups func() []string // texts that may be DNs: Person.Groups has those that the person is in; nil: none
}

var attributeName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9;-]*$`)

var (
	// ErrCredentials says that the login or the password is wrong.
	ErrCredentials = errors.New("the directory refuses these credentials")

	// ErrNotAllowed says that the person is in none of the allowed groups.
	ErrNotAllowed = errors.New("the person is in no allowed group of the directory")

	// ErrGone says that the directory has no such person, or no longer has one.
	ErrGone = errors.New("the directory has no such person")
)

// A RefusedError is ErrCredentials with the cause, which is not for the person who tries.
type RefusedError struct{ Why string }

func (e *RefusedError) Error() string { return ErrCredentials.Error() + ": " + e.Why }

// Unwrap returns ErrCredentials.
func (e *RefusedError) Unwrap() error { return ErrCredentials }

// An UnavailableError says that the directory could not be asked. The cause names neither
// people nor passwords.
type UnavailableError struct{ cause error }

func (e *UnavailableError) Error() string { return "the directory cannot be asked: " + e.cause.Error() }

// Unwrap returns the cause.
func (e *UnavailableError) Unwrap() error { return e.cause }

// A Directory asks an LDAP server. It is safe for concurrent use.
type Directory struct {
	opt     Options
	address string
	host    string
	tls     bool          // from the first byte on
	asking  chan struct{} // has room for as many questions as there may be at the same time
}

// New checks the options. Their errors name the option.
func New(o Options) (*Directory, error) {
	u, err := url.Parse(o.URL)
	if err != nil || u.Hostname() == "" || u.Scheme != "ldap" && u.Scheme != "ldaps" || strings.Trim(u.Path, "/") != "" || u.User != nil {
		return nil, errors.New("url must be ldaps://HOST or ldap://HOST, optionally with a port")
	}
	for name, dns := range map[string][]string{"bind_dn": {o.BindDN}, "base": {o.Base}, "group_base": {o.GroupBase}, "allowed_groups": o.AllowedGroups, "admin_groups": o.AdminGroups} {
		for _, dn := range dns {
			if _, err := ldap.ParseDN(dn); err != nil {
				return nil, fmt.Errorf("%s must be a distinguished name such as ou=people,dc=example,dc=com: %w", name, err)
			}
		}
	}
	for name, attributes := range map[string][]string{"login_attributes": o.LoginAttributes, "id_attribute": {o.IDAttribute}, "email_attribute": {o.EmailAttribute}, "member_attributes": o.MemberAttributes} {
		for _, a := range attributes {
			if !attributeName.MatchString(a) {
				return nil, fmt.Errorf("%s must be names of attributes, such as uid", name)
			}
		}
	}
	if _, err := ldap.CompileFilter(o.Filter); err != nil {
		return nil, fmt.Errorf("filter must be an LDAP filter such as (objectClass=person): %w", err)
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"ldap": "389", "ldaps": "636"}[u.Scheme]
	}
	if o.GroupBase == "" {
		o.GroupBase = o.Base
	}
	return &Directory{opt: o, address: net.JoinHostPort(u.Hostname(), port), host: u.Hostname(), tls: u.Scheme == "ldaps", asking: make(chan struct{}, maxQuestions)}, nil
}

// An Entry is the one that a login belongs to. One without an ID is no person's.
type Entry struct {
	ID string // Person.ID

	dn    string
	entry *ldap.Entry // nil: the directory has none that can sign in, for the reason why
	why   string
}

// Look finds the entry of a login. *UnavailableError.
func (d *Directory) Look(ctx context.Context, login string) (e Entry, err error) {
	if login == "" || len(login) > maxLogin || !utf8.ValidString(login) {
		return e, nil
	}
	return e, d.ask(ctx, func(c *ldap.Conn) error {
		found, err := d.find(c, anyOf(d.opt.LoginAttributes, login), "what was typed")
		if err == nil {
			e.ID, err = d.id(found)
		}
		switch _, unclear := errors.AsType[*PersonError](err); {
		case err == nil:
			e.dn, e.entry = found.DN, found
		case errors.Is(err, ErrGone), unclear:
			e.dn, e.why = "cn=unknown,"+d.opt.Base, err.Error() // try the password anyway, so that timing does not reveal whether the user exists
		default:
			return err
		}
		return nil
	})
}

// SignIn checks the password of an entry. The errors are ErrCredentials, also as a
// *RefusedError, ErrNotAllowed, with which the person is returned, too, and
// *UnavailableError.
func (d *Directory) SignIn(ctx context.Context, e Entry, password secret.Text) (p Person, err error) {
	if e.dn == "" || password.IsZero() || password.Len() > maxPassword {
		return p, ErrCredentials
	}
	return p, d.ask(ctx, func(c *ldap.Conn) error {
		bound := c.Bind(e.dn, password.Reveal())
		switch {
		case bound != nil && !refuses(bound):
			return bound
		case e.entry == nil:
			return &RefusedError{e.why}
		case bound != nil:
			return &RefusedError{whyRefused(bound)}
		}
		if err := d.bind(c); err != nil { // people may not be allowed to read groups
			return err
		}
		p, err = d.person(c, e.entry)
		if unclear, ok := errors.AsType[*PersonError](err); ok {
			return &RefusedError{unclear.Why}
		}
		return err
	})
}

func (d *Directory) binaryID() bool { return strings.EqualFold(d.opt.IDAttribute, "objectGUID") }

func anyOf(attributes []string, value string) string {
	var f strings.Builder
	for _, name := range attributes {
		f.WriteString("(" + name + "=" + ldap.EscapeFilter(value) + ")")
	}
	return "(|" + f.String() + ")"
}

// find returns the only person that matches a filter. ErrGone if there is none, and a *PersonError
// if there are several.
func (d *Directory) find(c *ldap.Conn, filter, that string) (*ldap.Entry, error) {
	found, err := d.search(c, d.opt.Base, ldap.ScopeWholeSubtree, "(&"+d.opt.Filter+filter+")", 2, d.opt.IDAttribute, d.opt.EmailAttribute)
	if err != nil && !ldap.IsErrorWithCode(err, ldap.LDAPResultSizeLimitExceeded) {
		return nil, err
	}
	switch len(found) {
	case 0:
		return nil, ErrGone
	case 1:
		return found[0], nil
	}
	return nil, &PersonError{"several entries have " + that}
}

func (d *Directory) search(c *ldap.Conn, base string, scope int, filter string, most int, attributes ...string) ([]*ldap.Entry, error) {
	res, err := c.Search(ldap.NewSearchRequest(base, scope, ldap.NeverDerefAliases, most, int(answerTimeout/time.Second), false, filter, attributes, nil))
	if err != nil && (res == nil || !ldap.IsErrorWithCode(err, ldap.LDAPResultSizeLimitExceeded)) {
		return nil, err
	}
	return res.Entries, err
}
