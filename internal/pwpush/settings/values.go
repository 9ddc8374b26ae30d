package settings

import (
	"errors"
	"strconv"
	"strings"
)

// given has the values of the variables that are not empty, by name.
type given map[string]string

func (g given) has(names ...string) bool {
	_, ok := g.first(names...)
	return ok
}

func (g given) first(names ...string) (text string, ok bool) {
	for _, name := range names {
		if text, ok := g[name]; ok {
			return text, true
		}
	}
	return "", false
}

func (g given) number(names ...string) (int, bool) {
	text, _ := g.first(names...)
	n, err := strconv.Atoi(text)
	return n, err == nil
}

func whenTrue(names ...string) func(given) bool {
	return func(g given) bool {
		for _, name := range names {
			if g[name] == "true" {
				return true
			}
		}
		return false
	}
}

func whenGiven(name string) func(given) bool    { return func(g given) bool { return g.has(name) } }
func whenNotGiven(name string) func(given) bool { return func(g given) bool { return !g.has(name) } }

// constant returns what sets a value if a variable of the rule is given.
func constant(value string) convert {
	return func(g given, from []string) (string, error) {
		if !g.has(from...) {
			return "", nil
		}
		return value, nil
	}
}

// boolean reads true and false. Password Pusher takes every other word for true, also
// False and 0.
func boolean(g given, from []string) (string, error) {
	text, ok := g.first(from...)
	if ok && text != "true" && text != "false" {
		return "", errors.New("is neither true nor false, and was left out; Password Pusher reads such words as true")
	}
	return text, nil
}

// privateNetworks are the proxies that Password Pusher trusts without being told.
const privateNetworks = "::1/128,127.0.0.0/8,10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,169.254.0.0/16,100.64.0.0/10"

func trustedProxies(g given, from []string) (string, error) {
	if text, ok := g.first(from...); ok {
		return privateNetworks + "," + text, nil
	}
	return privateNetworks, nil
}

func listen(g given, _ []string) (string, error) {
	if g.has("TLS_DOMAIN") {
		return ":443", nil
	}
	return ":" + g["PORT"], nil
}

// baseURL returns the address of links: the given one, or one from its parts.
func baseURL(g given, _ []string) (string, error) {
	if whole, ok := g["PWP__OVERRIDE_BASE_URL"]; ok {
		return whole, nil
	}
	host, ok := g["PWP__HOST_DOMAIN"]
	if !ok {
		return "", nil // a protocol alone
	}
	if protocol, ok := g["PWP__HOST_PROTOCOL"]; ok {
		return protocol + "://" + host, nil
	}
	return "https://" + host, nil
}

func basePath(g given, from []string) (string, error) {
	path := strings.Trim(g[from[0]], "/")
	if path == "" {
		return "", nil
	}
	return "/" + path, nil
}

// allowedHosts reads hosts with spaces between them. A dot before a host means the host
// and all names below it.
func allowedHosts(g given, from []string) (string, error) {
	var all []string
	for _, host := range strings.Fields(g[from[0]]) {
		if below, ok := strings.CutPrefix(host, "."); ok {
			all = append(all, below, "*."+below)
		} else {
			all = append(all, host)
		}
	}
	return strings.Join(all, ","), nil
}

// signups joins the variables that decide who may sign up. Password Pusher 1 had a variable
// for accounts as a whole.
func signups(g given, _ []string) (string, error) {
	open := true
	for _, v := range []struct{ name, closed string }{{"PWP__DISABLE_SIGNUPS", "true"}, {"PWP__DISABLE_LOGINS", "true"}, {"PWP__ENABLE_LOGINS", "false"}} {
		text, err := boolean(g, []string{v.name})
		if err != nil {
			return "", err
		}
		open = open && text != v.closed
	}
	return strconv.FormatBool(open), nil
}

func locale(g given, from []string) (string, error) {
	language, _, _ := strings.Cut(strings.TrimPrefix(g[from[0]], ":"), "-")
	return strings.ToLower(language), nil
}

// logLevel reads a level, which may be a symbol of Ruby.
func logLevel(g given, from []string) (string, error) {
	level := strings.TrimPrefix(g[from[0]], ":")
	if level == "fatal" {
		return "error", nil
	}
	return level, nil
}

// durationOr reads a time. It returns initial if no time is given, or if the text is none.
func durationOr(initial, none string) convert {
	return func(g given, from []string) (string, error) {
		if text, ok := g.first(from...); ok && text != none {
			return duration(text)
		}
		return initial, nil
	}
}

// duration reads a time such as "2 hours". A month has 30 days, and a year 365.
func duration(text string) (string, error) {
	const longest = 100_000
	number, unit, _ := strings.Cut(strings.TrimSpace(text), " ")
	n, err := strconv.Atoi(number)
	days, ok := map[string]int{"day": 1, "week": 7, "month": 30, "year": 365}[strings.TrimSuffix(strings.ToLower(unit), "s")]
	short, isShort := map[string]string{"second": "s", "minute": "m", "hour": "h"}[strings.TrimSuffix(strings.ToLower(unit), "s")]
	switch {
	case err != nil || n < 0 || n > longest || !ok && !isShort:
		return "", errors.New("is not a time such as 3 months, and was left out")
	case isShort:
		return strconv.Itoa(n) + short, nil
	}
	return strconv.Itoa(n*days) + "d", nil
}
