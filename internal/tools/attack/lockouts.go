package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// after asks for a link that is there, from the office, and describes the answer.
func after(ctx context.Context, v *victim, statuses *counter) []line {
	token := v.push(ctx, sender, "s3cret", "")
	good := v.do(ctx, 0, ask{from: office, path: "/p/" + token + "/r"}).status
	return []line{
		{"requests of the attack", statuses.String()},
		{"recipient at the same address", fmt.Sprintf("page of a good link: %d, by the API: %d", good, v.open(ctx, office, token, ""))},
	}
}

// deadImages is a foreign page with dead links as images, which a visitor's browser loads.
func deadImages(ctx context.Context, v *victim) []line {
	image := http.Header{"Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Dest": {"image"}, "Sec-Fetch-Mode": {"no-cors"}}
	c := v.repeat(ctx, 21, func(n int) ask { return ask{from: office, path: fmt.Sprintf("/p/x%d", n), header: image} })
	return after(ctx, v, c)
}

// expiredClicks are people who click on a link that is over.
func expiredClicks(ctx context.Context, v *victim) []line {
	token := v.push(ctx, sender, "s3cret", "")
	v.do(ctx, 0, ask{from: sender, path: "/p/" + token + "/expire", form: url.Values{}})
	return after(ctx, v, v.repeat(ctx, 20, func(int) ask { return ask{from: office, path: "/p/" + token + "/r"} }))
}

// unknownLinks is a client that guesses links.
func unknownLinks(ctx context.Context, v *victim) []line {
	return after(ctx, v, v.repeat(ctx, 21, func(n int) ask { return ask{from: office, path: fmt.Sprintf("/p/x%d/r", n)} }))
}

func signing(from, path, email, password string, cookies []*http.Cookie) ask {
	return ask{from: from, path: path, form: url.Values{"email": {email}, "password": {password}}, cookies: cookies}
}

func (v *victim) signUp(ctx context.Context, from, email, password string) []*http.Cookie {
	v.do(ctx, http.StatusSeeOther, signing(from, "/users/sign_up", email, password, nil))
	return v.do(ctx, http.StatusSeeOther, signing(from, "/users/sign_in", email, password, nil)).cookies
}

// wrongSignIns locks an account. A browser that was signed in to it tries then, and one
// that never was.
func wrongSignIns(ctx context.Context, v *victim) []line {
	const email, password = "ann@example.com", "correct horse battery"
	cookies := v.signUp(ctx, "192.0.2.1", email, password)
	signedOut := slices.DeleteFunc(slices.Clone(cookies), func(c *http.Cookie) bool { return strings.Contains(c.Name, "session") })
	try := func(from, password string, cookies []*http.Cookie) ask {
		return signing(from, "/users/sign_in", email, password, cookies)
	}
	c := v.repeat(ctx, 10, func(n int) ask { return try(fmt.Sprintf("198.51.100.%d", n), "wrong password", nil) })
	known := v.do(ctx, 0, try("203.0.113.9", password, signedOut))
	unknown := v.do(ctx, 0, try("203.0.113.10", password, nil))
	change := url.Values{"old": {password}, "new": {"another password"}, "again": {"another password"}}
	changed := v.do(ctx, 0, ask{from: "203.0.113.11", path: "/users/password", form: change, cookies: cookies})
	return []line{
		{"attacker", c.String()},
		{"a browser that was signed in before", fmt.Sprintf("right password: %d", known.status)},
		{"a browser that never was", fmt.Sprintf("right password: %d", unknown.status)},
		{"a browser that is signed in", fmt.Sprintf("new password: %d", changed.status)},
	}
}

// maxGuesses are more than enough to see where they end.
const maxGuesses = 120

// guess guesses the passphrase of a push, each time from another network, until a guess is
// no longer heard. It returns how many were, and the answer to that guess; none if all were.
func (v *victim) guess(ctx context.Context, token string) (heard int, last answer) {
	for n := range maxGuesses {
		if last = v.do(ctx, 0, opening(fmt.Sprintf("10.%d.0.1", n), token, fmt.Sprintf("%04d", n))); last.status != http.StatusUnauthorized {
			return n, last
		}
	}
	return maxGuesses, answer{}
}

// guessPIN guesses the passphrase of a push that a recipient has opened before.
func guessPIN(ctx context.Context, v *victim) []line {
	token := v.push(ctx, recipient, "s3cret", "4711")
	v.do(ctx, http.StatusOK, opening(recipient, token, "4711"))
	heard, last := v.guess(ctx, token)
	what := fmt.Sprintf("%d of %d guesses heard, no end", heard, maxGuesses)
	if last.status != 0 {
		what = fmt.Sprintf("%d guesses heard, then %d", heard, last.status)
	}
	if seconds, err := time.ParseDuration(last.header.Get("Retry-After") + "s"); err == nil {
		what += fmt.Sprintf(" for about %v", seconds.Round(5*time.Minute)) // since the first guess some time has passed
	}
	return []line{{"attacker", what}, {"recipient who was right before", fmt.Sprintf("right PIN: %d", v.open(ctx, recipient, token, "4711"))}}
}

// freeze gives wrong passphrases for a push of a sender without an account, until no passphrase
// opens it. The sender has the receipt.
func freeze(ctx context.Context, v *victim) []line {
	form := url.Values{
		"push[kind]": {"text"}, "push[payload]": {"s3cret"}, "push[passphrase]": {"4711"},
		"push[expire_after_days]": {"7"}, "push[expire_after_views]": {"5"},
	}
	receipt := v.do(ctx, http.StatusSeeOther, ask{from: recipient, path: "/", form: form}).header.Get("Location")
	token, _, _ := strings.Cut(strings.TrimPrefix(receipt, "/p/"), "/")
	v.guess(ctx, token)
	during := v.open(ctx, recipient, token, "4711")
	v.do(ctx, 0, ask{from: recipient, path: receipt + "/thaw", form: url.Values{}})
	return []line{
		{"recipient who is the first", fmt.Sprintf("right PIN: %d", during)},
		{"the same, after the sender used the button of the receipt", fmt.Sprintf("right PIN: %d", v.open(ctx, recipient, token, "4711"))},
	}
}
