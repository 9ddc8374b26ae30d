package directory

import (
	"errors"
	"testing"

	"github.com/go-ldap/ldap/v3"

	"pushbox/internal/testkit/env"
)

func TestActiveDirectorySaysWhyItRefuses(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{
		"52e": "the password is wrong", "532": "the password has expired", "773": "the person must change the password first", "533": "the account in the directory is disabled",
	} {
		text := "80090308: LdapErr: DSID-0C0903A9, comment: AcceptSecurityContext error, data " + code + ", v1db1"
		env.Equal(t, code, whyRefused(ldap.NewError(ldap.LDAPResultInvalidCredentials, errors.New(text))), want)
	}
}
