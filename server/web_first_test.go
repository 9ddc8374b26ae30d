package server_test

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pushbox/config"
	"pushbox/server"
	"pushbox/server/servertest"
	"pushbox/store"
)

const firstPath = server.FirstPath + servertest.FirstCode

func TestTheFirstAccount(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	b := a.Browser()
	b.Get(firstPath).Want(http.StatusOK).Says("The first account")
	b.Post(firstPath, "email", "not-an-address", "password", "short").Want(http.StatusUnprocessableEntity).Inner("password-error")
	b.Post(firstPath, "email", servertest.AnnEmail, "password", servertest.AnnPassword).To("/")
	b.Get("/users/sessions").Want(http.StatusOK).Says(servertest.AnnEmail)
	b.Get(firstPath).Want(http.StatusNotFound)
	b.Post(firstPath, "email", "eve@example.com", "password", servertest.AnnPassword).Want(http.StatusNotFound)
	a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	a.Browser().SignIn("eve@example.com", servertest.AnnPassword).Want(http.StatusForbidden)
}

func TestOnlyOneOfTwoCanMakeTheFirstAccount(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
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

func TestTheFirstCodeIsInvalidOnceACommandMadeAnAccount(t *testing.T) {
	t.Parallel()
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		a := servertest.NewSite(t)
		b := a.Browser()
		if method == http.MethodGet {
			b.Get(firstPath).Want(http.StatusNotFound)
		} else {
			b.Post(firstPath, "email", "eve@example.com", "password", servertest.AnnPassword).Want(http.StatusNotFound)
		}
		if err := a.Store.RemoveAccount(ctx, store.Actor{Role: store.Operator}, servertest.AnnEmail); err != nil {
			t.Fatal(err)
		}
		b.Get(firstPath).Want(http.StatusNotFound) // it was forgotten
	}
}

func TestGuessingTheCodeOfTheFirstAccountIsLimited(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, func(c *config.Config) { c.Limits.UnknownTokensPerMinute = 3 })
	b := a.Browser(servertest.Far(1))
	for _, wrong := range []string{"x", servertest.FirstCode + "x", servertest.FirstCode[1:]} {
		b.Get(server.FirstPath + wrong).Want(http.StatusNotFound)
	}
	b.Get(server.FirstPath + "x").Want(http.StatusTooManyRequests)
	b.Post(server.FirstPath+"x", "email", servertest.AnnEmail, "password", servertest.AnnPassword).Want(http.StatusTooManyRequests)
	a.Browser(servertest.Far(2)).Get(server.FirstPath + "x").Want(http.StatusNotFound)
	a.Store.Clock.Advance(time.Minute)
	b.Get(firstPath).Want(http.StatusOK)
	b.Post(server.FirstPath+"x", "email", servertest.AnnEmail, "password", servertest.AnnPassword).Want(http.StatusNotFound)
}

func TestWithoutACodeThereIsNoFirstAccount(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	handler, err := server.New(server.Options{Config: config.Default(), Store: a.Store.Store, Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{server.FirstPath, server.FirstPath + "x", firstPath} {
		if got := servertest.Serve(handler, http.MethodGet, path); got != http.StatusNotFound {
			t.Errorf("%s: %d", path, got)
		}
	}
}

func TestTheFirstAccountIsMadeEvenIfItCannotSignInAtOnce(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, func(c *config.Config) { c.Limits.SignInsPerClient = 1 })
	b := a.Browser()
	b.SignIn(servertest.AnnEmail, servertest.AnnPassword).Want(http.StatusForbidden)
	b.Post(firstPath, "email", servertest.AnnEmail, "password", servertest.AnnPassword).To("/users/sign_in")
	a.Store.Clock.Advance(20 * time.Second)
	b.SignIn(servertest.AnnEmail, servertest.AnnPassword).To("/")
}
