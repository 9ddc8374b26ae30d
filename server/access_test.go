package server_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pushbox/config"
	"pushbox/internal/testkit/env"
	"pushbox/server/servertest"
	"pushbox/store"
	"pushbox/store/cold"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

// The callers in the matrix of access.
const (
	asAnonymous = iota
	asBadToken
	asStranger
	asOwner
	callers
)

// An accessRow is a request with the statuses that the four callers get: with anonymous
// callers allowed, and without.
type accessRow struct {
	method, path, body string
	open, closed       [callers]int
}

// matrix has, for each route, the statuses that the four callers get: with anonymous
// callers allowed, and without.
var matrix = []accessRow{
	{"GET", "/api/v2/version", "", [callers]int{200, 200, 200, 200}, [callers]int{200, 200, 200, 200}},
	{"GET", "/api/v2/openapi.json", "", [callers]int{200, 200, 200, 200}, [callers]int{200, 200, 200, 200}},
	{"GET", "/api/v2/openapi-3.0.json", "", [callers]int{200, 200, 200, 200}, [callers]int{200, 200, 200, 200}},
	{"GET", "/readyz", "", [callers]int{200, 200, 200, 200}, [callers]int{200, 200, 200, 200}},
	{"GET", "/metrics", "", [callers]int{404, 404, 404, 404}, [callers]int{404, 404, 404, 404}},
	{"GET", "/healthz", "", [callers]int{200, 200, 200, 200}, [callers]int{200, 200, 200, 200}},
	{"GET", "/doctor/nothing", "", [callers]int{404, 404, 404, 404}, [callers]int{404, 404, 404, 404}},
	{"POST", pushes, `{"push":{"payload":"x"}}`, [callers]int{201, 401, 201, 201}, [callers]int{401, 401, 201, 201}},
	{"POST", pushes, `{"push":{"payload":"x","files":[]}}`, [callers]int{201, 401, 201, 201}, [callers]int{401, 401, 201, 201}},
	{"POST", pushes, `{"push":{"payload":"x","files":[{"content":""}]}}`, [callers]int{401, 401, 201, 201}, [callers]int{401, 401, 201, 201}},
	{"POST", pushes, `{"push":{"payload":"x","kind":"file"}}`, [callers]int{401, 401, 422, 422}, [callers]int{401, 401, 422, 422}},
	{"GET", pushes + "/TOKEN", "", [callers]int{200, 401, 200, 200}, [callers]int{401, 401, 200, 200}},
	{"GET", pushes + "/TOKEN/preview", "", [callers]int{200, 401, 200, 200}, [callers]int{401, 401, 200, 200}},
	{"GET", pushes + "/TOKEN/audit", "", [callers]int{401, 401, 403, 200}, [callers]int{401, 401, 403, 200}},
	{"GET", pushes + "/TOKEN/certificate", "", [callers]int{401, 401, 403, 409}, [callers]int{401, 401, 403, 409}}, // the push is live
	{"DELETE", pushes + "/TOKEN", "", [callers]int{401, 401, 403, 200}, [callers]int{401, 401, 403, 200}},
	{"POST", pushes + "/TOKEN/notify_emails", `{"notify_emails_to":"bob@example.net"}`, [callers]int{401, 401, 403, 201}, [callers]int{401, 401, 403, 201}},
	{"POST", pushes + "/TOKEN/thaw", "", [callers]int{401, 401, 403, 200}, [callers]int{401, 401, 403, 200}},
	{"GET", "/d/GRANT/1", "", [callers]int{200, 200, 200, 200}, [callers]int{200, 200, 200, 200}},
	{"HEAD", "/d/GRANT/1", "", [callers]int{200, 200, 200, 200}, [callers]int{200, 200, 200, 200}},
	{"GET", pushes + "/active", "", [callers]int{401, 401, 200, 200}, [callers]int{401, 401, 200, 200}},
	{"POST", requests, `{"request":{"text":"x"}}`, [callers]int{401, 401, 201, 201}, [callers]int{401, 401, 201, 201}},
	{"GET", requests, "", [callers]int{401, 401, 200, 200}, [callers]int{401, 401, 200, 200}},
	{"GET", requests + "/REQUEST", "", [callers]int{401, 401, 404, 200}, [callers]int{401, 401, 404, 200}},
	{"GET", requests + "/open", "", [callers]int{401, 401, 200, 200}, [callers]int{401, 401, 200, 200}},
	{"GET", requests + "/ready", "", [callers]int{401, 401, 200, 200}, [callers]int{401, 401, 200, 200}},
	{"GET", requests + "/closed", "", [callers]int{401, 401, 200, 200}, [callers]int{401, 401, 200, 200}},
	{"GET", requests + "/active", "", [callers]int{401, 401, 200, 200}, [callers]int{401, 401, 200, 200}},
	{"GET", requests + "/REQUEST/preview", "", [callers]int{401, 401, 404, 200}, [callers]int{401, 401, 404, 200}},
	{"GET", requests + "/REQUEST/audit", "", [callers]int{401, 401, 404, 200}, [callers]int{401, 401, 404, 200}},
	{"PATCH", requests + "/REQUEST/respond", `{"request":{"response":"x"}}`, [callers]int{404, 401, 404, 404}, [callers]int{401, 401, 404, 404}}, // an id takes no answer
	{"PATCH", requests + "/ASKED/respond", `{"request":{"response":"x"}}`, [callers]int{200, 401, 200, 200}, [callers]int{401, 401, 200, 200}},
	{"DELETE", requests + "/REQUEST", "", [callers]int{401, 401, 404, 200}, [callers]int{401, 401, 404, 200}},
	{"GET", pushes + "/expired", "", [callers]int{401, 401, 200, 200}, [callers]int{401, 401, 200, 200}},
}

// matrixV1 is the matrix of API version 1, of which each prefix reaches every push.
func matrixV1() []accessRow {
	const password = `{"password":{"payload":"x"}}`
	rows := []accessRow{
		{"GET", "/api/v1/openapi.json", "", [callers]int{200, 200, 200, 200}, [callers]int{200, 200, 200, 200}},
		{"GET", "/api/v1/openapi-3.0.json", "", [callers]int{200, 200, 200, 200}, [callers]int{200, 200, 200, 200}},
		{"GET", "/api/v1/version", "", [callers]int{200, 200, 200, 200}, [callers]int{200, 200, 200, 200}},
		{"GET", "/api/v1/version.json", "", [callers]int{200, 200, 200, 200}, [callers]int{200, 200, 200, 200}},
		{"OPTIONS", "/p.json", "", [callers]int{200, 200, 200, 200}, [callers]int{200, 200, 200, 200}},
		{"POST", "/p.json", password, [callers]int{201, 401, 201, 201}, [callers]int{401, 401, 201, 201}},
		{"POST", "/p.json", `{"password":{"payload":"x","kind":"file"}}`, [callers]int{401, 401, 422, 422}, [callers]int{401, 401, 422, 422}},
		{"POST", "/f.json", `{"file_push":{"payload":"x"}}`, [callers]int{401, 401, 422, 422}, [callers]int{401, 401, 422, 422}},
		{"POST", "/r.json", `{"url":{"payload":"https://example.com"}}`, [callers]int{401, 401, 201, 201}, [callers]int{401, 401, 201, 201}},
	}
	for _, prefix := range []string{"/p", "/f", "/r"} {
		rows = append(
			rows,
			accessRow{"GET", prefix + "/TOKEN.json", "", [callers]int{200, 401, 200, 200}, [callers]int{401, 401, 200, 200}},
			accessRow{"GET", prefix + "/TOKEN/r.json", "", [callers]int{200, 401, 200, 200}, [callers]int{401, 401, 200, 200}},
			accessRow{"GET", prefix + "/TOKEN/preview.json", "", [callers]int{200, 401, 200, 200}, [callers]int{401, 401, 200, 200}},
			accessRow{"GET", prefix + "/TOKEN/audit.json", "", [callers]int{401, 401, 403, 200}, [callers]int{401, 401, 403, 200}},
			accessRow{"DELETE", prefix + "/TOKEN.json", "", [callers]int{401, 401, 401, 200}, [callers]int{401, 401, 401, 200}},
			accessRow{"GET", prefix + "/active.json", "", [callers]int{401, 401, 200, 200}, [callers]int{401, 401, 200, 200}},
			accessRow{"GET", prefix + "/expired.json", "", [callers]int{401, 401, 200, 200}, [callers]int{401, 401, 200, 200}},
			accessRow{"HEAD", prefix + "/TOKEN.json", "", [callers]int{405, 405, 405, 405}, [callers]int{405, 405, 405, 405}}, // it would count a view
			accessRow{"GET", prefix + "/TOKEN/nothing.json", "", [callers]int{404, 404, 404, 404}, [callers]int{404, 404, 404, 404}},
		)
	}
	for _, absent := range []string{"/api/v1/accounts", "/api/v2/accounts", "/api/v2/workspaces"} { // a 401 would say that they exist
		rows = append(rows, accessRow{"GET", absent, "", [callers]int{404, 404, 404, 404}, [callers]int{404, 404, 404, 404}})
	}
	return rows
}

func TestEachRouteChecksWhoMayCallIt(t *testing.T) {
	t.Parallel()
	for _, anonymous := range []bool{true, false} {
		a := servertest.New(t, servertest.SendsMail, func(c *config.Config) { c.AllowAnonymous, c.EnableRequests = anonymous, true })
		owner := a.AddTokenUser("owner@example.com")
		who := [callers]http.Header{asAnonymous: {}, asBadToken: {"Authorization": {"Bearer bad"}}, asStranger: a.AddTokenUser("stranger@example.com"), asOwner: owner}
		asked := a.Do("POST", requests, `{"request":{"text":"x","max_answers":9}}`, owner).Want(http.StatusCreated)
		grant := a.PushFiles("owner@example.com", []byte("x")).Grant()
		for _, row := range slices.Concat(matrix, matrixV1()) {
			want := row.open
			if !anonymous {
				want = row.closed
			}
			for caller, header := range who {
				token := a.Create(`"payload":"x","deletable_by_viewer":false`, owner)
				path := strings.NewReplacer("TOKEN", token, "GRANT", grant, "REQUEST", asked.Text("id"), "ASKED", asked.Text("url_token")).Replace(row.path)
				got := a.Do(row.method, path, row.body, header)
				if got.Status != want[caller] {
					t.Errorf("%s %s, anonymous %v, caller %d: %d, not %d", row.method, row.path, anonymous, caller, got.Status, want[caller])
				}
				if got.Status == http.StatusUnauthorized && (got.Header.Get("WWW-Authenticate") != "Bearer" || got.Problem() != "unauthorized") {
					t.Errorf("%s %s: %v %s", row.method, row.path, got.Header, got.Body)
				}
			}
		}
		for _, name := range slices.DeleteFunc(a.Handler.RouteNames(false), func(name string) bool { return strings.HasPrefix(name, "admin_") }) {
			if !strings.Contains(a.Log.String(), `"route":"`+name+`"`) {
				t.Errorf("the matrix does not have the route %s", name)
			}
		}
	}
}

// A route without a scope would be open to every token.
func TestEachRouteThatTakesATokenStatesOneScope(t *testing.T) {
	t.Parallel()
	for _, row := range servertest.New(t, servertest.TakesRequests).Handler.Rows() {
		one := row.Scope == record.ScopeCreate || row.Scope == record.ScopeRead || row.Scope == record.ScopeManage || row.Scope == record.ScopeAdmin
		if one != row.TakesToken || !one && row.Scope != 0 {
			t.Errorf("%s %s: takes a token: %t, scope %q", row.Method, row.Pattern, row.TakesToken, row.Scope)
		}
	}
}

func TestATokenDoesNoMoreThanItsScope(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, servertest.SendsMail, servertest.TakesRequests)
	owner := a.AddTokenUser("owner@example.com")
	limited := make(map[record.Scopes]http.Header)
	env.OK(t, a.Store.SetAdmin(ctx, storetest.Operator, "owner@example.com", true, false))
	for scope := record.Scopes(1); scope <= record.AllScopes|record.ScopeAdmin; scope++ {
		token, err := a.Store.CreateToken(ctx, storetest.Operator, "owner@example.com", store.TokenTerms{Scopes: scope})
		env.OK(t, err)
		limited[scope] = servertest.Bearer(token.Secret.Reveal())
	}
	for _, row := range a.Handler.Rows() {
		if !row.TakesToken {
			continue
		}
		for scope, header := range limited {
			path := strings.NewReplacer(":url_token", a.Create(`"payload":"x"`, owner), ":account_id", "77").Replace(row.Pattern)
			if row.Word != "" {
				path = strings.Replace(row.Pattern, ":url_token", row.Word, 1)
			}
			got := a.Do(row.Method, path, `{"push":{"payload":"x"},"notify_emails_to":"bob@example.net"}`, header)
			if refused := got.Status == http.StatusForbidden; refused == scope.Has(row.Scope) {
				t.Errorf("%s %s, scope %s: %d %s", row.Method, row.Pattern, scope, got.Status, got.Body)
			}
			if got.Status == http.StatusForbidden && row.Method != http.MethodHead && (got.Problem() != "scope" || !strings.Contains(got.Body, "scope "+row.Scope.String())) {
				t.Errorf("%s: %s", row.Pattern, got.Body)
			}
		}
	}
}

func TestCredentials(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	good := strings.TrimPrefix(a.AddTokenUser("ann@example.com").Get("Authorization"), "Bearer ")
	a.AddTokenUser("bob@example.com")
	pair := func(email, token string) http.Header {
		return http.Header{"X-User-Email": {email}, "X-User-Token": {token}}
	}
	for name, test := range map[string]struct {
		header http.Header
		want   int
	}{
		"bearer":                       {http.Header{"Authorization": {"Bearer " + good}}, 200},
		"bearer in lower case":         {http.Header{"Authorization": {"bearer " + good}}, 200},
		"bearer in upper case":         {http.Header{"Authorization": {"BEARER  " + good}}, 200},
		"bearer with nothing":          {http.Header{"Authorization": {"Bearer "}}, 401},
		"bearer with two":              {http.Header{"Authorization": {"Bearer " + good + " x"}}, 401},
		"the scheme token":             {http.Header{"Authorization": {"Token " + good}}, 200},
		"the scheme in lower case":     {http.Header{"Authorization": {"token " + good}}, 200},
		"another scheme":               {http.Header{"Authorization": {"Basic " + good}}, 401},
		"the token alone":              {http.Header{"Authorization": {good}}, 200},
		"a bad token alone":            {http.Header{"Authorization": {good + "x"}}, 401},
		"an empty header":              {http.Header{"Authorization": {""}}, 401},
		"two headers":                  {http.Header{"Authorization": {"Bearer " + good, "Bearer " + good}}, 401},
		"pair":                         {pair("ann@example.com", good), 200},
		"pair of another address":      {pair("bob@example.com", good), 200},
		"pair of an unknown address":   {pair("eve@example.com", good), 200},
		"pair of a bad token":          {pair("ann@example.com", "x"), 401},
		"pair without a token":         {http.Header{"X-User-Email": {"ann@example.com"}}, 401},
		"pair of an empty token":       {pair("ann@example.com", ""), 401},
		"pair without an address":      {http.Header{"X-User-Token": {good}}, 200},
		"pair of an empty address":     {pair("", good), 200},
		"pair of two tokens":           {http.Header{"X-User-Token": {good, good}}, 401},
		"bearer goes before pair":      {http.Header{"Authorization": {"Bearer " + good}, "X-User-Email": {"x"}, "X-User-Token": {"y"}}, 200},
		"bad bearer goes before pair":  {http.Header{"Authorization": {"Bearer x"}, "X-User-Email": {"ann@example.com"}, "X-User-Token": {good}}, 401},
		"empty one goes before pair":   {http.Header{"Authorization": {""}, "X-User-Token": {good}}, 401},
		"a cookie is no credential":    {http.Header{"Cookie": {"token=" + good}}, 401},
		"nor is a query, nor anything": {http.Header{}, 401},
	} {
		if got := a.Get(pushes+"/active?token="+good, test.header); got.Status != test.want {
			t.Errorf("%s: %d", name, got.Status)
		}
	}
}

// unconfirm makes an account one of which it is not known whose address it has.
func unconfirm(t *testing.T, a *servertest.Server, email string) {
	t.Helper()
	all, err := a.Store.Accounts(t.Context())
	for _, one := range all {
		if one.Email == email {
			_, err = cold.ChangeAccount(t.Context(), a.Store.Engine(), one.ID, record.SessionDigest{}, func(now record.Account) (record.Account, record.SessionChange, record.AdminEvent, error) {
				now.Unconfirmed = true
				return now, record.SessionChange{}, storetest.Told(a.Store.Engine()), nil
			})
		}
	}
	env.OK(t, err)
}

func TestRequestsAreLimited(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, func(c *config.Config) { c.Limits.AnonymousPerMinute, c.Limits.TokenPerMinute = 3, 5 })
	ann := a.AddTokenUser("ann@example.com")
	ann.Set("X-Forwarded-For", "203.0.113.200")
	eve := a.AddTokenUser("eve@example.com") // whose address is not confirmed: to sign up must not lift a limit
	eve.Set("X-Forwarded-For", "203.0.113.201")
	unconfirm(t, a, "eve@example.com")
	for _, caller := range []struct {
		header http.Header
		limit  int
	}{{servertest.Far(1), 3}, {ann, 5}, {eve, 3}} {
		for range caller.limit {
			a.Do("POST", pushes, "{", caller.header).Want(http.StatusBadRequest)
		}
		got := a.Do("POST", pushes, "{", caller.header).Want(http.StatusTooManyRequests)
		if got.Problem() != "too-many-requests" || got.Header.Get("Retry-After") == "" {
			t.Errorf("%s %v", got.Body, got.Header)
		}
	}
	for _, path := range []string{"/healthz", "/api/v2/version"} { // which no limit counts
		a.Get(path, servertest.Far(1)).Want(http.StatusOK)
		for range 4 {
			a.Get(path, servertest.Far(2)).Want(http.StatusOK)
		}
	}
	a.Do("POST", pushes, "{", servertest.Far(2)).Want(http.StatusBadRequest)
	a.Store.Clock.Advance(time.Minute)
	a.Do("POST", pushes, "{", servertest.Far(1)).Want(http.StatusBadRequest)
	for range 10 {
		a.Do("POST", pushes, "{").Want(http.StatusBadRequest) // from this machine, and no proxy in front
	}
}

// An address alone is no credential: it is not looked at.
func TestAnAddressWithoutATokenIsAnonymous(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	a.Do("POST", pushes, `{"push":{"payload":"x"}}`, http.Header{"X-User-Email": {"ann@example.com"}}).Want(http.StatusCreated)
	a.Do("POST", pushes, `{"push":{"payload":"x"}}`, http.Header{"X-User-Email": {"ann@example.com"}, "X-User-Token": {"x"}}).Want(http.StatusUnauthorized)
}

func TestRequestsForUnknownPathsAreLimited(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, func(c *config.Config) { c.Limits.AnonymousPerMinute = 2 })
	a.Get("/nowhere", servertest.Far(1)).Want(http.StatusNotFound)
	a.Do("PUT", pushes, "", servertest.Far(1)).Want(http.StatusMethodNotAllowed)
	a.Get("/nowhere", servertest.Far(1)).Want(http.StatusTooManyRequests)
}

func TestBadTokensAreLimitedAsAnonymousRequests(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, func(c *config.Config) { c.Limits.AnonymousPerMinute = 3 })
	header := servertest.Far(1)
	header.Set("Authorization", "Bearer guess")
	for range 3 {
		a.Get(pushes+"/active", header).Want(http.StatusUnauthorized)
	}
	a.Get(pushes+"/active", header).Want(http.StatusTooManyRequests)
}

func TestGuessingTokensIsLimitedEvenFromThisMachine(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	known := a.Create(`"payload":"x"`)
	for i := range 20 {
		tail := [...]string{"", "/preview", ""}[i%3]
		unknown := store.NewToken(a.Store.Clock.Now()).Reveal()
		a.Get(pushes + "/" + unknown[:34-i%2] + tail).Want(http.StatusNotFound)
	}
	for _, tail := range []string{"", "/preview"} {
		a.Get(pushes + "/" + known + tail).Want(http.StatusOK) // one that is there is always served
	}
	for _, token := range []string{store.NewToken(a.Store.Clock.Now()).Reveal(), "x"} {
		for _, tail := range []string{"", "/preview"} {
			got := a.Get(pushes + "/" + token + tail).Want(http.StatusTooManyRequests)
			if got.Header.Get("Retry-After") != "60" {
				t.Errorf("Retry-After %q", got.Header.Get("Retry-After"))
			}
		}
	}
	a.Get(pushes+"/"+known, servertest.Far(1)).Want(http.StatusOK)
	a.Do("POST", pushes, `{"push":{"payload":"x"}}`).Want(http.StatusCreated)
	a.Store.Clock.Advance(time.Minute)
	a.Get(pushes + "/" + known).Want(http.StatusOK)
}

// Every error value of the packages that handlers call is in the table of problems, or
// errorReply knows it by itself.
func TestEveryErrorHasAStatus(t *testing.T) {
	t.Parallel()
	known := map[string]bool{
		"api.errAny":       true, // represents a 500 in the description of the API
		"record.ErrRecord": true, // an engine makes it ErrCorrupt
	}
	for _, name := range errorsKnown(t) {
		known[name] = true
	}
	for dir, least := range map[string]int{".": 2, "action": 12, "api": 0, "intake": 0, "manage": 0, "pages": 0, "body": 3, "../store": 1, "../store/record": 30, "../internal/limit": 1} {
		found := errorsDeclared(t, dir)
		if len(found) < least {
			t.Errorf("only %d errors were found in %s: %v", len(found), dir, found)
		}
		for _, name := range found {
			if !known[name] {
				t.Errorf("%s has no row in the table of problems", name)
			}
		}
	}
}

// errorsKnown returns the errors, as package.Name, that have a row in the table of
// problems or that errorReply looks for.
func errorsKnown(t *testing.T) (names []string) {
	t.Helper()
	for path, decl := range map[string]string{"action/problem.go": "problems", "chain.go": "errorReply"} {
		names = append(names, errorsIn(t, path, decl)...)
	}
	return names
}

// errorsIn returns the errors, as package.Name, in the rows or the comparisons of a declaration.
func errorsIn(t *testing.T, path, decl string) (names []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	env.OK(t, err)
	qualified := func(e ast.Expr) string {
		if sel, ok := e.(*ast.SelectorExpr); ok {
			return fmt.Sprintf("%v.%s", sel.X, sel.Sel.Name)
		}
		return fmt.Sprintf("%s.%v", file.Name.Name, e)
	}
	for _, d := range file.Decls {
		if f, isFunc := d.(*ast.FuncDecl); isFunc != (decl == "errorReply") || isFunc && f.Name.Name != decl {
			continue
		}
		ast.Inspect(d, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.KeyValueExpr:
				if fmt.Sprint(n.Key) == "err" {
					names = append(names, qualified(n.Value))
				}
			case *ast.CallExpr:
				if qualified(n.Fun) == "errors.Is" {
					names = append(names, qualified(n.Args[1]))
				}
			}
			return true
		})
	}
	return names
}

// errorsDeclared returns the errors, as package.Name, that the package in dir makes with
// errors.New: of a package that is no room of the server, only the exported ones.
func errorsDeclared(t *testing.T, dir string) (names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	env.OK(t, err)
	others := dir == "body" || strings.HasPrefix(dir, "..")
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		env.OK(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			for i, name := range spec.Names {
				if i >= len(spec.Values) || others && !name.IsExported() {
					continue
				}
				call, ok := spec.Values[i].(*ast.CallExpr)
				if !ok {
					continue
				}
				if fun, ok := call.Fun.(*ast.SelectorExpr); ok && fmt.Sprintf("%v.%s", fun.X, fun.Sel.Name) == "errors.New" {
					names = append(names, file.Name.Name+"."+name.Name)
				}
			}
			return true
		})
	}
	return names
}

func TestAFullStoreRefusesPushesAndServesTheRest(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, func(c *config.Config) { c.MaxStoreSize = 1 << 20 })
	token := a.Create(`"payload":"x"`)
	large := `{"push":{"payload":"` + strings.Repeat("x", 1<<20) + `"}}`
	if a.Do("POST", pushes, large).Want(http.StatusInsufficientStorage).Problem() != "insufficient-storage" {
		t.Error("another text")
	}
	a.Get(pushes + "/" + token).Want(http.StatusOK).Has(map[string]string{"payload": "x"})
	a.Do("DELETE", pushes+"/"+token, "").Want(http.StatusOK)
}

func TestAFailedStoreIsA503(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	token := a.Create(`"payload":"x"`)
	a.Store.Abandon()
	env.OK(t, os.Truncate(a.Store.Path, 2*int64(os.Getpagesize())))
	for _, got := range []servertest.Answer{
		a.Get(pushes + "/" + token),
		a.Get(pushes + "/" + token + "/preview"),
		a.Do("POST", pushes, `{"push":{"payload":"x"}}`),
		a.Do("DELETE", pushes+"/"+token, ""),
		a.Get("/healthz"),
		a.Get("/up"),
	} {
		got.Want(http.StatusServiceUnavailable)
		if got.Problem() != "unavailable" || got.Header.Get("Retry-After") != "10" {
			t.Errorf("%s %v", got.Body, got.Header)
		}
	}
	a.Get("/api/v2/version").Want(http.StatusOK)
}
