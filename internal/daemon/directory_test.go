package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pushbox/config"
	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/ldaptest"
	"pushbox/server"
	"pushbox/store"
	"pushbox/store/record"
)

// A directorySite is a server whose people are in a directory.
type directorySite struct {
	t     *testing.T
	ldap  *ldaptest.Server
	link  *directoryLink
	store *store.Store
	url   string
	web   *httptest.Server
	log   bytes.Buffer // see logged
	now   time.Time    // for checks

	handler *server.Server
	cfg     config.Config
}

// newDirectorySite has ann, bob and cas in a directory, all in the group staff, cas in admins,
// too; and an administrator with a password here.
func newDirectorySite(t *testing.T, changes ...func(*config.LDAP)) *directorySite {
	t.Helper()
	var entries, staff strings.Builder
	for _, name := range []string{"ann", "bob", "cas", "dan", "eve"} {
		fmt.Fprintf(&entries, "dn: uid=%s,%s\nobjectClass: inetOrgPerson\ncn: %[1]s\nsn: %[1]s\nmail: %[1]s@example.com\nuserPassword: right-%[1]s\n\n", name, ldaptest.People)
		fmt.Fprintf(&staff, "member: uid=%s,%s\n", name, ldaptest.People)
	}
	fmt.Fprintf(&entries, "dn: cn=staff,%s\nobjectClass: groupOfNames\n%s\ndn: cn=admins,%[1]s\nobjectClass: groupOfNames\nmember: uid=cas,%[3]s\n", ldaptest.Groups, staff.String(), ldaptest.People)
	d := &directorySite{t: t, ldap: ldaptest.New(t, entries.String())}
	cfg := config.Default()
	cfg.DataDir = t.TempDir()
	cfg.Limits.SignInsPerClient, cfg.Limits.SignInsPerAccount = 1000, 3
	file := func(name, text string) string {
		path := filepath.Join(t.TempDir(), name)
		env.OK(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	cfg.LDAP.URL, cfg.LDAP.CAFile = d.ldap.URL, file("ca.pem", string(d.ldap.Authority))
	cfg.LDAP.BindDN, cfg.LDAP.BindPasswordFile = ldaptest.Searcher, file("password", ldaptest.Password+"\n")
	cfg.LDAP.Base, cfg.LDAP.GroupBase = ldaptest.People, ldaptest.Groups
	cfg.LDAP.AllowedGroups, cfg.LDAP.AdminGroups = []string{"cn=staff," + ldaptest.Groups}, []string{"cn=admins," + ldaptest.Groups}
	for _, change := range changes {
		change(&cfg.LDAP)
	}
	d.store = opened(t, cfg)
	env.Must(d.store.AddAdmin(t.Context(), store.Actor{Role: store.Operator}, "root@example.com", secret.New("a local password")))(t)
	log := zerolog.New(zerolog.SyncWriter(&d.log))
	d.link = env.Must(newDirectoryLink(cfg.LDAP, d.store, log))(t)
	d.now = time.Now()
	d.link.now = func() time.Time { return d.now }
	handler, _, err := newHandler(t.Context(), optionsFor(cfg), d.store, log, d.link.options)
	env.OK(t, err)
	d.web, d.handler, d.cfg = httptest.NewServer(handler), handler, cfg
	t.Cleanup(d.web.Close)
	d.url = d.web.URL
	return d
}

// signIn returns the status of a sign-in, 303 for one that succeeds, and the cookies of its session
// and of the browser, which sends known.
func (d *directorySite) signIn(login, password, known string) (status int, session, mark string) {
	d.t.Helper()
	form := url.Values{"email": {login}, "password": {password}}.Encode()
	res, _ := env.Ask(d.t, http.MethodPost, d.url+"/users/sign_in", form, env.Form, "Cookie: "+known)
	for _, c := range res.Cookies() {
		switch {
		case strings.Contains(c.Name, "session"):
			session = c.Name + "=" + c.Value
		case strings.Contains(c.Name, "known"):
			mark = c.Name + "=" + c.Value
		}
	}
	return res.StatusCode, session, mark
}

func (d *directorySite) want(login, password string, status int) (cookie string) {
	d.t.Helper()
	got, cookie, _ := d.signIn(login, password, "")
	if got != status {
		d.t.Errorf("%s with %s: status %d, not %d", login, password, got, status)
	}
	return cookie
}

// logged ends the server, and returns its log.
func (d *directorySite) logged() string {
	d.web.Close()
	return d.log.String()
}

// sees reports whether a session sees a page.
func (d *directorySite) sees(cookie, path string) bool {
	d.t.Helper()
	res, _ := env.Ask(d.t, http.MethodGet, d.url+path, "", "Cookie: "+cookie)
	return res.StatusCode == http.StatusOK
}

func (d *directorySite) check() error {
	d.t.Helper()
	return d.link.check(d.t.Context())
}

func TestPeopleOfADirectorySignIn(t *testing.T) {
	t.Parallel()
	d := newDirectorySite(t)
	ann := d.want("ann", "right-ann", http.StatusSeeOther)
	d.want("ANN@example.com", "right-ann", http.StatusSeeOther)
	cas := d.want("cas", "right-cas", http.StatusSeeOther)
	if !d.sees(ann, "/p") || d.sees(ann, "/admin") || !d.sees(cas, "/admin") {
		t.Error("the roles are not those of the directory")
	}
	if accounts, err := d.store.Accounts(t.Context()); err != nil || len(accounts) != 3 {
		t.Errorf("there are %d accounts, %v", len(accounts), err)
	}
	d.want("root@example.com", "a local password", http.StatusSeeOther)
	d.want("root@example.com", "right-ann", http.StatusForbidden)
	for range 3 {
		d.want("bob", "wrong", http.StatusForbidden)
	}
	d.want("bob", "right-bob", http.StatusTooManyRequests)
	d.want("*", "right-ann", http.StatusForbidden)
	d.want("ann", "", http.StatusForbidden)
	if strings.Contains(d.logged(), "right-") {
		t.Error("the log has a password")
	}
}

// spellings are logins that the directory takes for the same person's.
func spellings(name string) []string {
	wide := string('\uff41'+rune(name[0]-'a')) + name[1:]
	return []string{name, strings.ToUpper(name), name + "@example.com", wide}
}

// Wrong passwords count for the person that the directory finds, and not for what was typed: with an
// account, as those of the account do, and without one.
func TestWrongPasswordsCountForThePersonWhateverIsTyped(t *testing.T) {
	t.Parallel()
	d := newDirectorySite(t, func(c *config.LDAP) { c.LinkByEmail = true })
	env.Must(d.store.AddAccount(t.Context(), store.Actor{Role: store.Operator}, "cas@example.com", secret.New("a local password")))(t)
	d.want("bob", "right-bob", http.StatusSeeOther)
	d.want("cas", "right-cas", http.StatusSeeOther)
	for _, name := range []string{"ann", "bob", "cas"} {
		for _, login := range spellings(name)[1:] {
			d.want(login, "wrong", http.StatusForbidden)
		}
		for _, login := range spellings(name) {
			d.want(login, "right-"+name, http.StatusTooManyRequests)
		}
	}
	d.want("cas@example.com", "a local password", http.StatusTooManyRequests)
	d.want("dan", "right-dan", http.StatusSeeOther)
	d.want("zoe", "wrong", http.StatusForbidden)
}

func TestAKnownBrowserStaysKnownWhateverItsUserTypes(t *testing.T) {
	t.Parallel()
	d := newDirectorySite(t)
	_, _, mark := d.signIn("ann", "right-ann", "")
	for range 3 {
		d.want("ann", "wrong", http.StatusForbidden)
	}
	d.want("ann", "right-ann", http.StatusTooManyRequests)
	for _, login := range spellings("ann") {
		if status, _, _ := d.signIn(login, "right-ann", mark); status != http.StatusSeeOther {
			t.Errorf("%s: status %d", login, status)
		}
	}
	for _, login := range spellings("ann")[:3] { // it has tries of its own, and as few
		if status, _, _ := d.signIn(login, "wrong", mark); status != http.StatusForbidden {
			t.Errorf("%s with a wrong password: status %d", login, status)
		}
	}
	if status, _, _ := d.signIn("ann", "right-ann", mark); status != http.StatusTooManyRequests {
		t.Errorf("after three wrong ones: status %d", status)
	}
}

func TestAnAccountOfAnAddressIsThePersonsOnlyIfTheSettingsSaySo(t *testing.T) {
	t.Parallel()
	for _, link := range []bool{false, true} {
		d := newDirectorySite(t, func(c *config.LDAP) { c.LinkByEmail, c.CreateAccounts = link, false })
		env.Must(d.store.Invite(t.Context(), store.Actor{Role: store.Operator}, "ann@example.com", false))(t)
		want := http.StatusForbidden
		if link {
			want = http.StatusSeeOther
		}
		d.want("ann", "right-ann", want)
		d.want("bob", "right-bob", http.StatusForbidden) // without an account
	}
}

func TestTheInstanceLogSaysWhyTheDirectoryRefuses(t *testing.T) {
	t.Parallel()
	d := newDirectorySite(t, func(c *config.LDAP) { c.AllowedGroups = c.AdminGroups })
	for _, c := range []struct{ login, password, want string }{
		{"ann", "wrong", "the password is wrong"},
		{"zoe", "wrong", "the directory has no such person"},
		{"ann", "right-ann", "the person is in no group of allowed_groups"},
	} {
		d.want(c.login, c.password, http.StatusForbidden)
		events, err := d.store.AdminEvents(t.Context(), time.Time{}, 0, record.MaxAdminEvents)
		if err != nil || !strings.HasPrefix(events[len(events)-1].Detail, "by the directory") || !strings.HasSuffix(events[len(events)-1].Detail, ": "+c.want) {
			t.Errorf("%s: the log says %q, %v", c.login, events[len(events)-1].Detail, err)
		}
	}
}

// checks checks twice, at the least distance at which the second one disables who is gone at both.
func (d *directorySite) checks() {
	d.t.Helper()
	for _, wait := range []time.Duration{0, goneFor} {
		d.now = d.now.Add(wait)
		env.OK(d.t, d.check())
	}
}

func TestWhoLeavesTheDirectoryIsDisabled(t *testing.T) {
	t.Parallel()
	d := newDirectorySite(t)
	cookies := make(map[string]string)
	for _, name := range []string{"ann", "bob", "cas", "dan", "eve"} {
		cookies[name] = d.want(name, "right-"+name, http.StatusSeeOther)
	}
	d.checks()
	d.ldap.Remove("uid=ann," + ldaptest.People)
	d.ldap.Set("cn=admins,"+ldaptest.Groups, "member", "uid=bob,"+ldaptest.People)
	d.checks()
	if d.sees(cookies["ann"], "/p") {
		t.Error("who has left is still signed in")
	}
	events, err := d.store.AdminEvents(t.Context(), time.Time{}, 0, record.MaxAdminEvents)
	if last := events[len(events)-1]; err != nil || last.Kind != record.AdminAccountDisable || last.Detail != "by the directory: the directory has no such person" {
		t.Errorf("the last event is %v %q, %v", last.Kind, last.Detail, err)
	}
	if !d.sees(cookies["bob"], "/admin") || d.sees(cookies["cas"], "/admin") || !d.sees(cookies["cas"], "/p") {
		t.Error("the roles do not follow the groups")
	}
	d.want("ann", "right-ann", http.StatusForbidden)

	d.ldap.Set("cn=staff,"+ldaptest.Groups, "member", "uid=nobody,"+ldaptest.People) // cas, dan and eve are in no group
	d.ldap.Set("cn=admins,"+ldaptest.Groups, "member", "uid=nobody,"+ldaptest.People)
	for range 2 {
		if err := d.check(); err == nil || !strings.Contains(err.Error(), "lacks 4 of 4 users") {
			t.Errorf("a directory without people: %v", err)
		}
		if unsure := d.link.unsure(); len(unsure) != 1 || !strings.Contains(unsure[0], "lacks 4 of 4 users") {
			t.Errorf("administrators are told %q", unsure)
		}
		d.now = d.now.Add(goneFor)
	}
	if !d.sees(cookies["dan"], "/p") {
		t.Error("a mistake in the directory disabled an account")
	}
}

// A mistake that is put right within a quarter of an hour, or was made twice, disables no account,
// however few people there are.
func TestNoAccountIsDisabledAtTheFirstLook(t *testing.T) {
	t.Parallel()
	d := newDirectorySite(t)
	ann := d.want("ann", "right-ann", http.StatusSeeOther)
	staff := func(member string) {
		d.ldap.Set("cn=staff,"+ldaptest.Groups, "member", "uid="+member+","+ldaptest.People)
	}
	look := func(after time.Duration, unsure string) {
		t.Helper()
		d.now = d.now.Add(after)
		env.OK(t, d.check())
		if got := strings.Join(d.link.unsure(), "\n"); !strings.Contains(got, unsure) || (got == "") != (unsure == "") {
			t.Errorf("administrators are told %q, not %q", got, unsure)
		}
		if !d.sees(ann, "/p") {
			t.Error("the account is disabled")
		}
	}
	const gone = "ann@example.com: the person is in no group of allowed_groups; the account is disabled if this is still the case after "
	staff("zoe")
	look(0, gone)
	look(goneFor-1, gone)
	staff("ann")
	look(1, "")
	staff("zoe")
	look(goneFor, gone)
	look(goneFor-1, gone)
	d.now = d.now.Add(1)
	if err := d.check(); err != nil || d.sees(ann, "/p") {
		t.Errorf("who is gone for a quarter of an hour is still signed in: %v", err)
	}
	if unsure := d.link.unsure(); unsure != nil {
		t.Errorf("administrators are told %q", unsure)
	}
	env.Equal(t, "lines tell it", strings.Count(d.logged(), "a user is no longer in the directory"), 2)
}

// Three people of whom the directory says nothing neither lose their accounts, nor keep the check
// from those behind them.
func TestPeopleWithUnclearEntriesStayAndKeepNoneFromTheCheck(t *testing.T) {
	t.Parallel()
	d := newDirectorySite(t, func(c *config.LDAP) { c.IDAttribute = "employeeNumber" })
	cookies := make(map[string]string)
	for i, name := range []string{"ann", "bob", "cas", "dan"} {
		number := fmt.Sprint(i)
		d.ldap.Set("uid="+name+","+ldaptest.People, "employeeNumber", number)
		cookies[name] = d.want(name, "right-"+name, http.StatusSeeOther)
		if name != "dan" {
			d.ldap.Add(fmt.Sprintf("dn: uid=another-%s,%s\nobjectClass: inetOrgPerson\ncn: x\nsn: x\nemployeeNumber: %s\n", name, ldaptest.People, number))
		}
	}
	d.ldap.Remove("uid=dan," + ldaptest.People)
	d.checks()
	if d.sees(cookies["dan"], "/p") {
		t.Error("who has left is still signed in")
	}
	for _, name := range []string{"ann", "bob", "cas"} {
		if !d.sees(cookies[name], "/p") {
			t.Errorf("%s was disabled", name)
		}
		if want := name + "@example.com: several entries have the employeeNumber; the account does not change"; !slices.Contains(d.link.unsure(), want) {
			t.Errorf("administrators are told %q, not %q", d.link.unsure(), want)
		}
	}
	log := d.logged()
	if n := strings.Count(log, "the directory does not say whether a person has left"); n != 3 || strings.Contains(log, "cannot sign in") {
		t.Errorf("the log says %s", log)
	}
}

func TestACheckGoesOnWhereTheOneBeforeEnded(t *testing.T) {
	t.Parallel()
	d := newDirectorySite(t)
	for _, name := range []string{"ann", "bob", "cas", "dan", "eve"} {
		d.want(name, "right-"+name, http.StatusSeeOther)
	}
	d.ldap.Stop()
	for _, first := range []string{"ann", "dan", "bob", "eve"} { // three people each
		people, err := d.link.toAsk(t.Context())
		if err != nil || len(people) != 5 || people[0].account.Email != first+"@example.com" {
			t.Errorf("it begins with %s, not %s: %v", people[0].account.Email, first, err)
		}
		env.OK(t, d.check())
	}
}

// The last administrator keeps the account, and that is logged once.
func TestTheLastAdministratorStays(t *testing.T) {
	t.Parallel()
	d := newDirectorySite(t)
	cas := d.want("cas", "right-cas", http.StatusSeeOther)
	env.OK(t, d.store.SetAdmin(t.Context(), store.Actor{Role: store.Operator}, "root@example.com", false, false))
	d.ldap.Remove("uid=cas," + ldaptest.People)
	for range 2 {
		d.checks()
	}
	if unsure := d.link.unsure(); !d.sees(cas, "/admin") || len(unsure) != 1 || !strings.HasSuffix(unsure[0], "the account stays enabled, because it is the only administrator") {
		t.Errorf("administrators are told %q", unsure)
	}
	env.Equal(t, "lines tell it", strings.Count(d.logged(), "the last administrator"), 1)
}

// Policies alone make the directory read groups, and a reload of them counts at once.
func TestGroupsOfTheDirectoryDecideThePolicy(t *testing.T) {
	t.Parallel()
	d := newDirectorySite(t, func(c *config.LDAP) { c.AllowedGroups, c.AdminGroups = nil, nil })
	has := func(what, want string) {
		t.Helper()
		if a, err := d.store.AccountByEmail(t.Context(), "cas@example.com"); err != nil || a.Policy != want {
			t.Errorf("%s: %q, not %q, %v", what, a.Policy, want, err)
		}
	}
	d.want("cas", "right-cas", http.StatusSeeOther)
	has("without policies", "")
	cfg := d.cfg
	cfg.Policies = []config.NamedPolicy{{Name: "admins", Groups: []string{"CN=Admins," + ldaptest.Groups}}, {Name: "staff", Groups: []string{"staff", "cn=staff," + ldaptest.Groups}}}
	for _, part := range []reloadable{storeReload(d.store), handlerReload(d.handler)} {
		apply := env.Must(part(cfg))(t)
		apply()
	}
	env.OK(t, d.check())
	has("at a check", "admins")
	d.ldap.Set("cn=admins,"+ldaptest.Groups, "member", "uid=bob,"+ldaptest.People)
	d.want("cas", "right-cas", http.StatusSeeOther)
	has("at a sign-in", "staff")
	d.ldap.Set("cn=staff,"+ldaptest.Groups, "member", "uid=bob,"+ldaptest.People)
	env.OK(t, d.check())
	has("in no group", "")
}

func TestADirectoryThatIsAwayLetsOthersSignIn(t *testing.T) {
	t.Parallel()
	d := newDirectorySite(t)
	ann := d.want("ann", "right-ann", http.StatusSeeOther)
	d.ldap.Stop()
	d.want("ann", "right-ann", http.StatusServiceUnavailable)
	d.want("bob", "right-bob", http.StatusServiceUnavailable)
	d.want("root@example.com", "a local password", http.StatusSeeOther)
	if d.checks(); !d.sees(ann, "/p") {
		t.Error("an account was disabled while the directory is away")
	}
	log := d.logged()
	if n := strings.Count(log, "users of the directory cannot sign in"); n != 1 {
		t.Errorf("%d lines say so: %s", n, log)
	}
}

// A try that the directory did not answer is no wrong password, and counts for the client.
func TestTriesCountOnlyWhereTheDirectoryAnswers(t *testing.T) {
	t.Parallel()
	d := newDirectorySite(t)
	away := func(context.Context) (store.External, error) { return store.External{}, context.DeadlineExceeded }
	asked := 0
	at := map[string]store.Elsewhere{
		"at once": func(context.Context) (record.Identity, func(context.Context) (store.External, error), error) {
			asked++
			return record.Identity{}, nil, context.DeadlineExceeded
		},
		"later": func(ctx context.Context) (record.Identity, func(context.Context) (store.External, error), error) {
			asked++
			whose, _, err := d.link.signIn("ann", secret.New("right-ann"))(ctx)
			return whose, away, err
		},
	}
	by := store.Actor{Client: "192.0.2.1", IP: "192.0.2.1"}
	for name, one := range at {
		for range 5 {
			if _, err := d.store.SignInAt(t.Context(), by, "ann", secret.New("right-ann"), true, one); err != context.DeadlineExceeded {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
	if d.want("ann", "right-ann", http.StatusSeeOther); asked != 10 {
		t.Errorf("asked %d times", asked)
	}
	for asked < 1000 { // all that a client may try
		if _, err := d.store.SignInAt(t.Context(), by, "ann", secret.New("right-ann"), true, at["at once"]); err != context.DeadlineExceeded {
			t.Fatal(err)
		}
	}
	var locked *record.LockedError
	if _, err := d.store.SignInAt(t.Context(), by, "ann", secret.New("right-ann"), true, at["at once"]); !errors.As(err, &locked) || locked.Limit != record.LimitSignInsPerClient {
		t.Errorf("one more: %v", err)
	}
}
