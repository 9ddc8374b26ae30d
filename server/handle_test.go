package server_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"pushbox/internal/testkit/env"
	"pushbox/server/servertest"
	"pushbox/store"
)

// sameAsUnknown fails the test unless an answer is that of a push that never was, byte
// for byte. The date and the number of a request are its own.
func sameAsUnknown(t *testing.T, what string, got, unknown servertest.Answer) {
	t.Helper()
	for _, name := range []string{"Date", "X-Request-Id"} {
		got.Header.Del(name)
		unknown.Header.Del(name)
	}
	if unknown.Status != http.StatusMovedPermanently && unknown.Status != http.StatusNotFound && unknown.Status != http.StatusUnauthorized && unknown.Status != http.StatusSeeOther {
		t.Errorf("%s: an unknown one has the status %d", what, unknown.Status)
	}
	if got.Status != unknown.Status || got.Body != unknown.Body || len(got.Header) != len(unknown.Header) {
		t.Errorf("%s: %d %v %s\nan unknown one: %d %v %s", what, got.Status, got.Header, got.Body, unknown.Status, unknown.Header, unknown.Body)
	}
	for name, values := range got.Header {
		if strings.Join(values, ",") != strings.Join(unknown.Header[name], ",") {
			t.Errorf("%s: %s is %q, for an unknown one %q", what, name, values, unknown.Header[name])
		}
	}
}

// both adds an account, and returns the headers with an API token and with a session of
// it.
func both(a *servertest.Server, email string) (token, session http.Header) {
	a.T.Helper()
	session = a.AddSessionUser(email)
	made, err := a.Store.CreateToken(ctx, store.Actor{Role: store.Operator}, email, store.TokenTerms{})
	env.OK(a.T, err)
	return servertest.Bearer(made.Secret.Reveal()), session
}

func TestTheOwnerNamesAnEndedPushByItsHandle(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, servertest.SendsMail)
	ann := a.AddTokenUser("ann@example.com")
	token := a.Create(`"payload":"x","name":"wifi"`, ann)
	handle := a.Handle(token)
	a.Do("DELETE", pushes+"/"+token, "", ann).Want(http.StatusOK).Has(map[string]string{"url_token": token})

	listed := a.Get(pushes+"/expired", ann).Want(http.StatusOK).List()
	if len(listed) != 1 || listed[0]["url_token"] != handle || listed[0]["name"] != "wifi" ||
		listed[0]["html_url"] != servertest.MailBase+"/p/"+handle+"/r" || listed[0]["json_url"] != servertest.MailBase+pushes+"/"+handle {
		t.Errorf("the list is %v", listed)
	}
	shown := a.Get(pushes+"/"+strings.ToUpper(handle), ann).Want(http.StatusOK)
	if o := shown.Object(); o["url_token"] != handle || o["expired"] != true || o["deleted"] != true || o["payload"] != nil || len(o["files"].([]any)) != 0 {
		t.Errorf("it is shown as %v", o)
	}
	logs := a.Get(pushes+"/"+handle+"/audit", ann).Want(http.StatusOK).Object()["logs"].([]any)
	if len(logs) != 3 || logs[1].(map[string]any)["kind"] != "expire" {
		t.Errorf("its audit log is %v", logs)
	}
	if o := a.Do("DELETE", pushes+"/"+handle, "", ann).Want(http.StatusOK).Object(); o["url_token"] != handle || o["deleted"] != true {
		t.Errorf("it is deleted again as %v", o)
	}
}

// A handle is an unknown url_token to all but its owner, and to its owner wherever a
// link is needed.
func TestAHandleIsAnUnknownTokenToOthers(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, servertest.SendsMail)
	ann, session := both(a, "ann@example.com")
	bob, stranger := both(a, "bob@example.com")
	token := a.Create(`"payload":"x"`, ann)
	handle, live := a.Handle(token), a.Handle(a.Create(`"payload":"x"`, ann))
	a.Do("DELETE", pushes+"/"+token, "", ann).Want(http.StatusOK)
	unknown := strings.Repeat("a", len(token))
	callers := map[string]http.Header{"anonymous": {}, "another account": bob, "the owner": ann}
	for _, row := range []struct{ method, path, body string }{
		{"GET", pushes + "/NAME", ""},
		{"GET", pushes + "/NAME/preview", ""},
		{"GET", pushes + "/NAME/audit", ""},
		{"DELETE", pushes + "/NAME", ""},
		{"POST", pushes + "/NAME/notify_emails", `{"notify_emails_to":"bob@example.net"}`},
	} {
		for who, header := range callers {
			a.Store.Clock.Advance(2 * time.Minute) // the limit of unknown links begins again
			do := func(name string) servertest.Answer {
				return a.Do(row.method, strings.Replace(row.path, "NAME", name, 1), row.body, header)
			}
			want := do(unknown)
			sameAsUnknown(t, row.method+" "+row.path+" of a live push by "+who, do(live), want)
			if ownersRoute := !strings.HasSuffix(row.path, "/preview") && row.method != "POST"; who != "the owner" || !ownersRoute {
				sameAsUnknown(t, row.method+" "+row.path+" by "+who, do(handle), want)
			}
		}
	}
	browsers := map[string]http.Header{"anonymous": {}, "another account": stranger, "the owner": session}
	for _, row := range []struct {
		method, path string
		owners       bool
	}{
		{"GET", "/p/NAME", false},
		{"GET", "/p/NAME/r", false},
		{"HEAD", "/p/NAME", false},
		{"POST", "/p/NAME", false},
		{"GET", "/f/NAME", false},
		{"GET", "/r/NAME/r", false},
		{"POST", "/p/NAME/expire", true},
		{"POST", "/p/NAME/edit", true},
		{"POST", "/p/NAME/thaw", true},
		{"GET", "/p/NAME/audit", true},
		{"GET", "/p/NAME/audit.csv", true},
	} {
		for who, header := range browsers {
			a.Store.Clock.Advance(2 * time.Minute)
			do := func(name string) servertest.Answer {
				path := strings.Replace(row.path, "NAME", name, 1)
				if row.method == "POST" {
					return a.SendOwn(path, map[string]string{"views": "9"}, header)
				}
				return a.Do(row.method, path, "", header)
			}
			of := func(name string) servertest.Answer { // without the name, which some answers repeat
				got := do(name)
				got.Body = strings.ReplaceAll(got.Body, name, "")
				if to := got.Header.Get("Location"); to != "" {
					got.Header.Set("Location", strings.ReplaceAll(to, name, ""))
				}
				for i, c := range got.Cookies() {
					if c.Name == "wanted" { // it repeats the path
						got.Header["Set-Cookie"][i] = c.Name
					}
				}
				return got
			}
			want, got := of(unknown), of(live)
			sameAsUnknown(t, row.method+" "+row.path+" of a live push by "+who, got, want)
			if who != "the owner" || !row.owners {
				got := of(handle)
				sameAsUnknown(t, row.method+" "+row.path+" by "+who, got, want)
			}
		}
	}
}

func TestThePagesOfAnEndedPushAreUnderItsHandle(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ann, session := both(a, "ann@example.com")
	token := a.Create(`"payload":"x","name":"wifi"`, ann)
	handle := a.Handle(token)
	a.Do("DELETE", pushes+"/"+token, "", ann).Want(http.StatusOK)
	list := a.Get("/p?state=expired", session).Want(http.StatusOK)
	list.Page().Has("wifi")
	if strings.Contains(list.Body, token) || !strings.Contains(list.Body, `href="/p/`+handle+`/audit"`) {
		t.Errorf("the list is %s", list.Body)
	}
	page := a.Get("/p/"+handle+"/audit", session).Want(http.StatusOK)
	page.Page().Has("wifi")
	if strings.Contains(page.Body, token) || !strings.Contains(page.Body, "/p/"+handle+"/audit.csv") {
		t.Errorf("the page is %s", page.Body)
	}
	if csv := a.Get("/p/"+handle+"/audit.csv", session).Want(http.StatusOK); strings.Count(csv.Body, "\r\n") != 3 {
		t.Errorf("the file is %q", csv.Body)
	}
	edited := a.SendOwn("/p/"+handle+"/edit", map[string]string{"views": "9"}, session).Want(http.StatusSeeOther)
	if to := edited.Header.Get("Location"); to != "/p/"+handle+"/audit" {
		t.Errorf("an edit leads to %s", to)
	}
}
