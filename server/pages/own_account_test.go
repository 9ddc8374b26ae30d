package pages_test

import (
	"net/http"
	"strings"
	"testing"

	"pushbox/server/servertest"
	"pushbox/store"
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
	if log := ann.Get("/admin/log?account=2").Want(http.StatusOK).Body; !strings.Contains(log, "by its owner") {
		t.Error("the instance log does not have the removal")
	}
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
	a := servertest.NewSite(t, servertest.SendsMail)
	ann := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	ann.Get("/users/account").Says("When a secret expires").Lacks("No mail is sent to you now", " checked")
	ann.Post("/users/account", "mail_view", "on").To("/users/account")
	ann.Get("/users/account").Says(`name="mail_view" checked`).Lacks(`name="mail_expire" checked`)
	url := a.Create(`"payload":"x"`, a.AddToken(servertest.AnnEmail))
	a.Get(pushes + "/" + url).Want(http.StatusOK)
	if got := a.Letters(); len(got) != 1 || got[0].About != store.MailFirstView || got[0].To.Reveal() != servertest.AnnEmail {
		t.Errorf("the mails are %v", got)
	}
	ann.Get("/users/account/export").Says(`"mails":["view"]`)
}

func TestAServerWithoutMailSaysSoOnThePageOfAnAccount(t *testing.T) {
	t.Parallel()
	servertest.NewSite(t).SignedIn(servertest.AnnEmail, servertest.AnnPassword).Get("/users/account").Says("This server sends no e-mail.").Lacks(`type="checkbox" name="mail_`)
}
