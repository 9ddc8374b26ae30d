package server_test

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"pushbox/config"
	"pushbox/server"
	"pushbox/server/servertest"
	"pushbox/store"
	"pushbox/store/storetest"
)

func TestTheFirstAccount(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	b, firstPath := a.Browser(), a.FirstPath()
	b.Get(firstPath).Want(http.StatusOK).Says("The first account")
	b.Post(firstPath, "email", "not-an-address", "password", "short").Want(http.StatusUnprocessableEntity).Inner("password-error")
	b.Post(firstPath, "email", servertest.AnnEmail, "password", servertest.AnnPassword).To("/")
	b.Get("/users/sessions").Want(http.StatusOK).Says(servertest.AnnEmail)
	b.Get(firstPath).Want(http.StatusNotFound).Says("This page works only once")
	b.Post(firstPath, "email", "eve@example.com", "password", servertest.AnnPassword).Want(http.StatusNotFound)
	a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	a.Browser().SignIn("eve@example.com", servertest.AnnPassword).Want(http.StatusForbidden)
}

func TestOnlyOneOfTwoCanMakeTheFirstAccount(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	firstPath := a.FirstPath()
	var wg sync.WaitGroup
	statuses := make([]int, 4)
	for i := range statuses {
		wg.Go(func() {
			statuses[i] = a.Browser().Post(firstPath, "email", string(rune('a'+i))+"@example.com", "password", servertest.AnnPassword).Status
		})
	}
	wg.Wait()
	made := 0
	for _, status := range statuses {
		switch status {
		case http.StatusSeeOther:
			made++
		case http.StatusNotFound:
		default:
			t.Errorf("status %d", status)
		}
	}
	all, err := a.Store.Accounts(ctx)
	if made != 1 || len(all) != 1 || err != nil {
		t.Errorf("%d were told that they are first, there are %d accounts, %v", made, len(all), err)
	}
}

func TestTheCodeOfTheFirstAccountIsOfUseOnce(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	b, firstPath := a.Browser(), a.FirstPath()
	a.AddTokenUser(servertest.AnnEmail) // by a command
	b.Get(firstPath).Want(http.StatusNotFound).Says("This page works only once")
	b.Post(firstPath, "email", "eve@example.com", "password", servertest.AnnPassword).Want(http.StatusNotFound)
	if err := a.Store.RemoveAccount(ctx, store.Actor{Role: store.Operator}, servertest.AnnEmail); err != nil {
		t.Fatal(err)
	}
	b.Get(firstPath).Want(http.StatusNotFound).Says("This page works only once")
	b.Get(a.FirstPath()).Want(http.StatusOK)
}

// It is good at each server, and at none once one of them has made the account.
func TestServersHaveOneCodeForTheFirstAccount(t *testing.T) {
	t.Parallel()
	one := servertest.On(t, storetest.Postgres(t))
	other := one.Beside()
	path := one.FirstPath()
	other.Browser().Get(path).Want(http.StatusOK)
	other.Browser().Post(path, "email", servertest.AnnEmail, "password", servertest.AnnPassword).To("/")
	one.Browser().Get(path).Want(http.StatusNotFound)
	one.Browser().Post(path, "email", "eve@example.com", "password", servertest.AnnPassword).Want(http.StatusNotFound)
}

func TestGuessingTheCodeOfTheFirstAccountIsLimited(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, func(c *config.Config) { c.Limits.UnknownTokensPerMinute = 3 })
	b := a.Browser(servertest.Far(1))
	firstPath := a.FirstPath()
	for _, wrong := range []string{server.FirstPath + "x", firstPath + "x", firstPath[:len(firstPath)-1]} {
		b.Get(wrong).Want(http.StatusNotFound)
	}
	b.Get(server.FirstPath + "x").Want(http.StatusTooManyRequests)
	b.Post(server.FirstPath+"x", "email", servertest.AnnEmail, "password", servertest.AnnPassword).Want(http.StatusTooManyRequests)
	a.Browser(servertest.Far(2)).Get(server.FirstPath + "x").Want(http.StatusNotFound)
	a.Store.Clock.Advance(time.Minute)
	b.Get(firstPath).Want(http.StatusOK)
	b.Post(server.FirstPath+"x", "email", servertest.AnnEmail, "password", servertest.AnnPassword).Want(http.StatusNotFound)
}

func TestTheFirstAccountIsMadeEvenIfItCannotSignInAtOnce(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, func(c *config.Config) { c.Limits.SignInsPerClient = 1 })
	b := a.Browser()
	b.SignIn(servertest.AnnEmail, servertest.AnnPassword).Want(http.StatusForbidden)
	b.Post(a.FirstPath(), "email", servertest.AnnEmail, "password", servertest.AnnPassword).To("/users/sign_in")
	a.Store.Clock.Advance(20 * time.Second)
	b.SignIn(servertest.AnnEmail, servertest.AnnPassword).To("/")
}
