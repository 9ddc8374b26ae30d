package config

import (
	"strings"
	"time"

	"pushbox/internal/secret"
)

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
	Filter string `mapstructure:"filter"`

	// What people may type to sign in: the value of one of these attributes. For Active
	// Directory: sAMAccountName, userPrincipalName and mail.
	LoginAttributes []string `mapstructure:"login_attributes" form:"names"`

	// The attribute that names a person for good. For Active Directory: objectGUID.
	IDAttribute string `mapstructure:"id_attribute"`

	// The attribute with the e-mail address. New accounts have it as theirs.
	EmailAttribute string `mapstructure:"email_attribute"`

	// Where groups are. Empty: ldap.base.
	GroupBase string `mapstructure:"group_base"`

	// Attributes of groups that have the distinguished names of their members.
	MemberAttributes []string `mapstructure:"member_attributes" form:"names"`

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
	CreateAccounts bool `mapstructure:"create_accounts"`

	// How often the directory is asked for all people who signed in by it. The account of a
	// person who is gone, or in no group that may sign in, is disabled if that is so again
	// a quarter of an hour later.
	CheckEvery time.Duration `mapstructure:"check_every" min:"10s" max:"1d"`
}

func defaultLDAP() LDAP {
	return LDAP{
		Filter: "(objectClass=person)", LoginAttributes: []string{"uid", "mail"}, IDAttribute: "entryUUID", EmailAttribute: "mail",
		MemberAttributes: []string{"member", "uniqueMember"}, AllowedGroups: []string{}, AdminGroups: []string{}, CreateAccounts: true, CheckEvery: 5 * time.Minute,
	}
}

// Enabled reports whether a directory is asked.
func (l LDAP) Enabled() bool { return l.URL != "" }

// checkLDAP notes problems of the settings, if a directory is asked.
func (l *loader) checkLDAP(d LDAP) {
	if !d.Enabled() {
		return
	}
	note := func(wrong bool, key, text string, others ...string) {
		if wrong {
			l.relation("ldap."+key, text, others...)
		}
	}
	note(!strings.HasPrefix(d.URL, "ldap://") && !strings.HasPrefix(d.URL, "ldaps://"), "url", "must begin with ldaps:// or ldap://")
	note(d.Base == "", "base", "must be set together with", "ldap.url")
	note(len(d.LoginAttributes) == 0, "login_attributes", "must not be empty: it says what people type, for", "ldap.url")
	note(d.BindDN != "" && d.BindPasswordFile == "" && d.BindPassword.IsZero(), "bind_password_file", "must be set together with", "ldap.bind_dn")
	note(d.BindDN == "" && d.BindPasswordFile != "", "bind_dn", "must be set together with", "ldap.bind_password_file")
	note(d.BindDN == "" && !d.BindPassword.IsZero(), "bind_dn", "must be set together with", "ldap.bind_password")
}
