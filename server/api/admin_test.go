package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"pushbox/config"
	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/server"
	"pushbox/server/api"
	"pushbox/server/manage"
	"pushbox/server/pages"
	"pushbox/server/servertest"
	"pushbox/store"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

const (
	adminAPI    = "/api/v2/admin"
	accountsAPI = adminAPI + "/accounts"
	rootEmail   = "root@example.com"
	bobEmail    = "bob@example.com"
)

// isAdminCall reports whether a route belongs to the API for administrators.
func isAdminCall(name string) bool { return strings.HasPrefix(name, "admin_") }

// adminCalls has a call of each operation for administrators, about the account with the
// number 2. Their order is one in which all succeed.
var adminCalls = []call{
	{"admin_accounts", "GET", accountsAPI, ""},
	{"admin_invite", "POST", accountsAPI, `{"account":{"email":"new@example.com"}}`},
	{"admin_account", "GET", accountsAPI + "/2", ""},
	{"admin_act", "POST", accountsAPI + "/2/expire", ""},
	{"admin_policy", "PUT", accountsAPI + "/2/policy/finance", ""},
	{"admin_log", "GET", adminAPI + "/log", ""},
	{"admin_log_lines", "GET", adminAPI + "/log.jsonl", ""},
	{"admin_health", "GET", adminAPI + "/health", ""},
	{"admin_settings", "GET", adminAPI + "/settings", ""},
	{"admin_remove", "DELETE", accountsAPI + "/2", ""},
}

// governed is a server with an administrator and a member, accounts 1 and 2, and the API
// token of the administrator that has the scope admin.
func governed(t *testing.T, engine func(*storetest.Setup), changes ...func(*config.Config)) (a *servertest.Server, root http.Header) {
	t.Helper()
	a = servertest.On(t, engine, append([]func(*config.Config){servertest.SendsMail, hasPolicy}, changes...)...)
	for _, email := range []string{rootEmail, bobEmail} {
		a.Store.Account(email)
	}
	a.SetAdmin(rootEmail, true)
	a.Monitor(told)
	return a, a.AddScopedToken(rootEmail, record.ScopeAdmin)
}

// hasPolicy has a policy that accounts can have.
func hasPolicy(c *config.Config) {
	c.Policies = []config.NamedPolicy{{Name: "finance", Groups: []string{"money"}, Policy: config.Policy{RequirePassphrase: config.On}}}
}

// told is what a server can tell administrators of its installation.
var told = server.Monitoring{
	Findings: func(context.Context) ([]manage.Finding, error) {
		return []manage.Finding{
			{Check: "server", Grade: "ok", Text: "version 3.0.0 is running"},
			{Check: "backups", Grade: "warning", Text: "the server <makes> none", Cure: "set backup.schedule"},
			{Check: "clock", Grade: "problem", Text: "it jumped", Cure: "correct the clock"},
			{Check: "swap", Grade: "skipped", Text: "this system does not report it"},
		}, nil
	},
	Settings: func() []config.Value {
		return []config.Value{
			{Key: "listen", Value: `":80"`, Origin: "flag --listen"},
			{Key: "log.level", Value: "warn", Origin: "file /etc/pushbox.yaml", Line: 7, Reload: true},
			{Key: "base_path", Value: `""`, Origin: config.OriginDefault},
			{Key: "base_url", Value: `"https://push.example.com"`, Origin: "environment PUSHBOX_BASE_URL", Reload: true},
		}
	},
}

// Each operation for administrators is refused to everyone else, and to their tokens that
// were not made for it.
func TestTheAPIForAdministratorsIsForThem(t *testing.T) {
	t.Parallel()
	storetest.OnEachEngine(t, func(t *testing.T, engine func(*storetest.Setup)) {
		a, root := governed(t, engine)
		for _, email := range []string{"was@example.com", "off@example.com"} {
			a.Store.Account(email)
			a.SetAdmin(email, true)
		}
		demoted, disabled := a.AddScopedToken("was@example.com", record.ScopeAdmin), a.AddScopedToken("off@example.com", record.ScopeAdmin)
		a.Get(accountsAPI, demoted).Want(http.StatusOK)
		a.SetAdmin("was@example.com", false)
		env.OK(t, a.Store.SetDisabled(ctx, storetest.Operator, "off@example.com", true))
		for _, c := range adminCalls {
			for name, who := range map[string]struct {
				header http.Header
				status int
			}{
				"an anonymous client":           {nil, http.StatusUnauthorized},
				"a token that is not valid":     {servertest.Bearer("bad"), http.StatusUnauthorized},
				"a member":                      {a.AddToken(bobEmail), http.StatusNotFound},
				"an administrator that was one": {demoted, http.StatusNotFound},
				"a disabled administrator":      {disabled, http.StatusUnauthorized},
				"a token for pushes":            {a.AddScopedToken(rootEmail, record.AllScopes), http.StatusForbidden},
			} {
				if got := a.Do(c.method, c.path, c.body, who.header); got.Status != who.status {
					t.Errorf("%s %s, %s: %d, not %d: %s", c.method, c.path, name, got.Status, who.status, got.Body)
				}
			}
			want := http.StatusOK
			if c.id == "admin_invite" {
				want = http.StatusCreated
			}
			a.Do(c.method, c.path, c.body, root).Want(want)
			a.Store.Clock.Advance(time.Minute)
			for _, email := range []string{bobEmail, rootEmail} {
				endTokens(a, email, root)
			}
		}
		a.SetAdmin("was@example.com", true)
		a.Get(accountsAPI, demoted).Want(http.StatusOK)
	})
}

// endTokens ends the tokens of an account but one: an account has a bounded number.
func endTokens(a *servertest.Server, email string, but http.Header) {
	tokens, err := a.Store.Tokens(ctx, email)
	if err != nil {
		return // the account is gone
	}
	for _, one := range tokens {
		if one.Scopes != record.ScopeAdmin {
			env.OK(a.T, a.Store.RevokeToken(ctx, storetest.Operator, one.ID))
		}
	}
}

func TestAnAdministratorsTokenNeedsTheFactorThatAllNeed(t *testing.T) {
	t.Parallel()
	a, root := governed(t, func(*storetest.Setup) {}, func(c *config.Config) { c.RequireMFA = true })
	if got := a.Get(accountsAPI, root).Want(http.StatusForbidden); got.Problem() != "mfa-required" {
		t.Error(got.Body)
	}
}

// Each answer matches the document, and each status of the document is seen.
func TestAnswersForAdministratorsMatchTheDocument(t *testing.T) {
	t.Parallel()
	a, root := governed(t, func(*storetest.Setup) {})
	d := documentOf(a)
	var ids []string
	for _, c := range adminCalls {
		ids = append(ids, c.id)
		want := http.StatusOK
		if c.id == "admin_invite" {
			want = http.StatusCreated
		}
		ask := func(headers ...http.Header) servertest.Answer { return a.Do(c.method, c.path, c.body, headers...) }
		d.answers(c.id, http.StatusMisdirectedRequest, ask(http.Header{"Host": {"elsewhere.example"}}))
		d.answers(c.id, http.StatusUnauthorized, ask())
		d.answers(c.id, http.StatusForbidden, ask(a.AddScopedToken(rootEmail, record.ScopeRead)))
		d.answers(c.id, http.StatusNotFound, ask(a.AddScopedToken(bobEmail, record.ScopeRead)))
		if c.id == "admin_remove" {
			d.answers(c.id, http.StatusConflict, a.Do(c.method, accountsAPI+"/1", "", root))
		}
		d.answers(c.id, want, ask(root))
		endTokens(a, rootEmail, root)
		endTokens(a, bobEmail, nil)
	}
	for _, test := range []struct {
		id, method, path, body string
		status                 int
		header                 http.Header
	}{
		{"admin_accounts", "GET", accountsAPI + "?before=x", "", http.StatusBadRequest, nil},
		{"admin_log", "GET", adminAPI + "/log?event=x", "", http.StatusBadRequest, nil},
		{"admin_log_lines", "GET", adminAPI + "/log.jsonl?account=-1", "", http.StatusBadRequest, nil},
		{"admin_act", "POST", accountsAPI + "/1/revoke", "", http.StatusConflict, nil},
		{"admin_act", "POST", accountsAPI + "/1/remove", "", http.StatusNotFound, nil},
		{"admin_act", "POST", accountsAPI + "/1/explode", "", http.StatusNotFound, nil},
		{"admin_act", "POST", accountsAPI + "/1/expire", "", http.StatusForbidden, http.Header{"Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Mode": {"no-cors"}}},
		{"admin_invite", "POST", accountsAPI, `{"account":{"email":"new@example.com"}}`, http.StatusUnprocessableEntity, nil},
		{"admin_invite", "POST", accountsAPI, `{"email":"none"}`, http.StatusUnprocessableEntity, nil},
		{"admin_invite", "POST", accountsAPI, `[]`, http.StatusBadRequest, nil},
		{"admin_invite", "POST", accountsAPI, `{}`, http.StatusBadRequest, nil},
		{"admin_invite", "POST", accountsAPI, `x`, http.StatusUnsupportedMediaType, http.Header{"Content-Type": {"text/plain"}}},
		{"admin_invite", "POST", accountsAPI, `{"email":"` + strings.Repeat("x", 1<<16) + `"}`, http.StatusRequestEntityTooLarge, nil},
		{"admin_invite", "POST", accountsAPI, `{"email":"old@example.com","admin":true}`, http.StatusCreated, nil},
	} {
		d.answers(test.id, test.status, a.Do(test.method, test.path, test.body, root, test.header))
	}
	a.Do("POST", accountsAPI, `{"email":"link@example.com","mail":false}`, root).Want(http.StatusCreated).Says("/users/password/new/")
	mailed := a.Do("POST", accountsAPI, `{"email":"mail@example.com","mail":true}`, root)
	d.answers("admin_invite", http.StatusCreated, mailed.Has(map[string]string{"email": "mail@example.com"}).Says(`"password_url":null`))
	silent, its := governed(t, func(*storetest.Setup) {}, func(c *config.Config) { c.Mail.Host = "" })
	d.answers("admin_act", http.StatusUnprocessableEntity, silent.Do("POST", accountsAPI+"/2/mail", "", its))
	d.answers("admin_invite", http.StatusUnprocessableEntity, silent.Do("POST", accountsAPI, `{"email":"mail@example.com","mail":true}`, its))
	unnamed := servertest.New(t)
	busy, _ := governed(t, func(*storetest.Setup) {}, func(c *config.Config) { c.Limits.AnonymousPerMinute = 1 })
	failed, its := governed(t, func(*storetest.Setup) {})
	failed.Store.Abandon()
	env.OK(t, os.Truncate(failed.Store.Path, 2*int64(os.Getpagesize())))
	for i, c := range adminCalls {
		_ = busy.Get("/api/v2/openapi", servertest.Far(i))
		d.answers(c.id, http.StatusTooManyRequests, busy.Do(c.method, c.path, c.body, servertest.Far(i)))
		d.answers(c.id, http.StatusServiceUnavailable, failed.Do(c.method, c.path, c.body, its))
	}
	unnamed.Get(accountsAPI).Want(http.StatusUnauthorized)
	for id, op := range d.byID {
		if isAdminCall(id) != slices.Contains(ids, id) {
			t.Errorf("there is no call of %s", id)
		}
		for status := range op.Responses {
			if n := 0; isAdminCall(id) && status != "500" && status != "507" {
				if _, _ = fmt.Sscan(status, &n); !d.seen[id][n] {
					t.Errorf("%s: no answer had the status %d", id, n)
				}
			}
		}
	}
}

// The commands that the help shows work as they are written.
func TestTheHelpsCommandsForAdministratorsWork(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("the help shows curl, and it is not installed here")
	}
	a, root := governed(t, func(*storetest.Setup) {})
	commands := helpCommands(a)
	for _, c := range adminCalls {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", commands[c.id]+" -w '\n%{http_code}'")
		cmd.Env = append(os.Environ(), "API_TOKEN="+strings.TrimPrefix(root.Get("Authorization"), "Bearer "))
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "\n20") {
			t.Errorf("%s: %v: %s", commands[c.id], err, out)
		}
	}
}

// Each change that an administrator makes over the API or on the pages leaves an event that
// names the administrator and the account.
func TestEachChangeByAnAdministratorIsInTheLog(t *testing.T) {
	t.Parallel()
	a, root := governed(t, func(*storetest.Setup) {})
	a.AddAccount("page@example.com", servertest.AnnPassword)
	a.SetAdmin("page@example.com", true)
	page := a.SignedIn("page@example.com", servertest.AnnPassword)
	acts := map[string]struct {
		kind  record.AdminKind
		ready func(email string) error
	}{
		"enable":   {record.AdminAccountEnable, func(email string) error { return a.Store.SetDisabled(ctx, storetest.Operator, email, true) }},
		"confirm":  {record.AdminAddressConfirm, nil},
		"password": {record.AdminPasswordLink, nil},
		"mail":     {record.AdminPasswordLink, nil},
		"unlink": {record.AdminIdentityUnlink, func(email string) error {
			if err := a.Store.ConfirmAccount(ctx, storetest.Operator, email); err != nil {
				return err
			}
			_, err := a.Store.SignInAs(ctx, store.Actor{}, store.External{Identity: record.Identity{Issuer: "i", Subject: email}, Email: email, Verified: true, Link: true})
			return err
		}},
		"grant":  {record.AdminGrant, nil},
		"revoke": {record.AdminRevoke, func(email string) error { return a.Store.SetAdmin(ctx, storetest.Operator, email, true, false) }},
		"sign_out": {record.AdminAccessEnd, func(email string) error {
			_, err := a.Store.SignIn(ctx, store.Actor{Client: "192.0.2.8"}, email, secret.New(servertest.AnnPassword))
			return err
		}},
		"tokens": {record.AdminAccessEnd, nil},
		"mfa": {record.AdminFactorRemove, func(email string) error {
			n, err := a.Store.SignIn(ctx, store.Actor{Client: "192.0.2.8"}, email, secret.New(servertest.AnnPassword))
			storetest.EnableTOTP(t, a.Store, &n)
			return err
		}},
		"disable": {record.AdminAccountDisable, nil},
		"expire":  {record.AdminPushesExpire, nil},
		"remove":  {record.AdminAccountRemoved, nil},
	}
	for i, one := range manage.AccountActs {
		name := one.Name
		act, known := acts[name]
		if !known {
			t.Errorf("nothing is said of the act %s", name)
		}
		for way := range 2 {
			email := fmt.Sprintf("user%d@example.com", 2*i+way)
			one, err := a.Store.SignUp(ctx, store.Actor{Client: fmt.Sprintf("192.0.2.%d", 100+2*i+way)}, email, secret.New(servertest.AnnPassword))
			if err == nil && act.ready != nil {
				err = act.ready(email)
			}
			env.OK(t, err)
			last, err := a.Store.LastAdminEvent(ctx)
			env.OK(t, err)
			by, path := record.AccountID(1), fmt.Sprintf("%s/%d", accountsAPI, one.ID)
			switch {
			case way == 1:
				by = 3
				page.Post(fmt.Sprintf("/admin/accounts/%d", one.ID), "do", name, "email", email)
			case name == "remove":
				a.Do("DELETE", path, "", root).Want(http.StatusOK).Has(map[string]string{"email": email})
			default:
				a.Do("POST", path+"/"+name, "", root).Want(http.StatusOK).Has(map[string]string{"email": email})
			}
			wantChange(t, a, last, store.AdminEventInfo{AdminEvent: record.AdminEvent{Kind: act.kind, Account: one.ID}, By: store.Actor{Account: by}})
			if name == "expire" || name == "remove" || name == "password" || name == "mail" || name == "sign_out" || name == "tokens" || way == 1 {
				continue
			}
			last, _ = a.Store.LastAdminEvent(ctx)
			a.Do("POST", path+"/"+name, "", root).Want(http.StatusOK)
			if again, _ := a.Store.LastAdminEvent(ctx); again != last {
				t.Errorf("%s changed nothing, and left an event", name)
			}
		}
	}
	for _, row := range slices.Concat(new(api.Service).Routes(), new(pages.Set).Routes()) {
		if !strings.HasPrefix(row.Pattern, adminAPI) && !strings.HasPrefix(row.Pattern, "/admin") || row.Method == http.MethodGet || row.Method == http.MethodHead {
			continue
		}
		switch row.Name {
		case "admin_policy":
			last, _ := a.Store.LastAdminEvent(ctx)
			a.Do("PUT", accountsAPI+"/2/policy/finance", "", root).Want(http.StatusOK).Has(map[string]string{"policy": "finance"})
			wantChange(t, a, last, store.AdminEventInfo{AdminEvent: record.AdminEvent{Kind: record.AdminPolicyChange, Account: 2}, By: store.Actor{Account: 1}})
			last, _ = a.Store.LastAdminEvent(ctx)
			page.Post("/admin/accounts/2", "do", "policy", "policy", "")
			wantChange(t, a, last, store.AdminEventInfo{AdminEvent: record.AdminEvent{Kind: record.AdminPolicyChange, Account: 2}, By: store.Actor{Account: 3}})
		case "admin_act", "admin_remove", "account_changed": // above
		case "admin_invite", "account_invited":
			last, _ := a.Store.LastAdminEvent(ctx)
			if by := record.AccountID(1); row.Name == "admin_invite" {
				made := a.Do("POST", row.Pattern, "account[email]=api@example.com", root, servertest.Urlencoded).Want(http.StatusCreated)
				wantChange(t, a, last, store.AdminEventInfo{AdminEvent: record.AdminEvent{Kind: record.AdminAccountCreate}, By: store.Actor{Account: by}})
				_, path, _ := strings.Cut(made.Text("password_url"), "push.example.com")
				a.Browser().Get(path).Want(http.StatusOK).Says("api@example.com")
			} else {
				page.Post(row.Pattern, "email", "form@example.com").Want(http.StatusCreated)
				wantChange(t, a, last, store.AdminEventInfo{AdminEvent: record.AdminEvent{Kind: record.AdminAccountCreate}, By: store.Actor{Account: 3}})
			}
		default:
			t.Errorf("no test finds the event of %s", row.Name)
		}
	}
}

// wantChange fails the test unless an event after a number has that kind, account and actor.
func wantChange(t *testing.T, a *servertest.Server, after uint64, want store.AdminEventInfo) {
	t.Helper()
	list, err := a.Store.AdminEvents(ctx, time.Time{}, after, 100)
	env.OK(t, err)
	if !slices.ContainsFunc(list, func(e store.AdminEventInfo) bool {
		return e.Kind == want.Kind && (want.Account == 0 || e.Account == want.Account) && e.By.Role == store.Admin && e.By.Account == want.By.Account && e.By.IP == "127.0.0.1"
	}) {
		t.Errorf("the log has no %s of account %d by account %d: %+v", want.Kind, want.Account, want.By.Account, list)
	}
}

func TestAccountsAreListedOverTheAPI(t *testing.T) {
	t.Parallel()
	a, root := governed(t, func(*storetest.Setup) {})
	for i := range store.PageSize {
		a.Store.Account(fmt.Sprintf("user%03d@example.net", i))
	}
	var page struct {
		Accounts []struct {
			ID    uint64
			Email string
			Room  struct{ Pushes int }
		}
		Next *uint64
	}
	read := func(query string) int {
		t.Helper()
		page.Accounts, page.Next = nil, nil
		env.OK(t, json.Unmarshal([]byte(a.Get(accountsAPI+query, root).Want(http.StatusOK).Body), &page))
		return len(page.Accounts)
	}
	a.Create(`"payload":"x"`, a.AddToken(bobEmail))
	if n := read(""); n != store.PageSize || page.Next == nil || *page.Next != 3 || page.Accounts[0].ID != 52 {
		t.Fatalf("%d accounts, %+v", n, page)
	}
	if n := read("?before=3"); n != 2 || page.Next != nil || page.Accounts[0].Email != bobEmail || page.Accounts[0].Room.Pushes != 1 {
		t.Errorf("%+v", page)
	}
	if n := read("?q=USER04"); n != 10 || page.Next != nil {
		t.Errorf("%d accounts", n)
	}
}

// An export has every event that its filter lets through, in order, and nothing of a push.
func TestTheInstanceLogIsExported(t *testing.T) {
	t.Parallel()
	a, root := governed(t, func(*storetest.Setup) {})
	for range 600 { // more than one part
		env.OK(t, a.Store.NoteReload(ctx, storetest.Operator, false, []string{"brand.title"}))
	}
	push := a.Create(`"payload":"marker-text","name":"marker-name"`, a.AddToken(bobEmail))
	a.Do("POST", accountsAPI+"/2/disable", "", root).Want(http.StatusOK)
	last, err := a.Store.LastAdminEvent(ctx)
	env.OK(t, err)
	export := func(query string, want uint64) (lines []store.AdminLine) {
		t.Helper()
		got := a.Get(adminAPI+"/log.jsonl"+query, root).Want(http.StatusOK)
		if got.Header.Get("Content-Type") != "application/jsonl" || !strings.Contains(got.Header.Get("Content-Disposition"), "instance-log.jsonl") || strings.Contains(got.Body, "marker") || strings.Contains(got.Body, push) {
			t.Errorf("%v: %s", got.Header, got.Body)
		}
		for in := bufio.NewScanner(strings.NewReader(got.Body)); in.Scan(); {
			var one store.AdminLine
			if err := json.Unmarshal(in.Bytes(), &one); err != nil || len(lines) > 0 && one.Number <= lines[len(lines)-1].Number {
				t.Fatalf("%s: %v", in.Bytes(), err)
			}
			lines = append(lines, one)
		}
		if uint64(len(lines)) != want {
			t.Errorf("%s: %d lines, not %d", query, len(lines), want)
		}
		return lines
	}
	all := export("", last)
	if e := all[last-1]; e.Event != "account_disable" || e.Actor != "admin" || e.ActorID != 1 || e.Account != bobEmail || e.AccountID != 2 {
		t.Errorf("the last is %+v", e)
	}
	export("?event=reload", 600)
	export("?before=3", 2)
	export("?event=account_disable&account=2", 1)
	export("?event=purge", 0)
	if got := a.Do("HEAD", adminAPI+"/log.jsonl", "", root).Want(http.StatusOK); got.Body != "" {
		t.Error("HEAD has a body")
	}
}

func TestAdministratorsSeeTheHealthOfTheInstallation(t *testing.T) {
	t.Parallel()
	a, root := governed(t, func(*storetest.Setup) {})
	a.AddAccount("page@example.com", servertest.AnnPassword)
	a.SetAdmin("page@example.com", true)
	admin := a.SignedIn("page@example.com", servertest.AnnPassword)
	want := `{"problems":1,"warnings":1,"findings":[{"check":"server","grade":"ok","text":"version 3.0.0 is running"},{"check":"backups","grade":"warning","text":"the server <makes> none","cure":"set backup.schedule"},{"check":"clock","grade":"problem","text":"it jumped","cure":"correct the clock"},{"check":"swap","grade":"skipped","text":"this system does not report it"}]}`
	if got := a.Get(adminAPI+"/health", root).Want(http.StatusOK); strings.TrimSpace(got.Body) != want {
		t.Error(got.Body)
	}
	page := admin.Get("/admin/health").Says("1 problem.").Says("To do:").Says("correct the clock").Says("the server <makes> none")
	if strings.Index(page.Body, "it jumped") > strings.Index(page.Body, "is running") {
		t.Error("a problem stands behind what is fine")
	}
	admin.Get("/admin/settings").Says("--listen").Says("yaml</code>, line\u00a07").Lacks(`{base_url`).Says("a change needs a restart").Says("1 setting has its default").Says("https://push.example.com")
	a.Get(adminAPI+"/settings", root).Says(`{"key":"base_path","value":"\"\"","origin":"default","reload":false}`)
	bare := servertest.New(t)
	bare.Store.Account(rootEmail)
	bare.SetAdmin(rootEmail, true)
	for _, path := range []string{"/health", "/settings"} {
		bare.Get(adminAPI+path, bare.AddScopedToken(rootEmail, record.ScopeAdmin)).Want(http.StatusNotFound)
	}
}
