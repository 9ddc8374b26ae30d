package server_test

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pushbox/config"
	"pushbox/server"
)

const firstPath = server.FirstPath + firstCode

func TestTheFirstAccount(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	b := a.browser()
	b.get(firstPath).want(http.StatusOK).says("The first account")
	b.post(firstPath, "email", "nobody", "password", "short").want(http.StatusUnprocessableEntity).inner("password-error")
	b.post(firstPath, "email", annEmail, "password", annPassword).to("/")
	b.get("/users/sessions").want(http.StatusOK).says(annEmail)
	b.get(firstPath).want(http.StatusNotFound)
	b.post(firstPath, "email", "eve@example.com", "password", annPassword).want(http.StatusNotFound)
	a.signedIn(annEmail, annPassword)
	a.browser().signIn("eve@example.com", annPassword).want(http.StatusForbidden)
}

func TestTwoCannotBothBeFirst(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	var wg sync.WaitGroup
	statuses := make([]int, 4)
	for i := range statuses {
		wg.Go(func() {
			statuses[i] = a.browser().post(firstPath, "email", string(rune('a'+i))+"@example.com", "password", annPassword).status
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
	all, err := a.store.Accounts(ctx)
	if made != 1 || len(all) != 1 || err != nil {
		t.Errorf("%d were told that they are first, there are %d accounts, %v", made, len(all), err)
	}
}

func TestTheCodeIsOfNoUseWhereACommandMadeAnAccount(t *testing.T) {
	t.Parallel()
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		a := newSite(t)
		b := a.browser()
		if method == http.MethodGet {
			b.get(firstPath).want(http.StatusNotFound)
		} else {
			b.post(firstPath, "email", "eve@example.com", "password", annPassword).want(http.StatusNotFound)
		}
		if err := a.store.RemoveAccount(ctx, annEmail); err != nil {
			t.Fatal(err)
		}
		b.get(firstPath).want(http.StatusNotFound) // it was forgotten
	}
}

func TestGuessingTheCodeOfTheFirstAccountIsLimited(t *testing.T) {
	t.Parallel()
	a := newAPI(t, func(c *config.Config) { c.Limits.UnknownTokensPerMinute = 3 })
	b := a.browser(far(1))
	for _, wrong := range []string{"x", firstCode + "x", firstCode[1:]} {
		b.get(server.FirstPath + wrong).want(http.StatusNotFound)
	}
	b.get(firstPath).want(http.StatusTooManyRequests)
	b.post(firstPath, "email", annEmail, "password", annPassword).want(http.StatusTooManyRequests)
	a.browser(far(2)).get(firstPath).want(http.StatusOK)
	a.store.Clock.Advance(time.Minute)
	b.get(firstPath).want(http.StatusOK)
	b.post(server.FirstPath+"x", "email", annEmail, "password", annPassword).want(http.StatusNotFound)
}

func TestWithoutACodeThereIsNoFirstAccount(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	handler, err := server.New(server.Options{Config: config.Default(), Store: a.store.Store, Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{server.FirstPath, server.FirstPath + "x", firstPath} {
		if got := serve(handler, http.MethodGet, path); got != http.StatusNotFound {
			t.Errorf("%s: %d", path, got)
		}
	}
}

func TestTheFirstAccountIsThereEvenWhereItCannotSignInAtOnce(t *testing.T) {
	t.Parallel()
	a := newAPI(t, func(c *config.Config) { c.Limits.SignInsPerClient = 1 })
	b := a.browser()
	b.signIn(annEmail, annPassword).want(http.StatusForbidden)
	b.post(firstPath, "email", annEmail, "password", annPassword).to("/users/sign_in")
	a.store.Clock.Advance(20 * time.Second)
	b.signIn(annEmail, annPassword).to("/")
}
