package server_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"pushbox/config"
	"pushbox/store"
)

// Who asks, in the matrix of access.
const (
	asNobody = iota
	asBadToken
	asStranger
	asOwner
	callers
)

// matrix says, for each route, what the four callers get: where anonymous
// callers are allowed, and where they are not.
var matrix = []struct {
	method, path, body string
	open, closed       [callers]int
}{
	{"GET", "/api/v2/version", "", [callers]int{200, 200, 200, 200}, [callers]int{200, 200, 200, 200}},
	{"GET", "/api/v2/openapi.json", "", [callers]int{200, 200, 200, 200}, [callers]int{200, 200, 200, 200}},
	{"GET", "/readyz", "", [callers]int{200, 200, 200, 200}, [callers]int{200, 200, 200, 200}},
	{"GET", "/metrics", "", [callers]int{404, 404, 404, 404}, [callers]int{404, 404, 404, 404}},
	{"GET", "/healthz", "", [callers]int{200, 200, 200, 200}, [callers]int{200, 200, 200, 200}},
	{"GET", "/doctor/nothing", "", [callers]int{404, 404, 404, 404}, [callers]int{404, 404, 404, 404}},
	{"POST", pushes, `{"push":{"payload":"x"}}`, [callers]int{201, 401, 201, 201}, [callers]int{401, 401, 201, 201}},
	{"POST", pushes, `{"push":{"payload":"x","files":[]}}`, [callers]int{401, 401, 201, 201}, [callers]int{401, 401, 201, 201}},
	{"POST", pushes, `{"push":{"payload":"x","kind":"file"}}`, [callers]int{401, 401, 422, 422}, [callers]int{401, 401, 422, 422}},
	{"GET", pushes + "/TOKEN", "", [callers]int{200, 401, 200, 200}, [callers]int{401, 401, 200, 200}},
	{"GET", pushes + "/TOKEN/preview", "", [callers]int{200, 401, 200, 200}, [callers]int{401, 401, 200, 200}},
	{"GET", pushes + "/TOKEN/audit", "", [callers]int{401, 401, 403, 200}, [callers]int{401, 401, 403, 200}},
	{"DELETE", pushes + "/TOKEN", "", [callers]int{401, 401, 403, 200}, [callers]int{401, 401, 403, 200}},
	{"POST", pushes + "/TOKEN/notify_emails", `{"notify_emails_to":"bob@example.net"}`, [callers]int{401, 401, 403, 201}, [callers]int{401, 401, 403, 201}},
	{"GET", "/d/GRANT/1", "", [callers]int{200, 200, 200, 200}, [callers]int{200, 200, 200, 200}},
	{"HEAD", "/d/GRANT/1", "", [callers]int{200, 200, 200, 200}, [callers]int{200, 200, 200, 200}},
	{"GET", pushes + "/active", "", [callers]int{401, 401, 200, 200}, [callers]int{401, 401, 200, 200}},
	{"GET", pushes + "/expired", "", [callers]int{401, 401, 200, 200}, [callers]int{401, 401, 200, 200}},
}

func TestEachRouteIsForWhomItIs(t *testing.T) {
	t.Parallel()
	for _, anonymous := range []bool{true, false} {
		a := newAPI(t, sendsMail, func(c *config.Config) { c.AllowAnonymous = anonymous })
		owner := a.user("owner@example.com")
		who := [callers]http.Header{asNobody: {}, asBadToken: {"Authorization": {"Bearer bad"}}, asStranger: a.user("stranger@example.com"), asOwner: owner}
		grant := a.pushFiles("owner@example.com", []byte("x")).grant()
		for _, row := range matrix {
			want := row.open
			if !anonymous {
				want = row.closed
			}
			for caller, header := range who {
				token := a.create(`"payload":"x","deletable_by_viewer":false`, owner)
				path := strings.NewReplacer("TOKEN", token, "GRANT", grant).Replace(row.path)
				got := a.do(row.method, path, row.body, header)
				if got.status != want[caller] {
					t.Errorf("%s %s, anonymous %v, caller %d: %d, not %d", row.method, row.path, anonymous, caller, got.status, want[caller])
				}
				if got.status == http.StatusUnauthorized && (got.header.Get("WWW-Authenticate") != "Bearer" || got.problem() != "unauthorized") {
					t.Errorf("%s %s: %v %s", row.method, row.path, got.header, got.body)
				}
			}
		}
		for _, name := range a.handler.RouteNames(false) {
			if !strings.Contains(a.log.String(), `"route":"`+name+`"`) {
				t.Errorf("the matrix does not have the route %s", name)
			}
		}
	}
}

func TestCredentials(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	good := strings.TrimPrefix(a.user("ann@example.com").Get("Authorization"), "Bearer ")
	a.user("bob@example.com")
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
		"another scheme":               {http.Header{"Authorization": {"Basic " + good}}, 401},
		"the token alone":              {http.Header{"Authorization": {good}}, 401},
		"an empty header":              {http.Header{"Authorization": {""}}, 401},
		"two headers":                  {http.Header{"Authorization": {"Bearer " + good, "Bearer " + good}}, 401},
		"pair":                         {pair("ann@example.com", good), 200},
		"pair in another case":         {pair("Ann@Example.COM", good), 200},
		"pair of another address":      {pair("bob@example.com", good), 401},
		"pair of an unknown address":   {pair("eve@example.com", good), 401},
		"pair of a bad token":          {pair("ann@example.com", "x"), 401},
		"pair without a token":         {http.Header{"X-User-Email": {"ann@example.com"}}, 401},
		"pair without an address":      {http.Header{"X-User-Token": {good}}, 401},
		"pair of an empty address":     {pair("", good), 401},
		"bearer goes before pair":      {http.Header{"Authorization": {"Bearer " + good}, "X-User-Email": {"x"}, "X-User-Token": {"y"}}, 200},
		"bad bearer goes before pair":  {http.Header{"Authorization": {"Bearer x"}, "X-User-Email": {"ann@example.com"}, "X-User-Token": {good}}, 401},
		"a cookie is no credential":    {http.Header{"Cookie": {"token=" + good}}, 401},
		"nor is a query, nor anything": {http.Header{}, 401},
	} {
		if got := a.get(pushes+"/active?token="+good, test.header); got.status != test.want {
			t.Errorf("%s: %d", name, got.status)
		}
	}
}

func TestATokenThatEndedIsNotValid(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	a.store.Account("ann@example.com")
	token, err := a.store.CreateToken(ctx, "ann@example.com", "", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	header := http.Header{"Authorization": {"Bearer " + token.Secret.Reveal()}}
	a.get(pushes+"/active", header).want(http.StatusOK)
	a.store.Clock.Advance(time.Hour)
	a.get(pushes+"/active", header).want(http.StatusUnauthorized)
}

// far is a client that is not on this machine.
func far(n int) http.Header { return http.Header{"X-Forwarded-For": {fmt.Sprintf("203.0.113.%d", n)}} }

func TestRequestsAreLimited(t *testing.T) {
	t.Parallel()
	a := newAPI(t, func(c *config.Config) { c.Limits.AnonymousPerMinute, c.Limits.TokenPerMinute = 3, 5 })
	ann := a.user("ann@example.com")
	ann.Set("X-Forwarded-For", "203.0.113.200")
	for _, caller := range []struct {
		header http.Header
		limit  int
	}{{far(1), 3}, {ann, 5}} {
		for range caller.limit {
			a.do("POST", pushes, "{", caller.header).want(http.StatusBadRequest)
		}
		got := a.do("POST", pushes, "{", caller.header).want(http.StatusTooManyRequests)
		if got.problem() != "too-many-requests" || got.header.Get("Retry-After") == "" {
			t.Errorf("%s %v", got.body, got.header)
		}
	}
	a.get("/api/v2/version", far(2)).want(http.StatusOK)
	a.get("/healthz", far(1)).want(http.StatusOK)
	a.store.Clock.Advance(time.Minute)
	a.get("/api/v2/version", far(1)).want(http.StatusOK)
	for range 10 {
		a.get("/api/v2/version").want(http.StatusOK) // from this machine, and no proxy in front
	}
}

func TestRequestsThatLeadNowhereAreLimited(t *testing.T) {
	t.Parallel()
	a := newAPI(t, func(c *config.Config) { c.Limits.AnonymousPerMinute = 2 })
	a.get("/nowhere", far(1)).want(http.StatusNotFound)
	a.do("PUT", pushes, "", far(1)).want(http.StatusMethodNotAllowed)
	a.get("/nowhere", far(1)).want(http.StatusTooManyRequests)
}

func TestBadTokensAreLimitedAsAnonymousRequests(t *testing.T) {
	t.Parallel()
	a := newAPI(t, func(c *config.Config) { c.Limits.AnonymousPerMinute = 3 })
	header := far(1)
	header.Set("Authorization", "Bearer guess")
	for range 3 {
		a.get(pushes+"/active", header).want(http.StatusUnauthorized)
	}
	a.get(pushes+"/active", header).want(http.StatusTooManyRequests)
}

func TestGuessingTokensIsLimitedEvenFromThisMachine(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	known := a.create(`"payload":"x"`)
	for i := range 20 {
		tail := [...]string{"", "/preview", ""}[i%3]
		unknown := store.NewToken(a.store.Clock.Now()).Reveal()
		a.get(pushes + "/" + unknown[:34-i%2] + tail).want(http.StatusNotFound)
	}
	for _, token := range []string{known, store.NewToken(a.store.Clock.Now()).Reveal(), "x"} {
		for _, tail := range []string{"", "/preview"} {
			got := a.get(pushes + "/" + token + tail).want(http.StatusTooManyRequests)
			if got.header.Get("Retry-After") != "60" {
				t.Errorf("Retry-After %q", got.header.Get("Retry-After"))
			}
		}
	}
	a.get(pushes+"/"+known, far(1)).want(http.StatusOK)
	a.do("POST", pushes, `{"push":{"payload":"x"}}`).want(http.StatusCreated)
	a.store.Clock.Advance(time.Minute)
	a.get(pushes + "/" + known).want(http.StatusOK)
}

func TestEveryErrorOfTheStoreHasAStatus(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "../store/errors.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	problems, err := parser.ParseFile(token.NewFileSet(), "problem.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	rows := make(map[string]bool)
	ast.Inspect(problems, func(n ast.Node) bool {
		if kv, ok := n.(*ast.KeyValueExpr); ok {
			if sel, ok := kv.Value.(*ast.SelectorExpr); ok && fmt.Sprint(kv.Key) == "err" {
				rows[sel.Sel.Name] = true
			}
		}
		return true
	})
	found := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if ok && strings.HasPrefix(spec.Names[0].Name, "Err") {
			found++
			if !rows[spec.Names[0].Name] {
				t.Errorf("store.%s has no row in the table of problems", spec.Names[0].Name)
			}
		}
		return true
	})
	if found < 10 {
		t.Errorf("only %d errors were found", found)
	}
}

func TestAFullStoreTakesNoMoreAndGoesOnOtherwise(t *testing.T) {
	t.Parallel()
	a := newAPI(t, func(c *config.Config) { c.MaxStoreSize = 1 << 20 })
	token := a.create(`"payload":"x"`)
	large := `{"push":{"payload":"` + strings.Repeat("x", 1<<20) + `"}}`
	if a.do("POST", pushes, large).want(http.StatusInsufficientStorage).problem() != "insufficient-storage" {
		t.Error("another text")
	}
	a.get(pushes + "/" + token).want(http.StatusOK).has(map[string]string{"payload": "x"})
	a.do("DELETE", pushes+"/"+token, "").want(http.StatusOK)
}

func TestAFailedStoreIsToldAs503(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	token := a.create(`"payload":"x"`)
	a.store.Abandon()
	if err := os.Truncate(a.store.Path, 2*int64(os.Getpagesize())); err != nil {
		t.Fatal(err)
	}
	for _, got := range []answer{
		a.get(pushes + "/" + token),
		a.get(pushes + "/" + token + "/preview"),
		a.do("POST", pushes, `{"push":{"payload":"x"}}`),
		a.do("DELETE", pushes+"/"+token, ""),
		a.get("/healthz"),
	} {
		got.want(http.StatusServiceUnavailable)
		if got.problem() != "unavailable" || got.header.Get("Retry-After") != "10" {
			t.Errorf("%s %v", got.body, got.header)
		}
	}
	a.get("/api/v2/version").want(http.StatusOK)
}
