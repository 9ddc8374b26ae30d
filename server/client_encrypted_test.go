package server_test

import (
	"net/http"
	"testing"

	"pushbox/internal/endtoend"
	"pushbox/internal/secret"
	"pushbox/server/servertest"
)

// envelope is the text of a push that its sender encrypted.
func envelope(t *testing.T, text string) string {
	t.Helper()
	sealed, err := endtoend.NewKey().Seal(endtoend.Content{Text: secret.New(text)})
	if err != nil {
		t.Fatal(err)
	}
	return sealed.Reveal()
}

func TestAPushThatItsSenderEncryptedSaysSo(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ann, sealed := a.AddTokenUser("ann@example.com"), envelope(t, "x")
	for body, want := range map[string]string{
		`"payload":"` + sealed + `"`:                 "true",
		`"payload":"` + sealed + `","kind":"text"`:   "true",
		`"payload":"` + sealed + `!"`:                "false",
		`"payload":"` + sealed + `","kind":"qr"`:     "false",
		`"payload":"see pushbox-end-to-end.1.a.b"`:   "false",
		`"payload":"x","client_encrypted":true`:      "false",
		`"payload":"https://a.example","kind":"url"`: "false",
	} {
		made := a.Do("POST", pushes, `{"push":{`+body+`}}`, ann).Want(http.StatusCreated).Has(map[string]string{"client_encrypted": want})
		at := pushes + "/" + made.Text("url_token")
		if want == "true" {
			a.Get(at).Want(http.StatusOK).Has(map[string]string{"client_encrypted": "true", "payload": sealed})
		}
		a.Do("DELETE", at, "", ann).Want(http.StatusOK).Has(map[string]string{"client_encrypted": want})
		a.Get(at).Want(http.StatusOK).Has(map[string]string{"client_encrypted": want, "payload": "null"})
	}
}
