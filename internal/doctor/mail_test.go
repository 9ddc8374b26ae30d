package doctor

import (
	"context"
	"errors"
	"testing"
)

func TestAMailServerIsToLetPushboxIn(t *testing.T) {
	t.Parallel()
	s := healthy(t)
	wants(t, "no mail", of(t, s, "mail"), Skipped, "mail.host")
	s.Config.Mail.Host = "mail.example.com"
	s.Mail = func(context.Context) error { return nil }
	wants(t, "a good one", of(t, s, "mail"), OK, "mail.example.com can be reached")
	s.Mail = func(context.Context) error { return errors.New("it is asleep") }
	wants(t, "a bad one", of(t, s, "mail"), Problem, "mail.example.com: it is asleep")
}

func TestADirectoryIsToAnswer(t *testing.T) {
	t.Parallel()
	s := healthy(t)
	wants(t, "no directory", of(t, s, "directory"), Skipped, "ldap.url")
	s.Config.LDAP.URL, s.Config.LDAP.Base = "ldaps://dc.example.com", "dc=example,dc=com"
	s.People = func(context.Context) error { return nil }
	wants(t, "a good one", of(t, s, "directory"), OK, "ldaps://dc.example.com can be reached, and shows dc=example,dc=com")
	s.People = func(context.Context) error { return errors.New("it is asleep") }
	wants(t, "a bad one", of(t, s, "directory"), Problem, "ldaps://dc.example.com: it is asleep")
}
