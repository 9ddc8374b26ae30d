package doctor

import (
	"context"
	"errors"
	"testing"

	"pushbox/internal/hint"
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
	s.Config.LDAP.URL = "ldaps://dc.example.com"
	s.People = func(context.Context) error { return nil }
	wants(t, "a good one", of(t, s, "directory"), OK, "ldaps://dc.example.com can be reached, and shows the people and groups")
	s.People = func(context.Context) error { return errors.New("it is asleep") }
	wants(t, "a bad one", of(t, s, "directory"), Problem, "ldaps://dc.example.com: it is asleep")
	s.People = func(context.Context) error { return hint.With(errors.New("it is asleep"), "wake it") }
	if f := of(t, s, "directory"); f.Cure != "wake it (docs/sign-in.md)" {
		t.Errorf("the finding is %+v", f)
	}
}
