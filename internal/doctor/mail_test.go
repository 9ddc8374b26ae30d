package doctor

import (
	"context"
	"errors"
	"slices"
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

func TestPeopleOfWhomTheDirectoryIsNotSureAreNamed(t *testing.T) {
	t.Parallel()
	const name = "people of the directory"
	s := healthy(t)
	wants(t, "no directory", of(t, s, name), Skipped, "off")
	s.Config.LDAP.URL = "ldaps://dc.example.com"
	wants(t, "all are sure", of(t, s, name), OK, "asks every 5m")
	s.Facts.Unsure = []string{"ann@example.com: several entries have the entryUUID; the account stays as it is"}
	wants(t, "one is not", of(t, s, name), Warning, "ann@example.com: several entries")
	s.Facts.Unsure = slices.Repeat(s.Facts.Unsure, 7)
	if all := checkPeople(t.Context(), s); len(all) != mostUnsure+1 || all[mostUnsure].Text != "2 more like these" {
		t.Errorf("of seven it tells %+v", all)
	}
	s.Running = false
	wants(t, "no server", of(t, s, name), Skipped, "running server")
}
