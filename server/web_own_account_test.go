package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"

	"pushbox/config"
	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/server/servertest"
	"pushbox/store"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

func TestUsersDeleteTheirOwnAccounts(t *testing.T) {
	t.Parallel()
	a, ann := administered(t)
	bob := a.SignedIn("bob@example.com", servertest.AnnPassword)
	token := a.AddToken("bob@example.com")
	kept, gone := a.Create(`"payload":"x"`, a.AddToken(servertest.AnnEmail)), a.Create(`"payload":"x"`, token)
	bob.Get("/users/account").Want(http.StatusOK).Says("bob@example.com", "Active secrets", "Delete my account")

	bob.Post("/users/account/remove", "password", "wrong").Want(http.StatusForbidden).Says("Nothing was deleted")
	a.Get("/p/" + gone).Want(http.StatusOK)
	_, recovery := bob.EnableMFA()
	bob.Post("/users/account/remove", "password", servertest.AnnPassword).Want(http.StatusForbidden).Says("Nothing was deleted")
	bob.Post("/users/account/remove", "password", servertest.AnnPassword, "code", recovery[0]).To("/users/sign_in")
	bob.Get("/users/sign_in").Says("Your account is deleted.")
	bob.Get("/users/account").Want(http.StatusSeeOther)
	a.Get("/p/" + gone).Want(http.StatusNotFound)
	a.Get(pushes+"/active", token).Want(http.StatusUnauthorized)
	a.Get("/p/" + kept).Want(http.StatusOK)
	bob.SignIn("bob@example.com", servertest.AnnPassword).Want(http.StatusForbidden)

	ann.Post("/users/account/remove", "password", servertest.AnnPassword).Want(http.StatusConflict).Says("You are the last administrator")
	ann.Get("/users/account").Want(http.StatusOK).Says("administrator")
	if log := ann.Get("/admin/log?account=2").Want(http.StatusOK).Body; !strings.Contains(log, "by its user") {
		t.Error("the instance log does not have the removal")
	}
}

func TestUsersDownloadWhatIsKeptAboutThem(t *testing.T) {
	t.Parallel()
	a, ann := administered(t)
	bob, token := a.SignedIn("bob@example.com", servertest.AnnPassword), a.AddToken("bob@example.com")
	url := a.Create(`"payload":"payload-marker","name":"a name","note":"a note"`, token)
	a.Do("DELETE", pushes+"/"+a.Create(`"payload":"x","name":"ended"`, token), "", token).Want(http.StatusOK)
	a.Create(`"payload":"x","name":"of ann"`, a.AddToken(servertest.AnnEmail))
	if _, err := a.Store.AddHook(ctx, store.Actor{Role: store.Operator}, "bob@example.com", secret.New("https://hooks.example/path-marker"), []record.Event{record.EventView}); err != nil {
		t.Fatal(err)
	}
	bob.Get("/users/account").Says("Download my data")
	got := bob.Get("/users/account/export").Want(http.StatusOK)
	if kind := got.Header.Get("Content-Type"); kind != "application/jsonl" || !strings.Contains(got.Header.Get("Content-Disposition"), "pushbox-account.jsonl") {
		t.Errorf("the headers are %v", got.Header)
	}
	count := make(map[string]int)
	for line := range strings.Lines(got.Body) {
		var one map[string]map[string]any
		if err := json.Unmarshal([]byte(line), &one); err != nil || len(one) != 1 {
			t.Fatalf("%q: %v", line, err)
		}
		for kind, value := range one {
			count[kind]++
			if kind == "push" && value["audit"] == nil || kind == "account" && value["email"] != "bob@example.com" || kind == "webhook" && value["host"] != "hooks.example" {
				t.Errorf("a line is %q", line)
			}
		}
	}
	if count["account"] != 1 || count["session"] != 1 || count["token"] != 1 || count["webhook"] != 1 || count["push"] != 2 || count["event"] < 3 {
		t.Errorf("the lines are %v", count)
	}
	for _, absent := range []string{"marker", url, "of ann", servertest.AnnEmail} {
		if strings.Contains(got.Body, absent) {
			t.Errorf("the export has %q", absent)
		}
	}
	ann.Get("/users/account/export").Want(http.StatusOK).Says("of ann").Lacks("a note")
}

func TestAnAccountHasANameForRecipients(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t)
	ann := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	url := a.Create(`"payload":"x"`, a.AddToken(servertest.AnnEmail))
	a.Get("/p/" + url + "/r").Want(http.StatusOK).Lacks(servertest.AnnEmail)
	ann.Post("/users/account", "name", "Ann & Sons").To("/users/account")
	ann.Get("/users/account").Says("The changes were saved.", `value="Ann & Sons"`)
	a.Get("/p/"+url+"/r").Want(http.StatusOK).Says("From", "Ann & Sons", "("+servertest.AnnEmail+")")

	ann.Post("/users/account", "name", "<b>Bank</b>").Want(http.StatusUnprocessableEntity).Says("A name has at most 64", "<b>Bank</b>")
	a.Get("/p/" + url + "/r").Want(http.StatusOK).Says("Ann & Sons")
	ann.Get("/users/account/export").Says(`"name":"Ann & Sons"`)
	ann.Post("/users/account", "name", "").To("/users/account")
	a.Get("/p/" + url + "/r").Want(http.StatusOK).Lacks(servertest.AnnEmail)
}

func TestTheLanguageOfAnAccountIsThatOfItsPages(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t)
	ann := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	ann.Post("/users/account", "language", "xx").Want(http.StatusUnprocessableEntity)
	ann.Get("/?lang=fr").Says(`<html lang="fr">`)
	ann.Post("/users/account", "language", "de").To("/users/account")
	ann.Get("/users/account").Says(`<html lang="de">`) // it takes the place of the choice before
	ann.Get("/").Says(`<html lang="de">`)
	ann.Get("/?lang=fr").Says(`<html lang="fr">`)
	ann.Get("/").Says(`<html lang="fr">`) // a choice by hand comes first
	ann.Post("/users/account", "name", "Ann", "language", "de").To("/users/account")
	ann.Get("/").Says(`<html lang="fr">`) // a new name leaves it
	a.SignedIn(servertest.AnnEmail, servertest.AnnPassword).Get("/p").Says(`<html lang="de">`)
	a.Get("/").Says(`<html lang="en">`)
}

func TestTheAccountChoosesItsMail(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t, sendsMail)
	ann := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	ann.Get("/users/account").Says("When a secret expires").Lacks("No mail is sent to you now", " checked")
	ann.Post("/users/account", "mail_view", "on").To("/users/account")
	ann.Get("/users/account").Says(`name="mail_view" checked`).Lacks(`name="mail_expire" checked`)
	url := a.Create(`"payload":"x"`, a.AddToken(servertest.AnnEmail))
	a.Get(pushes + "/" + url).Want(http.StatusOK)
	if got := lettersOf(a); len(got) != 1 || got[0].About != store.MailFirstView || got[0].To.Reveal() != servertest.AnnEmail {
		t.Errorf("the mails are %v", got)
	}
	ann.Get("/users/account/export").Says(`"mails":["view"]`)
}

func TestAServerWithoutMailSaysSoOnThePageOfAnAccount(t *testing.T) {
	t.Parallel()
	servertest.NewSite(t).SignedIn(servertest.AnnEmail, servertest.AnnPassword).Get("/users/account").Says("No mail is sent to you now")
}

// A sink is a client that takes an answer as it likes.
type sink struct {
	*httptest.ResponseRecorder
	take func(line []byte) error
}

func (s sink) Write(b []byte) (int, error) {
	if err := s.take(b); err != nil {
		return 0, err
	}
	return s.ResponseRecorder.Write(b)
}

// export asks for the export of the session's account.
func export(a *servertest.Server, session http.Header, take func(line []byte) error) {
	hr := httptest.NewRequest(http.MethodGet, "/users/account/export", nil)
	hr.Header = session
	a.Handler.ServeHTTP(sink{httptest.NewRecorder(), take}, hr)
}

func TestALongLineOfAnExportHoldsMemory(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	session := a.AddSessionUser(servertest.AnnEmail)
	token := a.Create(`"payload":"x"`, a.AddToken(servertest.AnnEmail))
	said := strings.Repeat(`"`, 255)
	for range 150 {
		a.Get(pushes+"/"+token+"?passphrase=x", http.Header{"User-Agent": {said}, "Referer": {said}})
	}
	long := 0
	export(a, session, func(line []byte) error {
		held := a.Handler.Stats().RequestMemory
		switch size := int64(len(line)); {
		case size > 100_000 && held < size:
			t.Errorf("a line of %d bytes holds %d", size, held)
		case size > 100_000:
			long++
		case held != 0:
			t.Errorf("a line of %d bytes holds %d", size, held)
		}
		return nil
	})
	if long != 1 {
		t.Errorf("%d lines are long", long)
	}
}

// An export takes the place of a download, of which an account has half at most.
func TestExportsAtOnceAreBounded(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, func(c *config.Config) { c.Limits.Downloads = 8 })
	ann, bob := a.AddSessionUser(servertest.AnnEmail), a.AddSessionUser("bob@example.com")
	var reads []func() *httptest.ResponseRecorder
	for range 4 {
		reads = append(reads, sendUnread(a, http.MethodGet, "/users/account/export", "", ann))
	}
	a.Get("/users/account/export", ann).Want(http.StatusServiceUnavailable)
	a.Get("/users/account/export", bob).Want(http.StatusOK)
	for _, read := range reads {
		if w := read(); w.Code != http.StatusOK {
			t.Errorf("%d", w.Code)
		}
	}
	a.Get("/users/account/export", ann).Want(http.StatusOK)
	if taken := a.Handler.Stats().Downloads; taken != 0 {
		t.Errorf("%d places stay taken", taken)
	}
}

// What clients of one account hold together leaves half for others, whatever they ask for.
func TestAnAccountHoldsAtMostHalfOfTheMemory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := servertest.InMemory(t, memoryOf(16<<20))
		ann, bob := a.AddSessionUser(servertest.AnnEmail), a.AddSessionUser("bob@example.com")
		bearer := a.AddToken(servertest.AnnEmail)
		long := a.Create(`"payload":"x"`, bearer)
		said := strings.Repeat(`"`, 255)
		for range 500 {
			a.Do("GET", pushes+"/"+long+"?passphrase=x", "", bearer, http.Header{"User-Agent": {said}, "Referer": {said}})
		}
		var reads []func() *httptest.ResponseRecorder
		for n := range 40 {
			from := ann.Clone()
			from.Set("X-Forwarded-For", fmt.Sprintf("192.0.%d.1", n))
			reads = append(reads, sendUnread(a, http.MethodGet, "/p/"+long+"/audit.csv", "", from))
		}
		if held := a.Handler.Stats().RequestMemory; held < 6<<20 || held > 8<<20 {
			t.Errorf("the account holds %d bytes", held)
		}
		a.Get("/p", bob).Want(http.StatusOK)
		for _, read := range reads {
			read()
		}
	})
}

func TestAClientThatLeavesAnExportIsNoError(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	session := a.AddSessionUser(servertest.AnnEmail)
	a.Create(`"payload":"x"`, a.AddToken(servertest.AnnEmail))
	taken := 0
	export(a, session, func([]byte) error {
		if taken++; taken > 1 {
			return syscall.EPIPE
		}
		return nil
	})
	if log := a.Log.String(); taken != 2 || strings.Contains(log, `"level":"error"`) {
		t.Errorf("after %d lines the log has %s", taken, log)
	}
}

// What begins and ends while an export runs takes nothing else out of it, and brings nothing
// into it twice.
func TestAnExportHasEachThingOnceWhileOthersComeAndGo(t *testing.T) {
	t.Parallel()
	storetest.OnEachEngine(t, func(t *testing.T, engine func(*storetest.Setup)) {
		var looks atomic.Int64
		var happen func()
		a := servertest.On(t, func(s *storetest.Setup) {
			engine(s)
			s.Wrap = func(e record.Engine) record.Engine {
				return newLister(e, func() { // before each look but the first
					if looks.Add(1) > 1 && happen != nil {
						happen()
					}
				})
			}
		})
		a.AddAccount(servertest.AnnEmail, servertest.AnnPassword)
		ann, by := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword), a.Actor(servertest.AnnEmail)
		const most, over = 150, 60
		var made []store.PushInfo
		var asked []store.RequestInfo
		end := func(n int) {
			if _, err := a.Store.EndRequest(t.Context(), by, asked[n].ID); err != nil {
				t.Error(err)
			}
		}
		for n := range most {
			made = append(made, a.Mine(by, servertest.Called(fmt.Sprintf("push %d;", n))))
			q, err := a.Store.CreateRequest(t.Context(), by, store.NewRequest{Text: secret.New(fmt.Sprintf("request %d;", n))})
			env.OK(t, err)
			if asked = append(asked, q); n < over {
				end(n)
			}
		}
		gone := 0
		happen = func() { // at both ends of each list: to what was written, and to what was not
			if looks.Load()%8 > 0 {
				return
			}
			for range 4 {
				gone++
				for _, n := range []int{gone, most - gone} {
					if _, err := a.Store.DeletePush(t.Context(), by, made[n].Token); err != nil {
						t.Error(err)
					}
				}
				end(over + gone)
				end(most - gone)
				a.Mine(by)
			}
		}
		got := ann.Get("/users/account/export").Want(http.StatusOK).Body
		happen = nil
		for n := range most {
			for _, line := range []string{fmt.Sprintf(`"name":"push %d;"`, n), fmt.Sprintf(`"text":"request %d;"`, n)} {
				if count := strings.Count(got, line); count != 1 {
					t.Errorf("%s is there %d times", line, count)
				}
			}
		}
		if gone == 0 {
			t.Error("nothing happened")
		}
	})
}
