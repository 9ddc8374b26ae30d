package server_test

import (
	"net/http"
	"strings"
	"testing"

	"pushbox/server/servertest"
)

func TestUsersDeleteTheirOwnAccounts(t *testing.T) {
	t.Parallel()
	a, ann := administered(t)
	bob := a.SignedIn("bob@example.com", servertest.AnnPassword)
	token := a.AddToken("bob@example.com")
	kept, gone := a.Create(`"payload":"x"`, a.AddToken(servertest.AnnEmail)), a.Create(`"payload":"x"`, token)
	bob.Get("/users/account").Want(http.StatusOK).Says("bob@example.com", "Active pushes", "Delete my account")

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
