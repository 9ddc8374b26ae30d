package api_test

import (
	"net/http"
	"testing"

	"pushbox/server/servertest"
)

// A program opens no push that names its recipient, unless it is the owner's.
func TestAPushForANamedRecipientOverTheAPI(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, servertest.SendsMail)
	ann := a.AddTokenUser("ann@example.com")
	made := a.Do("POST", pushes, `{"push":{"payload":"hunter2","passphrase":"open sesame 5781","recipient_email":"bob@example.net"}}`, ann).
		Want(http.StatusCreated).Has(map[string]string{"recipient_email": "bob@example.net"})
	token := made.Text("url_token")
	before := a.Trace(token)
	for _, h := range []http.Header{{}, a.AddTokenUser("bob@example.net"), {"X-Push-Passphrase": {"wrong"}}, {"X-Push-Passphrase": {"open sesame 5781"}}} {
		got := a.Get(pushes+"/"+token, h).Want(http.StatusForbidden).Has(map[string]string{
			"code": "recipient-only", "error": "This push is for a named recipient, who opens it on the page of its link with a code that is mailed to them. No view was counted, and no passphrase was tried.",
		})
		if _, has := got.Object()["message"]; has {
			t.Error(got.Body)
		}
	}
	if after := a.Trace(token); after != before {
		t.Errorf("%v became %v", before, after)
	}
	a.Get(pushes+"/"+token, ann, http.Header{"X-Push-Passphrase": {"open sesame 5781"}}).Want(http.StatusOK).Has(map[string]string{"payload": "hunter2"})
	if own := a.Get(pushes+"/active", ann).Want(http.StatusOK).List(); own[0]["recipient_email"] != "bob@example.net" {
		t.Error(own)
	}
	if other := a.Do("POST", pushes, `{"push":{"payload":"x"}}`, ann).Want(http.StatusCreated).Object(); other["recipient_email"] != nil {
		t.Error(other)
	}
	a.Get(pushes + "/" + token + "/preview").Want(http.StatusOK)

	const wrong = "[must be one e-mail address such as ann@example.com, without a name, or a domain such as @example.com]"
	for _, to := range []string{"bob", "a@example.net,b@example.net", "example.net"} {
		a.Do("POST", pushes, `{"push":{"payload":"x","recipient_email":"`+to+`"}}`, ann).Want(http.StatusUnprocessableEntity).Has(map[string]string{"recipient_email": wrong})
	}
	a.Do("POST", pushes, `{"push":{"payload":"x","recipient_email":"bob@example.net"}}`).Want(http.StatusUnprocessableEntity).
		Has(map[string]string{"recipient_email": "[needs an account: send an API token]"})
	a = servertest.New(t)
	a.Do("POST", pushes, `{"push":{"payload":"x","recipient_email":"bob@example.net"}}`, a.AddTokenUser("ann@example.com")).Want(http.StatusUnprocessableEntity).
		Has(map[string]string{"recipient_email": "[cannot be used: this server sends no mail]"})
}
