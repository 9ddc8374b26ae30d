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
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/go-ldap/ldap/v3"

	"pushbox/internal/hint"
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

// Options say where the directory is and how its entries look.
type Options struct {
	URL              string         // ldaps://HOST, or ldap://HOST, which begins with StartTLS
	Roots            *x509.CertPool // of certificate authorities; nil: those that the system trusts
	BindDN           string         // what searches; empty: an anonymous bind
	BindPassword     secret.Text
	Base             string   // where people are
	Filter           string   // which entries are people who may sign in
	LoginAttributes  []string // what people may type: one of these attributes has it
	IDAttribute      string   // what names a person for good, such as entryUUID; objectGUID is read as bytes
	EmailAttribute   string
	GroupBase        string          // where groups are; empty: Base
	MemberAttributes []string        // of groups: they have the DNs of their members
	AllowedGroups    []string        // DNs; people in none of them are refused; none: all people may sign in
	AdminGroups      []string        // DNs; people in one of them are administrators; none: the directory does not say
	OtherGroups      func() []string // texts that may be DNs: Person.Groups has those that the person is in; nil: none
}

var attributeName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9;-]*$`)

// A Person is an entry of the directory.
type Person struct {
	ID     string   // the value of IDAttribute; in hexadecimal if it is objectGUID
	Email  string   // as the directory has it
	Admin  bool     // in one of AdminGroups
	Groups []string // of OtherGroups
}

var (
	// ErrCredentials says that the login or the password is wrong.
	ErrCredentials = errors.New("the directory refuses these credentials")

	// ErrNotAllowed says that the person is in none of the allowed groups.
	ErrNotAllowed = errors.New("the person is in none of the allowed groups of the directory")

	// ErrGone says that the directory has no such person, or no longer has one.
	ErrGone = errors.New("the directory has no such person")
)

// A PersonError says that the directory answers, and why its answer says nothing of one person.
type PersonError struct{ Why string }

func (e *PersonError) Error() string { return e.Why }

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
		return nil, errors.New("url must be ldaps://HOST or ldap://HOST, perhaps with a port")
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
		var of *PersonError
		switch {
		case err == nil:
			e.dn, e.entry = found.DN, found
		case errors.Is(err, ErrGone), errors.As(err, &of):
			e.dn, e.why = "cn=unknown,"+d.opt.Base, err.Error() // the password is asked for, too, else the time would tell
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
		var of *PersonError
		if errors.As(err, &of) {
			return &RefusedError{of.Why}
		}
		return err
	})
}

// Find reads the person of an ID again. The errors are ErrGone, ErrNotAllowed, *PersonError and
// *UnavailableError.
func (l *Line) Find(ctx context.Context, id string) (p Person, err error) {
	d := l.d
	value := ldap.EscapeFilter(id)
	if d.binaryID() {
		b, err := hex.DecodeString(id)
		if err != nil {
			return p, &PersonError{"the ID that is known is no " + d.opt.IDAttribute}
		}
		value = ""
		for _, c := range b {
			value += fmt.Sprintf(`\%02x`, c)
		}
	}
	return p, l.ask(ctx, func(c *ldap.Conn) error {
		e, err := d.find(c, "("+d.opt.IDAttribute+"="+value+")", "the "+d.opt.IDAttribute)
		if err != nil {
			return err
		}
		p, err = d.person(c, e)
		return err
	})
}

func (d *Directory) binaryID() bool { return strings.EqualFold(d.opt.IDAttribute, "objectGUID") }

// anyOf is a filter for entries that have the value in one of the attributes.
func anyOf(attributes []string, value string) string {
	var f strings.Builder
	for _, name := range attributes {
		f.WriteString("(" + name + "=" + ldap.EscapeFilter(value) + ")")
	}
	return "(|" + f.String() + ")"
}

// A Line asks the directory one question after the other, over one connection as long as that
// lasts. It is not safe for concurrent use.
type Line struct {
	d    *Directory
	c    *ldap.Conn    // nil: there is none
	left *atomic.Int64 // bytes that may still come in answer to the question
}

// Line returns one, which connects when it is asked.
func (d *Directory) Line() *Line { return &Line{d: d, left: new(atomic.Int64)} }

// Close ends the connection.
func (l *Line) Close() {
	if l.c != nil {
		_ = l.c.Close() // it was only asked
		l.c = nil
	}
}

// ask asks one question, over a connection of its own.
func (d *Directory) ask(ctx context.Context, f func(*ldap.Conn) error) error {
	l := d.Line()
	defer l.Close()
	return l.ask(ctx, f)
}

// ask calls f with a connection of the account that searches. A connection that has ended since
// the question before is replaced. Errors of the connection become an *UnavailableError.
func (l *Line) ask(ctx context.Context, f func(*ldap.Conn) error) error {
	select {
	case l.d.asking <- struct{}{}:
		defer func() { <-l.d.asking }()
	case <-ctx.Done():
		return &UnavailableError{context.Cause(ctx)}
	}
	old := l.c != nil
	err := l.try(ctx, f)
	if old && l.c == nil && ctx.Err() == nil {
		err = l.try(ctx, f)
	}
	return err
}

// try is ask without another try. After an *UnavailableError there is no connection.
func (l *Line) try(ctx context.Context, f func(*ldap.Conn) error) (err error) {
	l.left.Store(maxAnswers)
	isNew := l.c == nil
	if isNew {
		if l.c, err = l.d.connect(ctx, l.left); err != nil {
			l.c = nil
			return &UnavailableError{hint.With(err, "%s", cureOf(err))}
		}
	}
	c := l.c
	stop := context.AfterFunc(ctx, func() { _ = c.Close() }) // ends what waits
	if isNew {
		err = l.d.bind(c)
	}
	if err == nil {
		err = f(c)
	}
	ended := !stop()
	var of *PersonError
	isAnswer := err == nil || errors.Is(err, ErrCredentials) || errors.Is(err, ErrNotAllowed) || errors.Is(err, ErrGone) || errors.As(err, &of) || errors.Is(err, errUnfit)
	if ended || !isAnswer {
		l.Close()
	}
	switch {
	case isAnswer:
		return err
	case ctx.Err() != nil:
		return &UnavailableError{context.Cause(ctx)}
	default:
		return &UnavailableError{err}
	}
}

// cureOf is what to do about an error of a connection.
func cureOf(err error) string {
	if strings.Contains(err.Error(), x509.UnknownAuthorityError{}.Error()) { // StartTLS has the text alone
		return "name the certificate of the authority that signed the directory's in ldap.ca_file"
	}
	if errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, context.DeadlineExceeded) {
		return "start the directory, or look at the network between; else correct ldap.url: ldaps:// is for port 636, ldap:// for port 389"
	}
	return "correct ldap.url: ldaps:// is for port 636, ldap:// for port 389, and the certificate must have the host's name"
}

// bounded reads no more than what is left, so that an answer cannot fill the memory.
type bounded struct {
	net.Conn
	left *atomic.Int64
}

// Read reads from the connection.
func (b bounded) Read(p []byte) (int, error) {
	n, err := b.Conn.Read(p)
	if b.left.Add(-int64(n)) < 0 {
		return 0, errors.New("its answer is too long")
	}
	return n, err
}

// connect returns a connection that reads no more bytes than are left.
func (d *Directory) connect(ctx context.Context, left *atomic.Int64) (*ldap.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	t := &tls.Config{ServerName: d.host, RootCAs: d.opt.Roots, MinVersion: tls.VersionTLS12}
	raw, err := (&net.Dialer{}).DialContext(ctx, "tcp", d.address)
	if err != nil {
		return nil, err
	}
	raw = bounded{raw, left}
	stop := context.AfterFunc(ctx, func() { _ = raw.Close() }) // StartTLS has no deadline of its own
	defer stop()
	if d.tls {
		secured := tls.Client(raw, t)
		if err := secured.HandshakeContext(ctx); err != nil {
			_ = raw.Close()
			return nil, err
		}
		raw = secured
	}
	c := ldap.NewConn(raw, d.tls)
	c.SetTimeout(answerTimeout)
	c.Start()
	if !d.tls {
		if err := c.StartTLS(t); err != nil {
			_ = c.Close()
			return nil, err
		}
	}
	return c, nil
}

// bind makes the account that searches that of the connection.
func (d *Directory) bind(c *ldap.Conn) error {
	if d.opt.BindDN == "" {
		return c.UnauthenticatedBind("")
	}
	if err := c.Bind(d.opt.BindDN, d.opt.BindPassword.Reveal()); err != nil {
		return hint.With(fmt.Errorf("the account that searches cannot bind: %w", err), "correct ldap.bind_dn or its password")
	}
	return nil
}

// refuses reports whether the server refused a password, or the account of it.
func refuses(err error) bool {
	return ldap.IsErrorAnyOf(err, ldap.LDAPResultInvalidCredentials, ldap.LDAPResultInappropriateAuthentication, ldap.LDAPResultInvalidDNSyntax,
		ldap.LDAPResultNoSuchObject, ldap.LDAPResultUnwillingToPerform, ldap.LDAPResultConstraintViolation, ldap.LDAPResultInsufficientAccessRights)
}

// ofActiveDirectory has what Active Directory says, beside wrong passwords, when it refuses one
// (https://learn.microsoft.com/windows/win32/debug/system-error-codes--1300-1699-).
var ofActiveDirectory = map[string]string{
	"530": "the person may not sign in at this time", "531": "the person may not sign in at this computer",
	"532": "the password has expired", "533": "the account there is disabled", "701": "the account there has expired",
	"773": "the person must change the password first", "775": "the account there is locked",
}

var ofActiveDirectoryCode = regexp.MustCompile(`AcceptSecurityContext error, data ([0-9a-f]+)`)

// whyRefused is the cause of a refused password.
func whyRefused(err error) string {
	if code := ofActiveDirectoryCode.FindStringSubmatch(err.Error()); code != nil && ofActiveDirectory[code[1]] != "" {
		return ofActiveDirectory[code[1]]
	}
	return "the password is wrong"
}

// find returns the one person that the filter fits, which looks for that. ErrGone if there is none,
// and a *PersonError if there are several.
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

// person reads an entry and its groups.
func (d *Directory) person(c *ldap.Conn, e *ldap.Entry) (Person, error) {
	id, err := d.id(e)
	if err != nil {
		return Person{}, err
	}
	p := Person{ID: id, Email: e.GetAttributeValue(d.opt.EmailAttribute)} // the store folds it
	others := d.others()
	if len(d.opt.AllowedGroups)+len(d.opt.AdminGroups)+len(others) == 0 {
		return p, nil
	}
	groups, err := d.groups(c, e.DN)
	if err != nil {
		return Person{}, err
	}
	p.Admin = meets(groups, d.opt.AdminGroups)
	for _, dn := range others {
		if groups[normal(dn)] {
			p.Groups = append(p.Groups, dn)
		}
	}
	if len(d.opt.AllowedGroups) > 0 && !p.Admin && !meets(groups, d.opt.AllowedGroups) {
		return p, ErrNotAllowed
	}
	return p, nil
}

// id returns Person.ID of an entry.
func (d *Directory) id(e *ldap.Entry) (string, error) {
	raw := e.GetRawAttributeValue(d.opt.IDAttribute)
	id := string(raw)
	if d.binaryID() {
		id = hex.EncodeToString(raw)
	}
	if id == "" || !utf8.ValidString(id) {
		return "", &PersonError{"the entry has no " + d.opt.IDAttribute}
	}
	return id, nil
}

// others returns those of OtherGroups that are DNs.
func (d *Directory) others() []string {
	if d.opt.OtherGroups == nil {
		return nil
	}
	return slices.DeleteFunc(d.opt.OtherGroups(), func(name string) bool {
		_, err := ldap.ParseDN(name)
		return err != nil
	})
}

// groups returns the groups of an entry, and theirs, by their DNs.
func (d *Directory) groups(c *ldap.Conn, dn string) (map[string]bool, error) {
	known, next := make(map[string]bool), []string{dn}
	for range maxDepth {
		if len(next) == 0 {
			break
		}
		var found []string
		for _, member := range next {
			entries, err := d.search(c, d.opt.GroupBase, ldap.ScopeWholeSubtree, anyOf(d.opt.MemberAttributes, member), maxGroups, "1.1")
			if err != nil && !ldap.IsErrorWithCode(err, ldap.LDAPResultSizeLimitExceeded) {
				return nil, fmt.Errorf("the groups: %w", err)
			}
			for _, e := range entries {
				if name := normal(e.DN); !known[name] {
					known[name] = true
					found = append(found, e.DN)
				}
			}
			if err != nil || len(known) > maxGroups {
				return nil, &PersonError{fmt.Sprintf("the person is in more groups than the directory shows at once, or than %d", maxGroups)}
			}
		}
		next = found
	}
	return known, nil
}

func meets(groups map[string]bool, wanted []string) bool {
	for _, dn := range wanted {
		if groups[normal(dn)] {
			return true
		}
	}
	return false
}

// normal is the one form of a DN by which DNs are compared.
func normal(dn string) string {
	parsed, err := ldap.ParseDN(dn)
	if err != nil {
		return dn
	}
	return strings.ToLower(parsed.String())
}
