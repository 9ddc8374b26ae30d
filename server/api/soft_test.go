package api_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"pushbox/server/servertest"
)

// Some clients write null or an empty text for what is not set.
func TestNullAndBlankNumbersAreAbsent(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	usual := map[string]string{"expire_after_days": "7", "expire_after_views": "5"}
	for _, blank := range []string{`null`, `""`, `" \t"`} {
		members := `"payload":"x","expire_after_days":` + blank + `,"expire_after_views":` + blank + `,"expire_after_duration":` + blank
		a.Do("POST", pushes, `{"push":{`+members+`}}`).Want(http.StatusCreated).Has(usual)
	}
	form := "push[payload]=x&push[expire_after_days]=&push[expire_after_views]=+&push[expire_after_duration]="
	a.Do("POST", pushes, form, servertest.Urlencoded).Want(http.StatusCreated).Has(usual)
}

// Some clients send a PIN as a number.
func TestNumbersAndBooleansAreTakenAsTheirText(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	for _, written := range []string{"1234", "0.10", "-1e+05", "12345678901234567890123", "true", "false"} {
		members := `"payload":` + written + `,"passphrase":` + written + `,"name":` + written + `,"note":` + written
		made := a.Do("POST", pushes, `{"push":{`+members+`}}`).Want(http.StatusCreated).Has(map[string]string{"name": written, "note": written})
		path := pushes + "/" + made.Text("url_token")
		a.Get(path).Want(http.StatusUnauthorized)
		shown := a.Get(path + "?passphrase=" + url.QueryEscape(written)).Want(http.StatusOK)
		if shown.Object()["payload"] != written {
			t.Errorf("%s came back as %s", written, shown.Body)
		}
	}
}

// Password Pusher takes the number of a kind for its name.
func TestAKindMayBeSentAsItsNumber(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ann := a.AddTokenUser("ann@example.com")
	for _, kind := range []string{`2`, `"2"`} {
		a.Do("POST", pushes, `{"push":{"payload":"https://example.com/","kind":`+kind+`}}`).Want(http.StatusCreated).Has(map[string]string{"kind": "url"})
		a.Do("POST", pushes, `{"push":{"payload":"no address","kind":`+kind+`}}`).Want(http.StatusUnprocessableEntity)
	}
	for number, name := range []string{"text", "file", "", "qr"} {
		if name != "" {
			files := map[bool]string{true: `,"files":[{"filename":"f","content":""}]`}[name == "file"]
			a.Do("POST", pushes, fmt.Sprintf(`{"push":{"payload":"x","kind":%d%s}}`, number, files), ann).Want(http.StatusCreated).Has(map[string]string{"kind": name})
		}
	}
	a.Do("POST", pushes, `{"push":{"payload":"x","kind":1}}`).Want(http.StatusUnauthorized)
	for _, kind := range []string{`4`, `-1`, `"02"`, `1.5`, `true`} {
		a.Do("POST", pushes, `{"push":{"payload":"x","kind":`+kind+`}}`, ann).Want(http.StatusUnprocessableEntity)
	}
}

// Rust's and Python's clients send such requests.
func TestABodyWithoutATypeIsAForm(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	for _, header := range []http.Header{{"Content-Type": nil}, {"Content-Type": {""}}} {
		token := a.Do("POST", pushes, "push[payload]=a%26b", header).Want(http.StatusCreated).Text("url_token")
		a.Get(pushes + "/" + token).Want(http.StatusOK).Has(map[string]string{"payload": "a&b"})
		a.Do("POST", pushes, `{"push":{"payload":"x"}}`, header).Want(http.StatusBadRequest)
	}
}

func TestFieldsInTheQueryCountWhereTheBodyIsEmpty(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	const query = "?push[payload]=a%26b&push[expire_after_days]=3"
	for name, header := range map[string]http.Header{"no type": {}, "a form": servertest.Urlencoded, "JSON": {"Content-Type": {"application/json"}}} {
		made := a.Do("POST", pushes+query, "", header).Want(http.StatusCreated).Has(map[string]string{"expire_after_days": "3"})
		if shown := a.Get(pushes + "/" + made.Text("url_token")).Want(http.StatusOK); shown.Text("payload") != "a&b" {
			t.Errorf("%s: %s", name, shown.Body)
		}
	}
	a.Do("POST", pushes+"?push[files][]=x", "").Want(http.StatusUnauthorized)
	for _, body := range []string{`{"push":{"payload":"x"}}`, `{}`} { // which of the two counts, nothing says
		a.Do("POST", pushes+"?push[passphrase]=p", body).Want(http.StatusBadRequest).Says("The body and the query both have fields")
	}
	a.Do("POST", pushes+"?locale=de&passphrase=p", `{"push":{"payload":"x"}}`).Want(http.StatusCreated)
	for _, bad := range []string{"", "?payload=x", "?push[payload]=%zz", "?push[payload]=%ff", "?push[payload]=x&push[payload]=y"} {
		a.Do("POST", pushes+bad, "").Want(http.StatusBadRequest)
	}
	a.Do("POST", pushes+query, "", http.Header{"Content-Type": {"text/plain"}}).Want(http.StatusUnsupportedMediaType)
	ann := a.AddTokenUser("ann@example.com")
	path := pushes + "/" + a.Create(`"payload":"x"`, ann) + "/notify_emails?notify_emails_to=bob@example.net"
	if got := a.Do("POST", path, "", ann); !strings.Contains(got.Body, "sends no mail") { // the field was read
		t.Errorf("%d %s", got.Status, got.Body)
	}
}
