package api_test

import (
	"net/http"
	"testing"

	"pushbox/config"
	"pushbox/server/servertest"
)

func TestAPushThatItsSenderEncryptedSaysSo(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ann, sealed := a.AddTokenUser("ann@example.com"), servertest.Envelope(t, "x")
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

func TestNoLinkWithoutItsKeyIsMailed(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, func(c *config.Config) {
		c.BaseURL, c.Mail.Host, c.Mail.From = "https://push.example.com", "mail.example.com", "push@example.com"
	})
	ann := a.AddTokenUser("ann@example.com")
	sealed := servertest.Envelope(t, "x")
	a.Do("POST", pushes, `{"push":{"payload":"`+sealed+`","notify_emails_to":"bob@example.com"}}`, ann).Want(http.StatusUnprocessableEntity).
		Has(map[string]string{"notify_emails_to": "[cannot be sent: the push is encrypted end to end, and only its sender has the key of the link]"})
	token := a.Create(`"payload":"`+sealed+`"`, ann)
	a.Do("POST", pushes+"/"+token+"/notify_emails", `{"notify_emails_to":"bob@example.com"}`, ann).Want(http.StatusUnprocessableEntity)
}
