package config

import (
	"cmp"
	"errors"
	"time"

	"pushbox/internal/secret"
)

// SignIn says how people sign in, beside passwords.
type SignIn struct {
	Passwords  bool        `mapstructure:"passwords" default:"true"`
	BreakGlass []string    `mapstructure:"break_glass" form:"emails"`
	OIDC       []OIDC      `mapstructure:"oidc"`
	Proxy      ProxySignIn `mapstructure:"proxy"`
}

// OIDC is a provider of OpenID Connect.
type OIDC struct {
	Name             string      `mapstructure:"name" form:"word"`
	Title            string      `mapstructure:"title"`
	Issuer           string      `mapstructure:"issuer" form:"issuer"`
	ClientID         string      `mapstructure:"client_id"`
	ClientSecretFile string      `mapstructure:"client_secret_file"`
	ClientSecret     secret.Text `mapstructure:"client_secret"`
	Scopes           []string    `mapstructure:"scopes" form:"words" default:"profile,email"`
	CAFile           string      `mapstructure:"ca_file"`
	CreateAccounts   bool        `mapstructure:"create_accounts"`
	LinkByEmail      bool        `mapstructure:"link_by_email"`
	TrustEmail       bool        `mapstructure:"trust_email"`
	TrustMFA         bool        `mapstructure:"trust_mfa"`
	AllowedDomains   []string    `mapstructure:"allowed_domains" form:"domains"`
	GroupsClaim      string      `mapstructure:"groups_claim" default:"groups"`
	AllowedGroups    []string    `mapstructure:"allowed_groups" form:"names"`
	AdminGroups      []string    `mapstructure:"admin_groups" form:"names"`
}

// ProxySignIn says which headers of a proxy name the user who signs in. They count only in requests
// of trusted_proxies, on the address of listen; elsewhere pushbox removes them.
type ProxySignIn struct {
	Header         string   `mapstructure:"header" form:"header"`
	GroupsHeader   string   `mapstructure:"groups_header" form:"header"`
	CreateAccounts bool     `mapstructure:"create_accounts"`
	AllowedGroups  []string `mapstructure:"allowed_groups" form:"names"`
	AdminGroups    []string `mapstructure:"admin_groups" form:"names"`
}

// Shown is the name of the provider on pages.
func (o OIDC) Shown() string { return cmp.Or(o.Title, o.Name) }

var providerList = entries[OIDC]{
	what:     "a list of providers, each with name, issuer and client_id",
	required: []string{"name", "issuer", "client_id"},
	name:     func(o OIDC) string { return o.Name },
	check: func(o OIDC) error {
		if !o.ClientSecret.IsZero() && o.ClientSecretFile != "" {
			return errors.New("has both client_secret and client_secret_file")
		}
		return nil
	},
}

// LDAP says where the directory is, and what its entries look like.
type LDAP struct {
	URL              string        `mapstructure:"url"`
	CAFile           string        `mapstructure:"ca_file"`
	BindDN           string        `mapstructure:"bind_dn"`
	BindPasswordFile string        `mapstructure:"bind_password_file"`
	BindPassword     secret.Text   `mapstructure:"bind_password"`
	Base             string        `mapstructure:"base"`
	Filter           string        `mapstructure:"filter" default:"(objectClass=person)"`
	LoginAttributes  []string      `mapstructure:"login_attributes" form:"names" default:"uid,mail"`
	IDAttribute      string        `mapstructure:"id_attribute" default:"entryUUID"`
	EmailAttribute   string        `mapstructure:"email_attribute" default:"mail"`
	GroupBase        string        `mapstructure:"group_base"`
	MemberAttributes []string      `mapstructure:"member_attributes" form:"names" default:"member,uniqueMember"`
	AllowedGroups    []string      `mapstructure:"allowed_groups" form:"names"`
	AdminGroups      []string      `mapstructure:"admin_groups" form:"names"`
	LinkByEmail      bool          `mapstructure:"link_by_email"`
	CreateAccounts   bool          `mapstructure:"create_accounts" default:"true"`
	CheckEvery       time.Duration `mapstructure:"check_every" min:"10s" max:"1d" default:"5m"`
}

// Enabled reports whether a directory is asked.
func (l LDAP) Enabled() bool { return l.URL != "" }

// Sessions says how long people stay signed in.
type Sessions struct {
	IdleTimeout time.Duration `mapstructure:"idle_timeout" min:"5m" max:"90d" default:"12h"`
	MaxAge      time.Duration `mapstructure:"max_age" min:"5m" max:"365d" default:"30d"`
}
