package directory_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"pushbox/config"
	"pushbox/internal/directory"
	"pushbox/internal/hint"
	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/ldaptest"
)

func person(name, more string) string {
	return "dn: uid=" + name + "," + ldaptest.People + "\nobjectClass: inetOrgPerson\ncn: " + name + "\nsn: " + name + "\nmail: " + name + "@Example.com\nuserPassword: right-" + name + "\n" + more + "\n"
}

func group(name string, members ...string) string {
	return "dn: cn=" + name + "," + ldaptest.Groups + "\nobjectClass: groupOfNames\nmember: " + strings.Join(members, "\nmember: ") + "\n\n"
}

func personDN(name string) string { return "uid=" + name + "," + ldaptest.People }
func groupDN(name string) string  { return "cn=" + name + "," + ldaptest.Groups }

// an office: ann is in staff by way of two groups that contain each other, cas is an
// administrator, dan has left, and eve is in no group.
func office() string {
	return person("ann", "") + person("bob", "") + person("cas", "") + person("dan", "employeeType: left\n") + person("eve", "") + person(`o\2a(neil)`, "") +
		group("staff", personDN("bob"), groupDN("team"), personDN("dan")) + group("team", groupDN("circle")) + group("circle", groupDN("team"), personDN("ann")) + group("admins", personDN("cas"))
}

func options(s *ldaptest.Server) directory.Options {
	return directory.Options{Roots: s.Roots(), LDAP: config.LDAP{
		URL: s.URL, BindDN: ldaptest.Searcher, BindPassword: secret.New(ldaptest.Password), Base: ldaptest.People,
		Filter: "(&(objectClass=inetOrgPerson)(!(employeeType=left)))", LoginAttributes: []string{"uid", "mail"}, IDAttribute: "entryUUID", EmailAttribute: "mail",
		GroupBase: ldaptest.Groups, MemberAttributes: []string{"member"},
	}}
}

func open(t *testing.T, o directory.Options) *directory.Directory {
	t.Helper()
	return env.Must(directory.New(o))(t)
}

func signIn(ctx context.Context, d *directory.Directory, login, password string) (directory.Person, error) {
	e, err := d.Look(ctx, login)
	if err != nil {
		return directory.Person{}, err
	}
	return d.SignIn(ctx, e, secret.New(password))
}

func find(t *testing.T, d *directory.Directory, id string) (directory.Person, error) {
	t.Helper()
	l := d.Line()
	defer l.Close()
	return l.Find(t.Context(), id)
}

func TestPeopleSignInWithTheirPasswords(t *testing.T) {
	t.Parallel()
	s := ldaptest.New(t, office())
	secure := options(s)
	secure.URL = s.SecureURL
	for _, o := range []directory.Options{options(s), secure} {
		d := open(t, o)
		if err := d.Check(t.Context()); err != nil {
			t.Fatalf("%s: %v", o.URL, err)
		}
		for name, c := range map[string]struct {
			login, password string
			want            error
		}{
			"by name":            {"ann", "right-ann", nil},
			"by address":         {"ANN@example.com", "right-ann", nil},
			"a wrong password":   {"ann", "right-bob", directory.ErrCredentials},
			"no password":        {"ann", "", directory.ErrCredentials},
			"no login":           {"", "right-ann", directory.ErrCredentials},
			"unknown":            {"zoe", "right-zoe", directory.ErrCredentials},
			"who has left":       {"dan", "right-dan", directory.ErrCredentials},
			"any":                {"*", "right-ann", directory.ErrCredentials},
			"a prefix":           {"an*", "right-ann", directory.ErrCredentials},
			"another filter":     {"ann)(objectClass=*", "right-ann", directory.ErrCredentials},
			"an attribute":       {"x)(|(uid=ann)", "right-ann", directory.ErrCredentials},
			"a zero byte":        {"ann\x00", "right-ann", directory.ErrCredentials},
			"no UTF-8":           {"ann\xff", "right-ann", directory.ErrCredentials},
			"a DN":               {personDN("ann"), "right-ann", directory.ErrCredentials},
			"odd characters":     {"o*(neil)", `right-o\2a(neil)`, nil},
			"a long login":       {strings.Repeat("a", 257), "right-ann", directory.ErrCredentials},
			"a long password":    {"ann", strings.Repeat("a", 1025), directory.ErrCredentials},
			"the searcher's own": {ldaptest.Searcher, ldaptest.Password, directory.ErrCredentials},
		} {
			p, err := signIn(t.Context(), d, c.login, c.password)
			if !errors.Is(err, c.want) || (err == nil) != (p.ID != "") {
				t.Errorf("%s: %+v, %v", name, p, err)
			}
			if name == "by address" && !strings.EqualFold(p.Email, "ann@example.com") {
				t.Errorf("the address is %q", p.Email)
			}
		}
	}
}

func TestGroupsWithinGroupsCount(t *testing.T) {
	t.Parallel()
	s := ldaptest.New(t, office())
	o := options(s)
	o.AllowedGroups, o.AdminGroups = []string{"CN=Staff, " + ldaptest.Groups}, []string{groupDN("admins")}
	d := open(t, o)
	for name, want := range map[string]struct {
		err   error
		admin bool
	}{"ann": {nil, false}, "bob": {nil, false}, "cas": {nil, true}, "dan": {directory.ErrCredentials, false}, "eve": {directory.ErrNotAllowed, false}} {
		p, err := signIn(t.Context(), d, name, "right-"+name)
		if !errors.Is(err, want.err) || p.Admin != want.admin {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
}

// Groups that only others name are read, too, and told as these write them.
func TestGroupsThatOthersNameAreTold(t *testing.T) {
	t.Parallel()
	s := ldaptest.New(t, office())
	o := options(s)
	named := []string{"finance", "CN=Staff, " + ldaptest.Groups, groupDN("none"), groupDN("admins")}
	o.OtherGroups = func() []string { return slices.Clone(named) }
	d := open(t, o)
	for name, want := range map[string][]string{"ann": named[1:2], "cas": named[3:], "eve": nil} {
		if p, err := signIn(t.Context(), d, name, "right-"+name); err != nil || !slices.Equal(p.Groups, want) {
			t.Errorf("%s: %q, not %q, %v", name, p.Groups, want, err)
		}
	}
}

func TestWhoLeavesIsGone(t *testing.T) {
	t.Parallel()
	s := ldaptest.New(t, office())
	o := options(s)
	o.AllowedGroups = []string{groupDN("staff")}
	d := open(t, o)
	ids := make(map[string]string)
	for _, name := range []string{"ann", "bob"} {
		p := env.Must(signIn(t.Context(), d, name, "right-"+name))(t)
		if again, err := find(t, d, p.ID); err != nil || !reflect.DeepEqual(again, p) {
			t.Errorf("%s: %+v, %v", name, again, err)
		}
		ids[name] = p.ID
	}
	s.Set(personDN("ann"), "employeeType", "left")
	s.Set(groupDN("staff"), "member", groupDN("team"))
	_, err := find(t, d, ids["ann"])
	env.ErrorIs(t, "who has left", err, directory.ErrGone)
	_, err = find(t, d, ids["bob"])
	env.ErrorIs(t, "who is in no allowed group", err, directory.ErrNotAllowed)
	s.Set(personDN("ann"), "employeeType")
	if _, err := find(t, d, ids["ann"]); err != nil {
		t.Errorf("who came back: %v", err)
	}
	s.Remove(personDN("ann"))
	for _, id := range []string{ids["ann"], "", "*", "x)(uid=bob"} {
		_, err := find(t, d, id)
		env.ErrorIs(t, id, err, directory.ErrGone)
	}
}

// relay passes connections on to the directory, and returns its address. made counts those
// that were made, and cut ends them.
func relay(t *testing.T, to string) (url string, made *atomic.Int32, cut func()) {
	t.Helper()
	l := env.Listen(t)
	made = new(atomic.Int32)
	open := make(chan net.Conn, 100)
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", strings.TrimPrefix(to, "ldap://"))
			if err != nil {
				_ = in.Close()
				continue
			}
			made.Add(1)
			open <- in
			go func() { _, _ = io.Copy(out, in); _ = out.Close() }()
			go func() { _, _ = io.Copy(in, out); _ = in.Close() }()
		}
	}()
	return "ldap://" + l.Addr().String(), made, func() {
		for len(open) > 0 {
			_ = (<-open).Close()
		}
	}
}

func TestManyPeopleAreFoundOverOneConnection(t *testing.T) {
	t.Parallel()
	s := ldaptest.New(t, office())
	o := options(s)
	var made *atomic.Int32
	var cut func()
	o.URL, made, cut = relay(t, s.URL)
	d := open(t, o)
	p := env.Must(signIn(t.Context(), d, "ann", "right-ann"))(t)
	l, before := d.Line(), made.Load()
	defer l.Close()
	look := func() {
		t.Helper()
		for id, want := range map[string]error{p.ID: nil, "nobody": directory.ErrGone} {
			_, err := l.Find(t.Context(), id)
			env.ErrorIs(t, id, err, want)
		}
	}
	look()
	look()
	env.Equal(t, "connections", made.Load()-before, 1)
	cut()
	look()
	env.Equal(t, "connections after the first was cut", made.Load()-before, 2)
}

func TestAnAnswerWithoutEndIsNotRead(t *testing.T) {
	t.Parallel()
	endless := env.Listen(t)
	sent := make(chan int, 1)
	go func() {
		c, err := endless.Accept()
		if err != nil {
			return
		}
		part, n := make([]byte, 1<<20), 0
		_, err = c.Write([]byte("\x30\x84\x7f\xff\xff\xff\x04\x84\x7f\xff\xff\xf0"))
		for err == nil && n < 1<<30 {
			_, err = c.Write(part)
			n += len(part)
		}
		_ = c.Close()
		sent <- n
	}()
	d, unavailable := open(t, directory.Options{LDAP: config.LDAP{URL: "ldap://" + endless.Addr().String(), Base: "dc=example", Filter: "(uid=*)", IDAttribute: "uid", EmailAttribute: "mail"}}), (*directory.UnavailableError)(nil)
	if err := d.Check(t.Context()); !errors.As(err, &unavailable) {
		t.Error(err)
	}
	if n := <-sent; n > 64<<20 {
		t.Errorf("%d bytes were read", n)
	}
}

func TestADirectoryThatCannotBeAskedIsUnavailable(t *testing.T) {
	t.Parallel()
	s := ldaptest.New(t, office())
	silent := env.Listen(t) // takes connections and never answers
	cures := map[string]string{
		"another authority":        "ldap.ca_file",
		"another authority, LDAPS": "ldap.ca_file",
		"no server":                "start the directory",
		"no TLS at the port":       "ldaps:// is for port 636",
	}
	for name, change := range map[string]func(*directory.Options){
		"another authority":        func(o *directory.Options) { o.Roots = nil },
		"another authority, LDAPS": func(o *directory.Options) { o.URL, o.Roots = s.SecureURL, nil },
		"a wrong password":         func(o *directory.Options) { o.BindPassword = secret.New("wrong-marker") },
		"a base of another":        func(o *directory.Options) { o.Base = "dc=example,dc=net" },
		"no server":                func(o *directory.Options) { o.URL = "ldap://127.0.0.1:1" },
		"no TLS at the port":       func(o *directory.Options) { o.URL = "ldaps://" + strings.TrimPrefix(s.URL, "ldap://") },
		"a silent server":          func(o *directory.Options) { o.URL = "ldap://" + silent.Addr().String() },
	} {
		o := options(s)
		change(&o)
		ctx, cancel := context.WithCancel(t.Context())
		if name == "a silent server" {
			go func() {
				if c, err := silent.Accept(); err == nil {
					cancel()
					_ = c.Close()
				}
			}()
		}
		d, unavailable := open(t, o), (*directory.UnavailableError)(nil)
		_, err := signIn(ctx, d, "ann", "right-ann")
		if !errors.As(err, &unavailable) || strings.Contains(err.Error(), "right-ann") || strings.Contains(err.Error(), "marker") {
			t.Errorf("%s: %v", name, err)
		}
		if cure := cures[name]; !strings.Contains(hint.Of(err), cure) {
			t.Errorf("%s: the cure is %q", name, hint.Of(err))
		}
		cancel()
	}
	d := open(t, options(s))
	s.Stop()
	if err := d.Check(t.Context()); err == nil {
		t.Error("a server that has ended answers")
	}
}

func TestACheckNamesTheOptionThatDoesNotFit(t *testing.T) {
	t.Parallel()
	s := ldaptest.New(t, office())
	whole := options(s)
	whole.AllowedGroups, whole.AdminGroups = []string{groupDN("staff")}, []string{groupDN("admins")}
	env.OK(t, open(t, whole).Check(t.Context()))
	for want, change := range map[string]func(*directory.Options){
		"ldap.base":             func(o *directory.Options) { o.Base = "ou=nobody," + ldaptest.Base },
		"ldap.group_base":       func(o *directory.Options) { o.GroupBase = "ou=nothing," + ldaptest.Base },
		"ldap.allowed_groups":   func(o *directory.Options) { o.AllowedGroups = []string{groupDN("staff"), groupDN("staf")} },
		"ldap.admin_groups":     func(o *directory.Options) { o.AdminGroups = []string{groupDN("admin")} },
		"ldap.filter":           func(o *directory.Options) { o.Filter = "(objectClass=user)" },
		"ldap.login_attributes": func(o *directory.Options) { o.LoginAttributes = []string{"sAMAccountName"} },
		"ldap.id_attribute":     func(o *directory.Options) { o.IDAttribute = "objectGUID" },
		"ldap.email_attribute":  func(o *directory.Options) { o.EmailAttribute = "mailPrimary" },
		"ldap.bind_dn":          func(o *directory.Options) { o.BindPassword = secret.New("wrong") },
		"ldap.ca_file":          func(o *directory.Options) { o.Roots = nil },
		"ldap.url":              func(o *directory.Options) { o.URL = "ldaps://" + strings.TrimPrefix(s.URL, "ldap://") },
	} {
		o := whole
		change(&o)
		if err := open(t, o).Check(t.Context()); !strings.Contains(hint.Of(err), want) {
			t.Errorf("%s: %v, %q", want, err, hint.Of(err))
		}
	}
}

// The directory compares logins by rules of its own, and says whose they are.
func TestALoginIsAPersonsInEachSpelling(t *testing.T) {
	t.Parallel()
	s := ldaptest.New(t, office())
	d := open(t, options(s))
	ids := make(map[string]bool)
	for _, login := range []string{"ann", "ANN", " ann", "\uff41nn", "ann@example.com"} {
		e, err := d.Look(t.Context(), login)
		if err != nil || e.ID == "" {
			t.Errorf("%q: %+v, %v", login, e, err)
		}
		ids[e.ID] = true
	}
	if len(ids) != 1 {
		t.Errorf("they are of %d people", len(ids))
	}
	for _, login := range []string{"zoe", "*", "dan", "", "ann\xff"} {
		if e, err := d.Look(t.Context(), login); err != nil || e.ID != "" {
			t.Errorf("%q: %+v, %v", login, e, err)
		}
	}
}

// What is wrong with the entry of one person says neither that the person is gone, nor that the
// directory does not answer.
func TestWhatIsWrongWithOneEntryIsThePersonsOwn(t *testing.T) {
	t.Parallel()
	var many strings.Builder
	for n := range 501 { // slapd shows 500 at once
		many.WriteString(group(fmt.Sprint("g", n), personDN("gil")))
	}
	s := ldaptest.New(t, office()+person("fay", "employeeNumber: 1\n")+person("fay2", "employeeNumber: 1\n")+person("gil", "employeeNumber: 2\n")+many.String())
	o := options(s)
	o.AllowedGroups, o.IDAttribute = []string{groupDN("staff")}, "employeeNumber"
	byNumber := open(t, o)
	o.IDAttribute = "objectGUID"
	byGUID := open(t, o)
	for want, d := range map[string]*directory.Directory{"1: several entries have the employeeNumber": byNumber, "2: the person is in more than 1000 groups": byNumber, "x: the stored ID is not a valid objectGUID": byGUID} {
		id, why, _ := strings.Cut(want, ": ")
		var own *directory.PersonError
		if _, err := find(t, d, id); !errors.As(err, &own) || !strings.HasPrefix(own.Why, why) {
			t.Errorf("%s: %v", want, err)
		}
	}
	for login, why := range map[string]string{"bob": "the entry has no employeeNumber", "gil": "the person is in more than 1000 groups"} {
		var refused *directory.RefusedError
		if _, err := signIn(t.Context(), byNumber, login, "right-"+login); !errors.As(err, &refused) || !strings.HasPrefix(refused.Why, why) {
			t.Errorf("%s: %v", login, err)
		}
	}
}

func TestARefusalHasItsCause(t *testing.T) {
	t.Parallel()
	s := ldaptest.New(t, office()+strings.Replace(person("ann2", ""), "mail: ann2@", "mail: ann@", 1))
	d := open(t, options(s))
	for login, want := range map[string]string{"bob": "the password is wrong", "zoe": "no such person", "ann@example.com": "several entries"} {
		var refused *directory.RefusedError
		if _, err := signIn(t.Context(), d, login, "wrong-marker"); !errors.As(err, &refused) || !errors.Is(err, directory.ErrCredentials) || !strings.Contains(refused.Why, want) {
			t.Errorf("%s: %v", login, err)
		}
	}
}

func TestWrongOptionsAreNamed(t *testing.T) {
	t.Parallel()
	good := directory.Options{LDAP: config.LDAP{URL: "ldaps://dc.example.com", Base: "dc=example,dc=com", Filter: "(objectClass=person)", LoginAttributes: []string{"uid"}, IDAttribute: "entryUUID", EmailAttribute: "mail", MemberAttributes: []string{"member"}}}
	for name, change := range map[string]func(*directory.Options){
		"url ":             func(o *directory.Options) { o.URL = "https://dc.example.com" },
		"url  ":            func(o *directory.Options) { o.URL = "ldap://" },
		"base":             func(o *directory.Options) { o.Base = "example.com" },
		"bind_dn":          func(o *directory.Options) { o.BindDN = "ann" },
		"allowed_groups":   func(o *directory.Options) { o.AllowedGroups = []string{"staff"} },
		"admin_groups":     func(o *directory.Options) { o.AdminGroups = []string{"staff"} },
		"id_attribute":     func(o *directory.Options) { o.IDAttribute = "" },
		"login_attributes": func(o *directory.Options) { o.LoginAttributes = []string{"uid=ann)(uid"} },
		"filter":           func(o *directory.Options) { o.Filter = "objectClass=person)" },
	} {
		o := good
		change(&o)
		if _, err := directory.New(o); err == nil || !strings.HasPrefix(err.Error(), strings.TrimSpace(name)+" ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := directory.New(good); err != nil {
		t.Error(err)
	}
}
