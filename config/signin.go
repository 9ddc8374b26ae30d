package config

import (
	"errors"
	"net/url"
	"strings"

	"pushbox/internal/clientip"
	"pushbox/internal/secret"
)

// SignIn says how people sign in, beside passwords.
type SignIn struct {
	// Whether people sign in with passwords of pushbox, sign up, and ask for links that set a
	// password. If false, they need oidc, proxy or ldap.
	Passwords bool `mapstructure:"passwords"`

	// If passwords is false: the addresses of accounts whose passwords work all the same, such
	// as one administrator's for the day on which no provider answers.
	BreakGlass []string `mapstructure:"break_glass" form:"emails"`

	// Providers of OpenID Connect at which people sign in. docs/sign-in.md has recipes. In the
	// environment: the list as JSON or YAML.
	OIDC []OIDC `mapstructure:"oidc"`

	// Signing in by a header of a proxy that knows who its users are.
	Proxy ProxySignIn `mapstructure:"proxy"`
}

// OIDC is a provider of OpenID Connect.
type OIDC struct {
	// A word for it in addresses: it sends people back to
	// BASE_URL/users/oidc/NAME/callback, and may say that sessions have ended at
	// BASE_URL/users/oidc/NAME/logout.
	Name string `mapstructure:"name" form:"word"`

	// What pages call it. Empty: its name.
	Title string `mapstructure:"title"`

	// Its address, as it says it itself, such as https://id.example.com/realms/office.
	Issuer string `mapstructure:"issuer" form:"issuer"`

	// The name by which it knows pushbox.
	ClientID string `mapstructure:"client_id"`

	// File with the secret that goes with client_id. Empty, and client_secret too: none.
	ClientSecretFile string `mapstructure:"client_secret_file"`

	// The secret itself. A file is safer.
	ClientSecret secret.Text `mapstructure:"client_secret"`

	// What pushbox asks for, beside openid. Default: profile and email. If groups count,
	// it asks for groups, too, where the provider has such a scope.
	Scopes []string `mapstructure:"scopes" form:"words"`

	// File with certificates (PEM) of the authorities that may sign the provider's. Empty:
	// those that the system trusts.
	CAFile string `mapstructure:"ca_file"`

	// Whether a person without an account gets one.
	CreateAccounts bool `mapstructure:"create_accounts"`

	// Whether a person whose address the provider has verified may use the account that has
	// this address already.
	LinkByEmail bool `mapstructure:"link_by_email"`

	// Whether all its addresses count as verified. Set it only if people cannot choose their
	// address there.
	TrustEmail bool `mapstructure:"trust_email"`

	// Whether it asks for a second factor, so that pushbox asks for none.
	TrustMFA bool `mapstructure:"trust_mfa"`

	// Domains of the addresses that may sign in, such as example.com. Empty: any.
	AllowedDomains []string `mapstructure:"allowed_domains" form:"domains"`

	// The claim that has the groups of a person. Default: groups.
	GroupsClaim string `mapstructure:"groups_claim"`

	// Groups whose members may sign in. Empty: everyone may.
	AllowedGroups []string `mapstructure:"allowed_groups" form:"names"`

	// Groups whose members administer; all others who sign in here do not. Empty: the
	// provider does not decide it.
	AdminGroups []string `mapstructure:"admin_groups" form:"names"`
}

// ProxySignIn says which headers of a proxy tell who signs in. They count only in requests of
// trusted_proxies, on the address of listen; elsewhere pushbox removes them.
type ProxySignIn struct {
	// Header with the address of a person, such as Remote-Email. The proxy must set or remove
	// it in each request. Empty: none.
	Header string `mapstructure:"header" form:"header"`

	// Header with the groups of the person, separated by bars, or if there are none by commas.
	// Empty: none.
	GroupsHeader string `mapstructure:"groups_header" form:"header"`

	// Whether a person without an account gets one.
	CreateAccounts bool `mapstructure:"create_accounts"`

	// Groups whose members may sign in. Empty: everyone may.
	AllowedGroups []string `mapstructure:"allowed_groups" form:"names"`

	// Groups whose members administer; all others who sign in here do not. Empty: the proxy
	// does not decide it.
	AdminGroups []string `mapstructure:"admin_groups" form:"names"`
}

func defaultSignIn() SignIn {
	return SignIn{
		Passwords: true, BreakGlass: []string{}, OIDC: []OIDC{},
		Proxy: ProxySignIn{AllowedGroups: []string{}, AdminGroups: []string{}},
	}
}

func defaultOIDC() OIDC {
	return OIDC{
		Scopes: []string{"profile", "email"}, GroupsClaim: "groups",
		AllowedDomains: []string{}, AllowedGroups: []string{}, AdminGroups: []string{},
	}
}

// Shown is what pages call the provider.
func (o OIDC) Shown() string {
	if o.Title == "" {
		return o.Name
	}
	return o.Title
}

// providerList is the form of sign_in.oidc.
var providerList = entries[OIDC]{
	what:     "a list of providers, each with name, issuer and client_id",
	required: []string{"name", "issuer", "client_id"},
	initial:  defaultOIDC,
	name:     func(o OIDC) string { return o.Name },
	check: func(o OIDC) error {
		if !o.ClientSecret.IsZero() && o.ClientSecretFile != "" {
			return errors.New("has both client_secret and client_secret_file")
		}
		return nil
	},
}

// parseWord reads a word for addresses.
func parseWord(text string) (string, error) {
	odd := func(c rune) bool { return (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' }
	if text == "" || len(text) > 32 || strings.ContainsFunc(text, odd) {
		return "", errors.New("must be a word of at most 32 letters from a to z, digits and dashes")
	}
	return text, nil
}

// parseScope reads a scope (RFC 6749 section 3.3).
func parseScope(text string) (string, error) {
	if text == "" || strings.ContainsFunc(text, func(c rune) bool { return c <= ' ' || c > '~' || c == '"' || c == '\\' }) {
		return "", errors.New("must be a word")
	}
	return text, nil
}

// parseName reads a text that is not empty.
func parseName(text string) (string, error) {
	if text == "" {
		return "", errors.New("is empty")
	}
	return parseText(text)
}

// parseIssuer reads the address of a provider. Only on this machine it may do without TLS.
func parseIssuer(text string) (string, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Hostname() == "" || u.User != nil || strings.ContainsAny(text, "?#"):
		return "", errors.New("must be a URL such as https://id.example.com, without a query")
	case u.Scheme != "https" && (u.Scheme != "http" || !clientip.IsLoopback(u.Hostname())):
		return "", errors.New("must begin with https://")
	}
	return text, nil
}

// parseHeader reads the name of a header (RFC 9110 section 5.1).
func parseHeader(text string) (string, error) {
	odd := func(c rune) bool { return !isLetterOrDigit(c) && c != '-' }
	if strings.ContainsFunc(text, odd) {
		return "", errors.New("must be the name of a header, such as Remote-Email")
	}
	return text, nil
}

// checkSignIn notes problems between the settings of signing in.
func (l *loader) checkSignIn(cfg Config) {
	s := cfg.SignIn
	if !s.Passwords && len(s.OIDC) == 0 && s.Proxy.Header == "" && !cfg.LDAP.Enabled() {
		l.relation("sign_in.passwords", "is false, so no account could sign in without", "sign_in.oidc")
	}
	if s.Proxy.Header != "" && len(cfg.TrustedProxies) == 0 {
		l.relation("sign_in.proxy.header", "counts only in requests of", "trusted_proxies")
	}
	if s.Proxy.GroupsHeader == "" && len(s.Proxy.AllowedGroups)+len(s.Proxy.AdminGroups) > 0 {
		l.relation("sign_in.proxy.groups_header", "must be set together with", "sign_in.proxy.allowed_groups", "sign_in.proxy.admin_groups")
	}
}
