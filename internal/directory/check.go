package directory

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-ldap/ldap/v3"

	"pushbox/internal/hint"
)

// errUnfit says that the directory lacks an entry that the options name.
var errUnfit = errors.New("the settings do not fit the directory")

// Check asks the server for all that the options name: the base and the groups, and people
// with the attributes. An error may carry a hint.
func (d *Directory) Check(ctx context.Context) error {
	return d.ask(ctx, func(c *ldap.Conn) error {
		if err := d.checkPlaces(c); err != nil {
			return err
		}
		return d.checkPeople(c)
	})
}

// checkPlaces looks for each entry whose distinguished name is in the options.
func (d *Directory) checkPlaces(c *ldap.Conn) error {
	for _, option := range []struct {
		name string
		dns  []string
	}{{"base", []string{d.opt.Base}}, {"group_base", []string{d.opt.GroupBase}}, {"allowed_groups", d.opt.AllowedGroups}, {"admin_groups", d.opt.AdminGroups}} {
		for _, dn := range option.dns {
			found, err := d.search(c, dn, ldap.ScopeBaseObject, "(objectClass=*)", 1, "1.1")
			if len(found) > 0 {
				continue
			}
			if err != nil && !ldap.IsErrorWithCode(err, ldap.LDAPResultNoSuchObject) {
				return err
			}
			return hint.With(fmt.Errorf("%w: it has no visible entry %s", errUnfit, dn), "correct ldap.%s, or let the account that searches read that entry", option.name)
		}
	}
	return nil
}

func (d *Directory) checkPeople(c *ldap.Conn) error {
	for _, option := range []struct{ name, filter string }{
		{"filter", ""},
		{"login_attributes", anyHas(d.opt.LoginAttributes)},
		{"id_attribute", anyHas([]string{d.opt.IDAttribute})},
		{"email_attribute", anyHas([]string{d.opt.EmailAttribute})},
	} {
		filter := "(&" + d.opt.Filter + option.filter + ")"
		found, err := d.search(c, d.opt.Base, ldap.ScopeWholeSubtree, filter, 1, "1.1")
		if len(found) > 0 {
			continue
		}
		if err != nil {
			return err
		}
		return hint.With(fmt.Errorf("%w: it has no visible entry of %s that matches %s", errUnfit, d.opt.Base, filter), "correct ldap.%s, or ldap.base", option.name)
	}
	return nil
}

func anyHas(attributes []string) (filter string) {
	for _, name := range attributes {
		filter += "(" + name + "=*)"
	}
	return "(|" + filter + ")"
}
