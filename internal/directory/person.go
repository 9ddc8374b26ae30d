package directory

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-ldap/ldap/v3"
)

// A Person is an entry of the directory.
type Person struct {
	ID     string   // the value of IDAttribute; in hexadecimal if it is objectGUID
	Email  string   // as the directory has it
	Admin  bool     // in one of AdminGroups
	Groups []string // of OtherGroups
}

// A PersonError says that the directory answers, and why its answer says nothing of one person.
type PersonError struct{ Why string }

func (e *PersonError) Error() string { return e.Why }

func (d *Directory) person(c *ldap.Conn, e *ldap.Entry) (Person, error) {
	id, err := d.id(e)
	if err != nil {
		return Person{}, err
	}
	p := Person{ID: id, Email: e.GetAttributeValue(d.opt.EmailAttribute)} // the store folds it
	others := d.others()
	if len(d.opt.AllowedGroups)+len(d.opt.AdminGroups)+len(others) == 0 {
		return p, nil
	}
	groups, err := d.groups(c, e.DN)
	if err != nil {
		return Person{}, err
	}
	p.Admin = meets(groups, d.opt.AdminGroups)
	for _, dn := range others {
		if groups[normal(dn)] {
			p.Groups = append(p.Groups, dn)
		}
	}
	if len(d.opt.AllowedGroups) > 0 && !p.Admin && !meets(groups, d.opt.AllowedGroups) {
		return p, ErrNotAllowed
	}
	return p, nil
}

func (d *Directory) id(e *ldap.Entry) (string, error) {
	raw := e.GetRawAttributeValue(d.opt.IDAttribute)
	id := string(raw)
	if d.binaryID() {
		id = hex.EncodeToString(raw)
	}
	if id == "" || !utf8.ValidString(id) {
		return "", &PersonError{"the entry has no " + d.opt.IDAttribute}
	}
	return id, nil
}

// others returns those of OtherGroups that are DNs.
func (d *Directory) others() []string {
	if d.opt.OtherGroups == nil {
		return nil
	}
	return slices.DeleteFunc(d.opt.OtherGroups(), func(name string) bool {
		_, err := ldap.ParseDN(name)
		return err != nil
	})
}

func (d *Directory) groups(c *ldap.Conn, dn string) (map[string]bool, error) {
	known, next := make(map[string]bool), []string{dn}
	for range maxDepth {
		if len(next) == 0 {
			break
		}
		var found []string
		for _, member := range next {
			entries, err := d.search(c, d.opt.GroupBase, ldap.ScopeWholeSubtree, anyOf(d.opt.MemberAttributes, member), maxGroups, "1.1")
			if err != nil && !ldap.IsErrorWithCode(err, ldap.LDAPResultSizeLimitExceeded) {
				return nil, fmt.Errorf("the groups: %w", err)
			}
			for _, e := range entries {
				if name := normal(e.DN); !known[name] {
					known[name] = true
					found = append(found, e.DN)
				}
			}
			if err != nil || len(known) > maxGroups {
				return nil, &PersonError{fmt.Sprintf("the person is in more than %d groups, or in more than the directory returns at once", maxGroups)}
			}
		}
		next = found
	}
	return known, nil
}

func meets(groups map[string]bool, wanted []string) bool {
	for _, dn := range wanted {
		if groups[normal(dn)] {
			return true
		}
	}
	return false
}

// normal is the one form of a DN by which DNs are compared.
func normal(dn string) string {
	parsed, err := ldap.ParseDN(dn)
	if err != nil {
		return dn
	}
	return strings.ToLower(parsed.String())
}
