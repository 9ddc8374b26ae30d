package api_test

import (
	"net/http"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/server/servertest"
)

// Version 1 replaces limits that it does not like with the default, 7 days and 5 views
// here, as Password Pusher does. Version 2 refuses them.
func TestVersion1ReadsLimitsSoftly(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	for _, c := range []struct {
		sent        string // as the members of a JSON object
		days, views string
		v2          int
	}{
		{`"expire_after_days":1,"expire_after_views":100`, "1", "100", 201},
		{`"expire_after_days":90,"expire_after_views":1`, "90", "1", 201},
		{`"expire_after_days":"3","expire_after_views":"4"`, "3", "4", 201},
		{`"expire_after_days":0,"expire_after_views":101`, "7", "5", 422},
		{`"expire_after_days":91,"expire_after_views":0`, "7", "5", 422},
		{`"expire_after_days":500,"expire_after_views":-1`, "7", "5", 422}, // Raycast's "unlimited" of 2025
		{`"expire_after_views":99999999999999999999`, "7", "5", 422},
		{`"expire_after_days":"undefined","expire_after_views":"undefined"`, "7", "5", 422}, // the Firefox add-on
		{`"expire_after_days":3.9,"expire_after_views":"2.5"`, "3", "2", 422},
		{`"expire_after_days":0.5,"expire_after_views":"1.x"`, "7", "5", 422},
		{`"expire_after_days":true,"expire_after_views":[3]`, "7", "5", 422},
		{`"expire_after_days":{"a":1}`, "7", "5", 422},
		{`"kind":"qr","expire_after_days":0`, "7", "5", 422},
	} {
		a.Do("POST", "/p.json", `{"password":{"payload":"x",`+c.sent+`}}`).Want(http.StatusCreated).
			Has(map[string]string{"expire_after_days": c.days, "expire_after_views": c.views})
		if got := a.Do("POST", pushes, `{"push":{"payload":"x",`+c.sent+`}}`); got.Status != c.v2 {
			t.Errorf("version 2 answers %d to %s: %s", got.Status, c.sent, got.Body)
		}
	}
	for _, sent := range []string{`null`, `""`, `" "`, `7.0`, `"7.0"`} {
		a.Do("POST", "/p.json", `{"password":{"payload":"x","expire_after_days":`+sent+`,"expire_after_views":`+strings.ReplaceAll(sent, "7", "5")+`}}`).
			Want(http.StatusCreated).Has(map[string]string{"expire_after_days": "7", "expire_after_views": "5"})
	}
}

// Each kind has its own bounds and default.
func TestVersion1TakesTheDefaultOfTheKind(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, func(c *config.Config) {
		c.URL.ExpireAfterDaysMin, c.URL.ExpireAfterDaysDefault, c.URL.ExpireAfterDaysMax = 10, 20, 30
	})
	ann := a.AddTokenUser("ann@example.com")
	for sent, want := range map[string]string{"9": "20", "10": "10", "30": "30", "31": "20"} {
		for path, body := range map[string]string{"/r.json": `{"url":{`, "/p.json": `{"password":{"kind":"url",`} {
			a.Do("POST", path, body+`"payload":"https://example.com","expire_after_days":`+sent+`}}`, ann).
				Want(http.StatusCreated).Has(map[string]string{"expire_after_days": want})
		}
	}
	a.Do("POST", "/p.json", `{"password":{"payload":"x","expire_after_days":9}}`).Want(http.StatusCreated).Has(map[string]string{"expire_after_days": "9"})
}

func TestVersion1TakesNumbersAsTexts(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ann := a.AddTokenUser("ann@example.com")
	for sent, want := range map[string]string{`1234`: "1234", `007e2`: "", `1.50`: "1.50", `true`: "true", `"x"`: "x"} {
		got := a.Do("POST", "/p.json", `{"password":{"payload":`+sent+`,"passphrase":`+sent+`,"name":`+sent+`,"note":`+sent+`}}`, ann)
		if want == "" {
			got.Want(http.StatusBadRequest) // that is no number of JSON
			continue
		}
		token := got.Want(http.StatusCreated).Has(map[string]string{"name": want, "note": want, "passphrase_protected": "true"}).Text("url_token")
		a.Get("/p/" + token + ".json").Want(http.StatusUnauthorized)
		a.Get("/p/" + token + ".json?passphrase=" + want).Want(http.StatusOK).Has(map[string]string{"payload": want})
	}
	for _, sent := range []string{`["x"]`, `{"a":"x"}`} {
		a.Do("POST", "/p.json", `{"password":{"payload":`+sent+`}}`).Want(http.StatusUnprocessableEntity)
	}
}

func TestVersion1TakesNullAsAbsent(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	const all = `"kind":null,"passphrase":null,"name":null,"note":null,"expire_after_days":null,"expire_after_views":null,"deletable_by_viewer":null,"retrieval_step":null`
	a.Do("POST", "/p.json", `{"password":{"payload":"x",`+all+`}}`).Want(http.StatusCreated).Has(map[string]string{
		"kind": "text", "passphrase_protected": "false", "name": "", "note": "", "deletable_by_viewer": "true", "retrieval_step": "true",
		"expire_after_days": "7", "expire_after_views": "5",
	})
	a.Do("POST", "/p.json", `{"password":{"payload":null}}`).Want(http.StatusUnprocessableEntity)
}

func TestVersion1TakesNoFilesAsAbsent(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	for _, files := range []string{"null", "[]", `""`} {
		a.Do("POST", "/p.json", `{"password":{"payload":"x","files":`+files+`}}`).Want(http.StatusCreated).Has(map[string]string{"kind": "text"})
	}
	a.Do("POST", "/p.json", `{"password":{"payload":"x","files":[{"filename":"a","content":"aGk="}]}}`).Want(http.StatusUnauthorized)
	a.Do("POST", "/f.json", `{"file_push":{"payload":"x","files":null}}`, a.AddTokenUser("ann@example.com")).Want(http.StatusUnprocessableEntity)
}

func TestVersion1ReadsFormsWithoutATypeAndQueries(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	typeless := http.Header{"Content-Type": nil}
	for _, c := range []struct{ path, body string }{
		{"/p.json", "password%5Bpayload%5D=a+b&password%5Bexpire_after_days%5D=3"},
		{"/p.json", "password[payload]=a b&password[expire_after_days]=3"},
		{"/p.json?password[payload]=a+b&password[expire_after_days]=3", ""}, // Python's requests.post(url, params=...)
	} {
		got := a.Do("POST", c.path, c.body, typeless).Want(http.StatusCreated).Has(map[string]string{"expire_after_days": "3"})
		a.Get("/p/" + got.Text("url_token") + ".json").Want(http.StatusOK).Has(map[string]string{"payload": "a b"})
	}
	a.Do("POST", "/p.json", `{"password":{"payload":"x"}}`, typeless).Want(http.StatusBadRequest) // a form, as it says nothing else
	a.Do("POST", "/p.json", "").Want(http.StatusBadRequest)
}

func TestVersion1ReadsBooleansAndIgnoresUnknownFields(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	for sent, want := range map[string]string{`true`: "true", `"true"`: "true", `"True"`: "true", `"on"`: "true", `1`: "true", `"1"`: "true", `false`: "false", `"False"`: "false", `0`: "false", `"off"`: "false"} {
		a.Do("POST", "/p.json", `{"account_id":5,"password":{"payload":"x","first_view":true,"account_id":null,"allowed_ips":"","retrieval_step":`+sent+`,"deletable_by_viewer":`+sent+`}}`).
			Want(http.StatusCreated).Has(map[string]string{"retrieval_step": want, "deletable_by_viewer": want})
	}
}

func TestVersion1StoresWhatWasSentOrNothing(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	for _, bad := range []string{"{\"password\":{\"payload\":\"gr\xfc\xdfe\"}}", `{"password":{"payload":"\ud800"}}`} { // Latin-1, as Windows PowerShell 5.1 sends it
		a.Do("POST", "/p.json", bad).Want(http.StatusBadRequest)
	}
	got := a.Do("POST", "/p.json", `{"password":{"payload":" gr\u00fc\u00dfe\r\n "}}`, http.Header{"Accept": {"text/html,application/xhtml+xml"}}).Want(http.StatusCreated)
	for _, ask := range []struct{ method, body string }{{"GET", "null"}, {"GET", ""}, {"DELETE", "null"}} { // PowerShell sends null for an empty body
		path := "/p/" + got.Text("url_token") + ".json"
		shown := a.Do(ask.method, path, ask.body).Want(http.StatusOK)
		if ask.method == "GET" {
			shown.Has(map[string]string{"payload": " gr\u00fc\u00dfe\r\n "})
		}
	}
}
