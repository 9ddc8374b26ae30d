package doctor

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"pushbox/internal/hint"

	"pushbox/internal/admin"
)

func TestReceiversThatFailAndMessagesThatWereDroppedAreFound(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		facts      func(f *admin.Facts)
		text, cure string
		grade      Grade
	}{
		"nothing waits": {func(*admin.Facts) {}, "no receiver fails; 0 messages wait", "", OK},
		"one waits":     {func(f *admin.Facts) { f.Mail.Waiting = 1 }, "no receiver fails; 1 message waits", "", OK},
		"a webhook": {
			func(f *admin.Facts) { f.Webhooks.Failing = []admin.Receiver{{Webhook: 3, Tries: 1}} },
			"webhook 3 takes no message (1 failed try in a row)", "pushbox webhook test 3", Warning,
		},
		"the server's webhook": {
			func(f *admin.Facts) { f.Webhooks.Failing = []admin.Receiver{{Tries: 7}} },
			"the webhook of the server (webhooks.url) takes no message (7 failed tries in a row)", "webhooks.secret_file", Warning,
		},
		"the mail server": {
			func(f *admin.Facts) { f.Mail.Failing = []admin.Receiver{{Tries: 2}} },
			"the mail server takes no message", "pushbox mail test ADDRESS", Warning,
		},
		"dropped messages": {func(f *admin.Facts) { f.Webhooks.Dropped = 5 }, "5 messages to webhooks were dropped", "log", Warning},
		"dropped mails":    {func(f *admin.Facts) { f.Mail.Dropped = 6 }, "6 mails were dropped", "log", Warning},
	} {
		s := healthy(t)
		c.facts(s.Facts)
		f := of(t, s, "messages")
		if f.Grade != c.grade || !strings.Contains(f.Text, c.text) || !strings.Contains(f.Cure, c.cure) {
			t.Errorf("%s: %+v", name, f)
		}
	}
	s := healthy(t)
	s.Running = false
	if f := of(t, s, "messages"); f.Grade != Skipped {
		t.Errorf("without a server: %+v", f)
	}
}

func TestABackupThatFailedIsAProblemAtOnce(t *testing.T) {
	t.Parallel()
	s := healthy(t)
	s.Config.Backup.Schedule = 24 * time.Hour
	s.Facts.BackupFault = "the disk is on fire"
	if f := of(t, s, "backups"); f.Grade != Problem || !strings.Contains(f.Text, "the disk is on fire") {
		t.Errorf("%+v", f)
	}
	s.Facts.BackupFault, s.Facts.AfterFault = "", "exit status 7"
	if all := Run(t.Context(), s); Count(all, Problem) != 1 {
		t.Errorf("of a command that failed there is %+v", all)
	}
}

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
