package config

import (
	"cmp"
	"errors"
	"time"

	"pushbox/internal/secret"
)

// SignIn says how people sign in, beside passwords.
type SignIn struct {
	// Whether people sign in with passwords of pushbox, sign up, and ask for links that set a
	// password. If false, they need oidc, proxy or ldap.
	Passwords bool `mapstructure:"passwords" default:"true"`

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
	Scopes []string `mapstructure:"scopes" form:"words" default:"profile,email"`

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
	GroupsClaim string `mapstructure:"groups_claim" default:"groups"`

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

// Shown is what pages call the provider.
func (o OIDC) Shown() string { return cmp.Or(o.Title, o.Name) }

// providerList is the form of sign_in.oidc.
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
	// Address of the directory: ldaps://dc.example.com, or ldap://dc.example.com, which
	// begins with StartTLS. Empty: no directory is asked.
	URL string `mapstructure:"url"`

	// File with certificates (PEM) of the authorities that may sign the directory's
	// certificate. Empty: those that the system trusts.
	CAFile string `mapstructure:"ca_file"`

	// Distinguished name of the account that searches. Empty: an anonymous one.
	BindDN string `mapstructure:"bind_dn"`

	// File with the password of ldap.bind_dn.
	BindPasswordFile string `mapstructure:"bind_password_file"`

	// The password itself, for platforms that pass secrets in the environment. A file is
	// safer. Do not set this together with ldap.bind_password_file.
	BindPassword secret.Text `mapstructure:"bind_password"`

	// Where people are, such as ou=people,dc=example,dc=com.
	Base string `mapstructure:"base"`

	// Which entries belong to people who may sign in. For Active Directory, without disabled
	// accounts:
	// (&(objectCategory=person)(objectClass=user)(!(userAccountControl:1.2.840.113556.1.4.803:=2)))
	Filter string `mapstructure:"filter" default:"(objectClass=person)"`

	// What people may type to sign in: the value of one of these attributes. For Active
	// Directory: sAMAccountName, userPrincipalName and mail.
	LoginAttributes []string `mapstructure:"login_attributes" form:"names" default:"uid,mail"`

	// The attribute that names a person for good. For Active Directory: objectGUID.
	IDAttribute string `mapstructure:"id_attribute" default:"entryUUID"`

	// The attribute with the e-mail address. New accounts have it as theirs.
	EmailAttribute string `mapstructure:"email_attribute" default:"mail"`

	// Where groups are. Empty: ldap.base.
	GroupBase string `mapstructure:"group_base"`

	// Attributes of groups that have the distinguished names of their members.
	MemberAttributes []string `mapstructure:"member_attributes" form:"names" default:"member,uniqueMember"`

	// Distinguished names of groups whose members may sign in, also those of groups
	// within them. In the environment write a list in JSON, since these names have commas.
	// Empty: all people may.
	AllowedGroups []string `mapstructure:"allowed_groups" form:"names"`

	// Distinguished names of groups whose members are administrators. Empty: the directory
	// does not decide who is.
	AdminGroups []string `mapstructure:"admin_groups" form:"names"`

	// Whether a person whose e-mail address has an account already gets that account, if its
	// address is confirmed.
	LinkByEmail bool `mapstructure:"link_by_email"`

	// Whether a person without an account gets one at the first sign-in.
	CreateAccounts bool `mapstructure:"create_accounts" default:"true"`

	// How often the directory is asked for all people who signed in by it. The account of a
	// person who is gone, or in no group that may sign in, is disabled if that is so again
	// a quarter of an hour later.
	CheckEvery time.Duration `mapstructure:"check_every" min:"10s" max:"1d" default:"5m"`
}

// Enabled reports whether a directory is asked.
func (l LDAP) Enabled() bool { return l.URL != "" }
