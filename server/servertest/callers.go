package servertest

import (
	"fmt"
	"net/http"

	"pushbox/config"
)

// Far is the header of a client that is not on this machine.
func Far(n int) http.Header { return http.Header{"X-Forwarded-For": {fmt.Sprintf("203.0.113.%d", n)}} }

// Bearer is the header with an API token.
func Bearer(token string) http.Header {
	return http.Header{"Authorization": {"Bearer " + token}}
}

// SignUps enables sign-ups for some addresses.
func SignUps(c *config.Config) {
	c.EnableSignups, c.SignupEmailRegexp = true, `[a-z]+@(example\.com|example\.org)|boss@example\.net`
}
