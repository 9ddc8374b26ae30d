package api_test

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/internal/testkit/env"
	"pushbox/server/servertest"
	"pushbox/store"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

// A call is a request of an operation. TOKEN and GRANT are replaced by those of an existing
// push.
type call struct{ id, method, path, body string }

var calls = []call{
	{"version", "GET", "/api/v2/version", ""},
	{"openapi", "GET", "/api/v2/openapi.json", ""},
	{"openapi_30", "GET", "/api/v2/openapi-3.0.json", ""},
	{"create", "POST", pushes, `{"push":{"payload":"x"}}`},
	{"active", "GET", pushes + "/active", ""},
	{"expired", "GET", pushes + "/expired", ""},
	{"show", "GET", pushes + "/TOKEN", ""},
	{"preview", "GET", pushes + "/TOKEN/preview", ""},
	{"audit", "GET", pushes + "/TOKEN/audit", ""},
	{"certificate", "GET", pushes + "/TOKEN/certificate", ""},
	{"notify_emails", "POST", pushes + "/TOKEN/notify_emails", `{"notify_emails_to":"bob@example.net"}`},
	{"thaw", "POST", pushes + "/TOKEN/thaw", ""},
	{"download", "GET", "/d/GRANT/1", ""},
	{"download_head", "HEAD", "/d/GRANT/1", ""},
	{"delete", "DELETE", pushes + "/TOKEN", ""},
}

// ask makes a call about a push of files.
func (c call) ask(a *servertest.Server, p asked, headers ...http.Header) servertest.Answer {
	a.T.Helper()
	path := strings.NewReplacer("TOKEN", p.token, "GRANT", p.grant).Replace(c.path)
	return a.Do(c.method, path, c.body, headers...)
}

// asked is the push of the calls.
type asked struct{ token, grant string }

// Each operation is called for each status that it can answer. Every answer matches the
// document, to the last key, and the document has no other statuses.
func TestAnswersMatchTheDocument(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, servertest.SendsMail)
	d := documentOf(a)
	maps.DeleteFunc(d.byID, func(id string, _ operation) bool { return isAdminCall(id) })
	ann, bob := a.AddTokenUser("ann@example.com"), a.AddTokenUser("bob@example.com")
	pushed := a.PushFiles("ann@example.com", []byte("hello"))
	p := asked{pushed.Token.Reveal(), pushed.Grant()}
	for _, c := range calls {
		want := http.StatusOK
		switch c.id {
		case "create", "notify_emails":
			want = http.StatusCreated
		case "certificate": // the push is live
			want = http.StatusConflict
		}
		d.answers(c.id, want, c.ask(a, p, ann))
	}
	d.scopeAnswers(a, p)
	d.createAnswers(a, ann)
	d.showAnswers(a, ann)
	d.listAnswers(a, ann, bob)
	d.mailAnswers(a, ann, bob)
	d.downloadAnswers(a)
	d.commonErrors(a)
	d.tooMany()
	d.full()
	d.failed()
	d.wantAll(http.StatusInternalServerError) // which a test cannot have
}

// scopeAnswers makes calls with tokens that lack the scope.
func (d *document) scopeAnswers(a *servertest.Server, p asked) {
	d.t.Helper()
	bearer := make(map[record.Scopes]http.Header)
	for _, scope := range []record.Scopes{record.ScopeCreate, record.ScopeRead} {
		token, err := a.Store.CreateToken(ctx, storetest.Operator, "ann@example.com", store.TokenTerms{Scopes: scope})
		env.OK(d.t, err)
		bearer[scope] = servertest.Bearer(token.Secret.Reveal())
	}
	for _, c := range calls {
		other := record.ScopeCreate
		if c.method != http.MethodGet {
			other = record.ScopeRead
		}
		if len(d.byID[c.id].Security) > 0 {
			d.answers(c.id, http.StatusForbidden, c.ask(a, p, bearer[other]))
		}
	}
}

// wantAll fails the test if a documented status was not seen, except for these.
func (d *document) wantAll(but ...int) {
	d.t.Helper()
	for id, op := range d.byID {
		for text := range op.Responses {
			status, err := strconv.Atoi(text)
			if err != nil {
				d.t.Errorf("%s: %q is no status", id, text)
			}
			if !d.seen[id][status] && !slices.Contains(but, status) {
				d.t.Errorf("%s: no answer had the status %d", id, status)
			}
		}
	}
}

func (d *document) createAnswers(a *servertest.Server, ann http.Header) {
	d.t.Helper()
	const ok, bad, invalid = http.StatusCreated, http.StatusBadRequest, http.StatusUnprocessableEntity
	for _, test := range []struct {
		body   string
		status int
		header http.Header
	}{
		{`{"push":{"kind":"url","payload":"https://a.example/"}}`, ok, nil},
		{`{"push":{"kind":"qr","payload":"x","passphrase":"p","retrieval_step":false}}`, ok, nil},
		{jsonFiles(`"files":[{"filename":"a","content":"aGk="}]`), ok, ann},
		{`{`, bad, nil},
		{`{}`, bad, nil},
		{jsonFiles(`"files":[{}]`), http.StatusUnauthorized, nil},
		{`{"push":{"payload":"` + strings.Repeat("x", 9<<20) + `"}}`, http.StatusRequestEntityTooLarge, nil},
		{`x`, http.StatusUnsupportedMediaType, http.Header{"Content-Type": {"text/plain"}}},
		{`x`, http.StatusUnsupportedMediaType, http.Header{"Content-Encoding": {"gzip"}}},
		{`{"push":{"payload":"","kind":"url","expire_after_days":0,"expire_after_views":"x","expire_after_duration":18}}`, invalid, nil},
		{`{"push":{"payload":[],"kind":2,"name":[],"note":{},"passphrase":[]}}`, invalid, nil},
		{jsonFiles(`"files":"a"`), invalid, ann},
		{`{"push":{"payload":"x"}}`, ok, withKey(aKey)},
		{`{"push":{"payload":"x"}}`, ok, withKey(aKey)},
		{`{"push":{"payload":"y"}}`, invalid, withKey(aKey)},
		{`{"push":{"payload":"x"}}`, bad, withKey("short")},
		{`{"push":{"payload":"x"}}`, http.StatusForbidden, http.Header{"Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Mode": {"no-cors"}}},
	} {
		if test.header == nil {
			test.header = http.Header{}
		}
		d.answers("create", test.status, a.Do("POST", pushes, test.body, test.header))
	}
}

func (d *document) showAnswers(a *servertest.Server, ann http.Header) {
	d.t.Helper()
	locked := pushes + "/" + a.Create(`"payload":"x","passphrase":"p"`, ann)
	d.answers("show", http.StatusOK, a.Get(locked+"?passphrase=p"))
	d.answers("show", http.StatusUnauthorized, a.Get(locked))
	d.answers("show", http.StatusForbidden, a.Get(locked, http.Header{"Purpose": {"prefetch"}}))
	for range 5 {
		d.answers("show", http.StatusUnauthorized, a.Get(locked+"?passphrase=q"))
	}
	d.answers("show", http.StatusTooManyRequests, a.Get(locked+"?passphrase=p"))
	d.answers("show", http.StatusBadRequest, a.Get(locked+"?passphrase=%"))
	d.answers("show", http.StatusRequestEntityTooLarge, getWithForm(a, locked, 9<<20))
	once := pushes + "/" + a.Create(`"payload":"x","expire_after_views":1`, ann)
	for range 2 {
		d.answers("show", http.StatusOK, a.Get(once))
	}
	d.answers("delete", http.StatusOK, a.Do("DELETE", once, "", ann))
}

// getWithForm is a GET request with a form of that many bytes and no length.
func getWithForm(a *servertest.Server, path string, n int) servertest.Answer {
	a.T.Helper()
	req, err := http.NewRequest(http.MethodGet, a.URL+path, io.MultiReader(strings.NewReader(strings.Repeat("x", n)))) // which has no length that net/http would find
	env.OK(a.T, err)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := a.Client.RoundTrip(req)
	env.OK(a.T, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	env.OK(a.T, err)
	return servertest.Answer{T: a.T, Status: res.StatusCode, Header: res.Header, Body: string(body)}
}

func (d *document) listAnswers(a *servertest.Server, ann, bob http.Header) {
	d.t.Helper()
	own := pushes + "/" + a.Create(`"payload":"x","name":"n","note":"m","deletable_by_viewer":false`, ann)
	for _, state := range []string{"active", "expired"} {
		d.answers(state, http.StatusOK, a.Get(pushes+"/"+state, ann))
		d.answers(state, http.StatusBadRequest, a.Get(pushes+"/"+state+"?page=0", ann))
		d.answers(state, http.StatusUnauthorized, a.Get(pushes+"/"+state))
	}
	d.answers("audit", http.StatusOK, a.Get(own+"/audit?page=2", ann))
	d.answers("audit", http.StatusBadRequest, a.Get(own+"/audit?page=x", ann))
	d.answers("audit", http.StatusUnauthorized, a.Get(own+"/audit"))
	d.answers("audit", http.StatusForbidden, a.Get(own+"/audit", bob))
	d.answers("certificate", http.StatusUnauthorized, a.Get(own+"/certificate"))
	d.answers("certificate", http.StatusForbidden, a.Get(own+"/certificate", bob))
	over := pushes + "/" + a.Create(`"payload":"x"`, ann)
	a.Do("DELETE", over, "", ann).Want(http.StatusOK)
	d.answers("certificate", http.StatusOK, certified(d.t, func() servertest.Answer { return a.Get(over+"/certificate", ann) }))
	d.answers("delete", http.StatusForbidden, a.Do("DELETE", own, "", bob))
	d.answers("delete", http.StatusUnauthorized, a.Do("DELETE", own, ""))
}

func (d *document) mailAnswers(a *servertest.Server, ann, bob http.Header) {
	d.t.Helper()
	path := pushes + "/" + a.Create(`"payload":"x"`, ann) + "/notify_emails"
	for _, test := range []struct {
		body   string
		status int
		header http.Header
	}{
		{`{"push":{"notify_emails_to":"bob@example.net","notify_emails_to_locale":"de"}}`, http.StatusCreated, nil},
		{`{"notify_emails_to":"bob","notify_emails_to_locale":"xx"}`, http.StatusUnprocessableEntity, nil},
		{`[]`, http.StatusBadRequest, nil},
		{`{`, http.StatusBadRequest, nil},
		{`x`, http.StatusUnsupportedMediaType, http.Header{"Content-Type": {"text/plain"}}},
		{`{"notify_emails_to":"` + strings.Repeat("x", 1<<16) + `"}`, http.StatusRequestEntityTooLarge, nil},
		{`{"notify_emails_to":"bob@example.net"}`, http.StatusForbidden, bob},
	} {
		headers := []http.Header{ann, test.header}
		if test.status == http.StatusForbidden {
			headers = []http.Header{bob}
		}
		d.answers("notify_emails", test.status, a.Do("POST", path, test.body, headers...))
	}
	d.answers("notify_emails", http.StatusUnauthorized, a.Do("POST", path, `{}`))
	d.answers("thaw", http.StatusForbidden, a.Do("POST", strings.Replace(path, "notify_emails", "thaw", 1), "", bob))
}

func (d *document) downloadAnswers(a *servertest.Server) {
	d.t.Helper()
	path := a.PushFiles("ann@example.com", []byte("hello")).Shown()[0]
	ranged := func(text string) servertest.Answer { return a.Get(path, http.Header{"Range": {text}}) }
	d.answers("download", http.StatusPartialContent, ranged("bytes=1-2"))
	d.answers("download", http.StatusRequestedRangeNotSatisfiable, ranged("bytes=5-"))
	d.answers("download_head", http.StatusOK, a.Do("HEAD", path, "", http.Header{"Range": {"bytes=1-2"}}))
	d.answers("download_head", http.StatusOK, a.Do("HEAD", path, "", http.Header{"Range": {"bytes=5-"}}))
}

// commonErrors checks the errors that operations of one sort share.
func (d *document) commonErrors(a *servertest.Server) {
	d.t.Helper()
	ann := a.AddTokenUser("refused@example.com")
	there := asked{a.Create(`"payload":"x"`), a.PushFiles("ann@example.com", []byte("x")).Grant()}
	nowhere := asked{store.NewToken(a.Store.Clock.Now()).Reveal(), "nothing"}
	plain := servertest.New(d.t) // without base_url, links have the host of the request
	unnamed, bob := documentOf(plain), plain.AddTokenUser("bob@example.com")
	if strings.HasPrefix(d.calls[0].id, "v1_") {
		unnamed = documentV1Of(plain)
	}
	for _, c := range d.calls {
		op := d.byID[c.id]
		if len(op.Security) > 0 {
			d.answers(c.id, http.StatusUnauthorized, c.ask(a, there, http.Header{"Authorization": {"Bearer bad"}}))
		}
		if _, has := op.Responses["421"]; has {
			d.answers(c.id, http.StatusMisdirectedRequest, c.ask(a, there, ann, http.Header{"Host": {"elsewhere.example"}}))
		}
		if !slices.Contains([]string{"version", "audit", "download", "download_head"}, strings.TrimPrefix(c.id, "v1_")) { // which have no links
			unnamed.answers(c.id, http.StatusBadRequest, c.ask(plain, nowhere, bob, http.Header{"Host": {`a"b`}}))
		}
		if strings.Contains(c.path, "TOKEN") || strings.Contains(c.path, "GRANT") {
			d.answers(c.id, http.StatusNotFound, c.ask(a, nowhere, ann))
		}
	}
}

// tooMany checks the answers of a server after too many requests.
func (d *document) tooMany() {
	d.t.Helper()
	busy := servertest.New(d.t, func(c *config.Config) { c.Limits.AnonymousPerMinute = 1 })
	for i, c := range d.calls {
		there := asked{busy.Create(`"payload":"x"`), "nothing"}
		_ = busy.Get("/api/v2/openapi", servertest.Far(i))
		if strings.HasSuffix(c.id, "version") { // which no limit counts
			c.ask(busy, there, servertest.Far(i)).Want(http.StatusOK)
			continue
		}
		d.answers(c.id, http.StatusTooManyRequests, c.ask(busy, there, servertest.Far(i)))
	}
}

// full checks the answers of a server with too little space.
func (d *document) full() {
	d.t.Helper()
	full := servertest.New(d.t, servertest.SendsMail, func(c *config.Config) { c.MaxStoreSize, c.Limits.AnonymousShare = 1<<20, 0 })
	eve := full.AddTokenUser("eve@example.com")
	mailed := pushes + "/" + full.Create(`"payload":"x"`, eve) + "/notify_emails"
	fillStore(full)
	d.answers("notify_emails", http.StatusInsufficientStorage, full.Do("POST", mailed, `{"notify_emails_to":"bob@example.net"}`, eve))
	d.answers("create", http.StatusInsufficientStorage, full.Do("POST", pushes, `{"push":{"payload":"`+strings.Repeat("x", 1<<20)+`"}}`))
}

// failed checks the answers of a server whose store failed.
func (d *document) failed() {
	d.t.Helper()
	failed := servertest.New(d.t, servertest.SendsMail)
	ann := failed.AddTokenUser("ann@example.com")
	pushed := failed.PushFiles("ann@example.com", []byte("hello"))
	p := asked{pushed.Token.Reveal(), pushed.Grant()}
	failed.Store.Abandon()
	env.OK(d.t, os.Truncate(failed.Store.Path, 2*int64(os.Getpagesize())))
	for _, c := range d.calls {
		if _, documented := d.byID[c.id].Responses["503"]; documented {
			d.answers(c.id, http.StatusServiceUnavailable, c.ask(failed, p, ann))
		} else {
			d.answers(c.id, http.StatusOK, c.ask(failed, p, ann))
		}
	}
}

// The document of a server without anonymous callers matches its answers.
func TestAnswersOfAServerForMembersAreDocumented(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, settings["members only"], servertest.SendsMail)
	d := documentOf(a)
	ann := a.AddTokenUser("ann@example.com")
	for _, c := range calls {
		if strings.Contains(c.path, "GRANT") {
			continue
		}
		there := asked{token: a.Create(`"payload":"x"`, ann)}
		if len(d.byID[c.id].Security) > 0 {
			d.answers(c.id, http.StatusUnauthorized, c.ask(a, there))
		}
		got := c.ask(a, there, ann)
		if d.answers(c.id, got.Status, got); got.Status >= 300 && c.id != "certificate" { // a live push has none
			t.Errorf("%s: %d", c.id, got.Status)
		}
		if _, documented := d.byID[c.id].Responses["400"]; c.id == "openapi" && documented {
			t.Error("the host of a request does not matter where base_url is set")
		}
	}
}

// A key that is not documented, or has another type, must be noticed.
func TestAnswersThatAreNotDocumentedAreNoticed(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	d := documentOf(a)
	token := a.Create(`"payload":"x"`)
	shown := a.Get(pushes + "/" + token).Want(http.StatusOK)
	at := func(id, status string) string {
		return d.byID[id].pointer + "/responses/" + status + "/content/application~1json/schema"
	}
	for name, change := range map[string]func(map[string]any){
		"as it is":       nil,
		"another key":    func(o map[string]any) { o["extra"] = 1 },
		"a key less":     func(o map[string]any) { delete(o, "files") },
		"another type":   func(o map[string]any) { o["expired"] = "false" },
		"null":           func(o map[string]any) { o["kind"] = nil },
		"another word":   func(o map[string]any) { o["kind"] = "video" },
		"another time":   func(o map[string]any) { o["created_at"] = "2026-01-01 00:00:00" },
		"a passphrase":   func(o map[string]any) { o["passphrase"] = "p" },
		"files are null": func(o map[string]any) { o["files"] = nil },
		"a file's key":   func(o map[string]any) { o["files"] = []any{map[string]any{"filename": "x"}} },
		"below nothing":  func(o map[string]any) { o["views_remaining"] = -1 },
	} {
		o := shown.Object()
		if change != nil {
			change(o)
		}
		if err := refused(d.schema(at("show", "200")), o); (err == nil) != (change == nil) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for body, valid := range map[string]bool{
		`{"payload":["is required"]}`:        true,
		`{"payload":[]}`:                     false,
		`{"error":"invalid"}`:                false,
		`{"payload":["x"],"other":["x"]}`:    false,
		`{"payload":"is required"}`:          false,
		fmt.Sprintf(`{"files":[%q]}`, "bad"): true,
	} {
		if err := d.schema(at("create", "422")).Validate(parsed(t, body)); (err == nil) != valid {
			t.Errorf("%s: %v", body, err)
		}
	}
}

// fillStore creates pushes until there is no space for a small one.
func fillStore(a *servertest.Server) {
	a.T.Helper()
	for n := 256 << 10; n > 0; {
		got := a.Do("POST", pushes, `{"push":{"payload":"`+strings.Repeat("x", n)+`"}}`)
		if got.Status == http.StatusInsufficientStorage {
			n /= 2
		} else {
			got.Want(http.StatusCreated)
		}
	}
}
