package api_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/server/servertest"
	"pushbox/store"
)

// sellsRequests makes a server that clients of Password Pusher take for its paid edition.
func sellsRequests(c *config.Config) { c.EnableRequests, c.Compat.Edition = true, "commercial" }

// paidKeys are the keys that the paid edition documents for a request, in each answer to its owner.
var paidKeys = []string{
	"account_id", "close_after_at", "close_after_duration", "created_at", "days_remaining", "html_url", "include_requestor", "json_url", "name", "note",
	"passphrase", "response_file_attachments", "retrieval_step", "state", "updated_at", "url_token",
}

// respond answers a request over the API, without an account.
func respond(a *servertest.Server, token, text string) servertest.Answer {
	return a.Do("PATCH", requests+"/"+token+"/respond", `{"request":{"response":"`+text+`"}}`)
}

func wantKeys(t *testing.T, got servertest.Answer, want ...string) {
	t.Helper()
	keys := got.Keys()
	for _, key := range want {
		if !slices.Contains(keys, key) {
			t.Errorf("there is no %s in %s", key, got.Body)
		}
	}
}

// tokens lists the url_tokens of a list of requests.
func tokens(a *servertest.Server, path string, header http.Header) (all []string) {
	for _, one := range a.Get(requests+path, header).Want(http.StatusOK).List() {
		token, _ := one["url_token"].(string)
		all = append(all, token)
	}
	return all
}

func TestTheRequestsOfThePaidEdition(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, sellsRequests)
	ann, bob := a.AddTokenUser("ann@example.com"), a.AddTokenUser("bob@example.com")
	d := documentOf(a)
	made := a.Do("POST", requests, `{"account_id":1,"request":{"request":"the VPN password","close_after_duration":8,"name":"vpn","note":"for Q3","retrieval_step":true,
		"include_requestor":true,"response_file_attachments":true,"passphrase":""}}`, ann).Want(http.StatusCreated)
	d.answers("request_create", http.StatusCreated, made)
	wantKeys(t, made, paidKeys...)
	made.Has(map[string]string{
		"text": "the VPN password", "kinds": "text,file", "state": "open", "close_after_duration": "8", "days_remaining": "3", "name": "vpn", "note": "for Q3",
		"retrieval_step": "true", "response_file_attachments": "true", "include_requestor": "true", "passphrase": "null", "max_answers": "1",
	})
	token := made.Text("url_token")
	one := requests + "/" + token
	if !strings.HasSuffix(made.Text("html_url"), "/q/"+token) || !strings.HasSuffix(made.Text("json_url"), one) {
		t.Errorf("the addresses are %s", made.Body)
	}
	preview := a.Get(one+"/preview", ann)
	d.answers("request_preview", http.StatusOK, preview)
	preview.Has(map[string]string{"url": made.Text("html_url")})
	d.answers("request_preview", http.StatusNotFound, a.Get(one+"/preview", bob))
	a.Get(one, ann).Want(http.StatusOK).Has(map[string]string{"request": "the VPN password", "response": "null", "state": "open"})

	responded := respond(a, token, "hunter2")
	d.answers("request_respond", http.StatusOK, responded)
	responded.Has(map[string]string{"state": "ready", "html_url": made.Text("html_url")})
	if keys := responded.Keys(); slices.Contains(keys, "account_id") || slices.Contains(keys, "name") || slices.Contains(keys, "note") || strings.Contains(responded.Body, "hunter2") {
		t.Errorf("the sender of the answer sees %s", responded.Body)
	}
	d.answers("request_respond", http.StatusNotFound, respond(a, token, "again"))
	got := a.Get(one, ann)
	d.answers("request", http.StatusOK, got)
	wantKeys(t, got, "files", "request", "response")
	got.Has(map[string]string{"response": "hunter2", "state": "ready", "url_token": made.Text("id"), "name": "vpn"})
	a.Get(requests+"/"+made.Text("id"), ann).Want(http.StatusOK).Has(map[string]string{"response": "hunter2"})
	log := a.Get(one+"/audit", ann)
	d.answers("request_audit", http.StatusOK, log)
	if n := strings.Count(log.Body, `"kind"`); n != 3 || !strings.Contains(log.Body, `"ip":"127.0.0.1"`) || !strings.Contains(log.Body, `"kind":"answer"`) || !strings.Contains(log.Body, `"kind":"end"`) {
		t.Errorf("the audit log is %s", log.Body)
	}
	d.answers("request_end", http.StatusOK, a.Do("DELETE", one, "", ann))
	for _, path := range []string{"", "/audit", "/preview"} {
		a.Get(one+path, bob).Want(http.StatusNotFound)
	}
	a.Do("DELETE", one, "", bob).Want(http.StatusNotFound)
	accounts := a.Get("/api/v2/accounts", ann)
	d.answers("accounts", http.StatusOK, accounts)
	if list := accounts.List(); len(list) != 1 || list[0]["name"] != "ann@example.com" {
		t.Errorf("the accounts are %s", accounts.Body)
	}
	d.answers("accounts", http.StatusUnauthorized, a.Get("/api/v2/accounts"))
	version := a.Get("/api/v2/version")
	if !strings.Contains(version.Body, `"edition":"commercial"`) || !strings.Contains(version.Body, `"requests":{"enabled":true,"email_auto_dispatch":false}`) {
		t.Errorf("the version is %s", version.Body)
	}
}

func TestRequestsAreListedByTheirState(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, servertest.TakesRequests)
	ann, bob := a.AddTokenUser("ann@example.com"), a.AddTokenUser("bob@example.com")
	d := documentOf(a)
	make2 := func(text string) (token, id string) {
		made := a.Do("POST", requests, `{"request":{"request":"`+text+`","max_answers":2}}`, ann).Want(http.StatusCreated)
		return made.Text("url_token"), made.Text("id")
	}
	open, _ := make2("open")
	waiting, _ := make2("one answer came, and takes another")
	full, fullID := make2("all answers came")
	closed, closedID := make2("ended by hand")
	respond(a, waiting, "a").Want(http.StatusOK)
	for range 2 {
		respond(a, full, "b").Want(http.StatusOK)
	}
	a.Do("DELETE", requests+"/"+closed, "", ann).Want(http.StatusOK).Has(map[string]string{"state": "closed", "days_remaining": "0"})
	for path, want := range map[string][]string{
		"/open": {open}, "/ready": {waiting, fullID}, "/closed": {closedID}, "/active": {waiting, open, fullID}, "/open.json": {open}, "/open?page=2": nil,
	} {
		if got := tokens(a, path, ann); !slices.Equal(got, want) {
			t.Errorf("%s: %q, not %q", path, got, want)
		}
		if got := tokens(a, path, bob); len(got) != 0 {
			t.Errorf("%s: another account lists %q", path, got)
		}
	}
	for _, state := range []string{"open", "ready", "closed", "active"} {
		d.answers("requests_"+state, http.StatusOK, a.Get(requests+"/"+state, ann))
		d.answers("requests_"+state, http.StatusBadRequest, a.Get(requests+"/"+state+"?page=201", ann))
		d.answers("requests_"+state, http.StatusUnauthorized, a.Get(requests+"/"+state))
	}
	// Once its answers have ended, a request that is full is closed.
	for _, p := range a.Get(pushes+"/active", ann).Want(http.StatusOK).List() {
		if token, _ := p["url_token"].(string); p["name"] == "all answers came" {
			a.Do("DELETE", pushes+"/"+token, "", ann).Want(http.StatusOK)
		}
	}
	if got := tokens(a, "/closed", ann); !slices.Equal(got, []string{closedID, fullID}) {
		t.Errorf("then closed are %q", got)
	}
}

// A client that does not know the paid edition must not find an answer marked as read, or an address
// that other servers do not have.
func TestTheOpenEditionKeepsAnswersClosed(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, servertest.TakesRequests)
	ann := a.AddTokenUser("ann@example.com")
	made := a.Do("POST", requests, `{"request":{"request":"x"}}`, ann).Want(http.StatusCreated)
	respond(a, made.Text("url_token"), "hunter2").Want(http.StatusOK)
	got := a.Get(requests+"/"+made.Text("id"), ann).Want(http.StatusOK).Has(map[string]string{"response": "null", "state": "ready"})
	if strings.Contains(got.Body, "hunter2") {
		t.Errorf("the request is %s", got.Body)
	}
	push, _ := got.Object()["answers"].([]any)[0].(map[string]any)["url_token"].(string)
	if log := a.Get(pushes+"/"+push+"/audit", ann).Body; strings.Contains(log, "owner_view") {
		t.Errorf("the answer was opened: %s", log)
	}
	if got, unknown := a.Get("/api/v2/accounts"), a.Get("/api/v2/workspaces"); got.Status != http.StatusNotFound || got.Body != unknown.Body {
		t.Errorf("the accounts are %d %s", got.Status, got.Body)
	}
}

// What a client asks for and pushbox does not do is an error: nothing is left out in silence.
func TestWhatThePaidEditionAloneCanDoIsRefused(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, sellsRequests)
	ann := a.AddTokenUser("ann@example.com")
	for field, said := range map[string]string{
		`"passphrase":"x"`: "passphrase", `"include_requestor":false`: "include_requestor", `"notify_emails_to":"bob@example.com"`: "notify_emails_to", // without mail
		`"files":[{"filename":"a","content":"YQ=="}]`: "files", `"name":"` + strings.Repeat("x", 256) + `"`: "name", `"close_after_duration":18`: "expire_after_duration",
	} {
		got := a.Do("POST", requests, `{"request":{"request":"x",`+field+`}}`, ann).Want(http.StatusUnprocessableEntity)
		if keys := got.Keys(); !slices.Equal(keys, []string{said}) {
			t.Errorf("%s: %s", field, got.Body)
		}
	}
	a.Do("POST", requests, `{"request":{"request":"x","files":[],"notify_emails_to":null,"expire_after_views":3,"deletable_by_viewer":true}}`, ann).Want(http.StatusCreated).
		Has(map[string]string{"answer_expire_after_views": "3"})
	form := http.Header{"Content-Type": {"multipart/form-data; boundary=b"}, "Authorization": ann["Authorization"]}
	file := "--b\r\nContent-Disposition: form-data; name=\"request[request]\"\r\n\r\nx\r\n--b\r\nContent-Disposition: form-data; name=\"request[files][]\"; filename=\"a.pdf\"\r\n\r\n\xff\xfe\r\n--b--\r\n"
	if got := a.Do("POST", requests, file, form).Want(http.StatusUnprocessableEntity); !strings.Contains(got.Body, "put its link into the text") {
		t.Errorf("a file: %s", got.Body)
	}
	if list := a.Get(requests, ann).List(); len(list) != 1 {
		t.Errorf("the requests are %v", list)
	}
}

func TestWrongAnswersOverTheAPIAreRefused(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, servertest.TakesRequests)
	ann := a.AddTokenUser("ann@example.com")
	made := a.Do("POST", requests, `{"request":{"request":"x","kinds":"text"}}`, ann).Want(http.StatusCreated)
	d := documentOf(a)
	one := requests + "/" + made.Text("url_token") + "/respond"
	d.answers("request_respond", http.StatusUnprocessableEntity, a.Do("PATCH", one, `{"request":{"response":" "}}`))
	if got := a.Do("PATCH", one, `{"request":{"response":" "}}`); strings.TrimSpace(got.Body) != `{"response":["is required"]}` {
		t.Errorf("a blank answer: %s", got.Body)
	}
	d.answers("request_respond", http.StatusBadRequest, a.Do("PATCH", one, `{"request":{}}`))
	d.answers("request_respond", http.StatusNotFound, a.Do("PATCH", requests+"/"+made.Text("id")+"/respond", `{"request":{"response":"x"}}`))
	a.Do("PATCH", one, `{"request":{"response":"x","files":[{"filename":"a","content":"YQ=="}]}}`).Want(http.StatusUnprocessableEntity)
	a.Do("POST", one, `{"request":{"response":"x"}}`).Want(http.StatusMethodNotAllowed)
	// Who answers with an account of their own does not own the answer.
	bob := a.AddTokenUser("bob@example.com")
	a.Do("PATCH", one, `{"request":{"response":"from bob"}}`, bob).Want(http.StatusOK)
	if list := a.Get(pushes+"/active", bob).List(); len(list) != 0 {
		t.Errorf("the sender owns %v", list)
	}
	if list := a.Get(pushes+"/active", ann).List(); len(list) != 1 {
		t.Errorf("the account that asked owns %v", list)
	}
}

func TestTheNameAndTheNoteOfARequestHaveBounds(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, servertest.TakesRequests)
	ann, bob := a.AddTokenUser("ann@example.com"), a.AddTokenUser("bob@example.com")
	for field, most := range map[string]int{"name": store.MaxName, "note": store.MaxNote} {
		ask := func(n int) servertest.Answer {
			return a.Do("POST", requests, `{"request":{"text":"x","`+field+`":"`+strings.Repeat("x", n)+`"}}`, ann)
		}
		made := ask(most).Want(http.StatusCreated)
		if got := a.Get(requests+"/"+made.Text("id"), ann).Want(http.StatusOK).Text(field); len(got) != most {
			t.Errorf("the %s has %d bytes", field, len(got))
		}
		if got := ask(most + 1).Want(http.StatusUnprocessableEntity); !slices.Equal(got.Keys(), []string{field}) {
			t.Errorf("one byte more: %s", got.Body)
		}
	}
	// Who answers sees neither.
	made := a.Do("POST", requests, `{"request":{"text":"x","name":"for me alone","note":"and this"}}`, ann).Want(http.StatusCreated)
	page := a.Get("/q/" + made.Text("url_token")).Want(http.StatusOK)
	if got := a.Do("PATCH", requests+"/"+made.Text("url_token")+"/respond", `{"request":{"response":"x"}}`, bob).Want(http.StatusOK); strings.Contains(got.Body+page.Body, "for me alone") || strings.Contains(got.Body+page.Body, "and this") {
		t.Errorf("the sender sees %s", got.Body)
	}
}
