package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// office is the address that attacker and recipients share.
const office = "203.0.113.5"

// after asks for a link that is there, from the office, and describes the answer.
func after(ctx context.Context, v *victim, statuses *counter) ([]line, error) {
	token, err := v.push(ctx, "192.0.2.200", "s3cret", "")
	if err != nil {
		return nil, err
	}
	good, _, err := v.do(ctx, ask{from: office, path: "/p/" + token + "/r"})
	if err != nil {
		return nil, err
	}
	api, _, err := v.open(ctx, office, token, "")
	return []line{
		{"requests of the attack", statuses.String()},
		{"recipient at the same address", fmt.Sprintf("page of a good link: %d, by the API: %d", good, api)},
	}, err
}

// deadImages is a foreign page with dead links as images, which a visitor's browser loads.
func deadImages(ctx context.Context, v *victim) ([]line, error) {
	image := http.Header{"Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Dest": {"image"}, "Sec-Fetch-Mode": {"no-cors"}}
	var c counter
	for n := range 21 {
		status, _, err := v.do(ctx, ask{from: office, path: fmt.Sprintf("/p/x%d", n), header: image})
		if err != nil {
			return nil, err
		}
		c.add(status)
	}
	return after(ctx, v, &c)
}

// expiredClicks are people who click on a link that is over.
func expiredClicks(ctx context.Context, v *victim) ([]line, error) {
	token, err := v.push(ctx, "192.0.2.200", "s3cret", "")
	if err != nil {
		return nil, err
	}
	if _, _, err := v.do(ctx, ask{from: "192.0.2.200", path: "/p/" + token + "/expire", form: url.Values{}}); err != nil {
		return nil, err
	}
	var c counter
	for range 20 {
		status, _, err := v.do(ctx, ask{from: office, path: "/p/" + token + "/r"})
		if err != nil {
			return nil, err
		}
		c.add(status)
	}
	return after(ctx, v, &c)
}

// unknownLinks is a client that guesses links.
func unknownLinks(ctx context.Context, v *victim) ([]line, error) {
	var c counter
	for n := range 21 {
		status, _, err := v.do(ctx, ask{from: office, path: fmt.Sprintf("/p/x%d/r", n)})
		if err != nil {
			return nil, err
		}
		c.add(status)
	}
	return after(ctx, v, &c)
}

// wrongSignIns locks an account. A browser that was signed in to it tries then, and one
// that never was.
func wrongSignIns(ctx context.Context, v *victim) ([]line, error) {
	const email, password = "ann@example.com", "correct horse battery"
	form := url.Values{"email": {email}, "password": {password}}
	if status, _, err := v.do(ctx, ask{from: "192.0.2.1", path: "/users/sign_up", form: form}); err != nil || status != http.StatusSeeOther {
		return nil, fmt.Errorf("sign up: status %d, %w", status, err)
	}
	signIn := func(from, password string, cookies []*http.Cookie) (int, *http.Response, error) {
		form := url.Values{"email": {email}, "password": {password}}
		return v.do(ctx, ask{from: from, path: "/users/sign_in", form: form, cookies: cookies})
	}
	status, res, err := signIn("192.0.2.1", password, nil)
	if err != nil || status != http.StatusSeeOther {
		return nil, fmt.Errorf("sign in: status %d, %w", status, err)
	}
	cookies := res.Cookies()
	signedOut := []*http.Cookie{} // what is left after a sign-out
	for _, c := range cookies {
		if !strings.Contains(c.Name, "session") {
			signedOut = append(signedOut, c)
		}
	}
	var c counter
	for n := range 10 {
		status, _, err := signIn(fmt.Sprintf("198.51.100.%d", n), "wrong password", nil)
		if err != nil {
			return nil, err
		}
		c.add(status)
	}
	known, _, err := signIn("203.0.113.9", password, signedOut)
	if err != nil {
		return nil, err
	}
	unknown, _, err := signIn("203.0.113.10", password, nil)
	if err != nil {
		return nil, err
	}
	change := url.Values{"old": {password}, "new": {"another password"}, "again": {"another password"}}
	changed, _, err := v.do(ctx, ask{from: "203.0.113.11", path: "/users/password", form: change, cookies: cookies})
	return []line{
		{"attacker", c.String()},
		{"a browser that was signed in before", fmt.Sprintf("right password: %d", known)},
		{"a browser that never was", fmt.Sprintf("right password: %d", unknown)},
		{"a browser that is signed in", fmt.Sprintf("new password: %d", changed)},
	}, err
}

// maxGuesses are more than enough to see where they end.
const maxGuesses = 120

// guessPIN guesses the passphrase of a push, each time from another network, until a guess
// is no longer heard.
func guessPIN(ctx context.Context, v *victim) ([]line, error) {
	token, err := v.push(ctx, recipient, "s3cret", "4711")
	if err != nil {
		return nil, err
	}
	if status, _, err := v.open(ctx, recipient, token, "4711"); err != nil || status != http.StatusOK {
		return nil, fmt.Errorf("the right PIN: status %d, %w", status, err)
	}
	heard, end, wait := 0, 0, ""
	for n := range maxGuesses {
		status, res, err := v.open(ctx, fmt.Sprintf("10.%d.0.1", n), token, fmt.Sprintf("%04d", n))
		if err != nil {
			return nil, err
		}
		if status != http.StatusUnauthorized {
			end, wait = status, res.Header.Get("Retry-After")
			break
		}
		heard++
	}
	again, _, err := v.open(ctx, recipient, token, "4711")
	what := fmt.Sprintf("%d of %d guesses heard, no end", heard, maxGuesses)
	if end != 0 {
		what = fmt.Sprintf("%d guesses heard, then %d", heard, end)
	}
	if seconds, err := time.ParseDuration(wait + "s"); err == nil {
		what += fmt.Sprintf(" for about %v", seconds.Round(5*time.Minute)) // since the first guess some time has passed
	}
	return []line{{"attacker", what}, {"recipient who was right before", fmt.Sprintf("right PIN: %d", again)}}, err
}
