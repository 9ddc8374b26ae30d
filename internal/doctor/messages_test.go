package doctor

import (
	"strings"
	"testing"
	"time"

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
