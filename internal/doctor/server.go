package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"time"

	"pushbox/internal/admin"

	"pushbox/internal/backup"
	"pushbox/internal/hint"
	"pushbox/internal/humanize"
	"pushbox/store"
)

func checkServer(_ context.Context, s *Subject) []Finding {
	switch {
	case s.FactsAre != nil && s.Running:
		return one(problem("see the server's log, then restart it", "a server runs but does not report its state: %v", s.FactsAre))
	case s.FactsAre != nil:
		return one(problem(s.Hint(s.FactsAre), "the store does not open: %v", s.FactsAre))
	case s.Upgrade != nil:
		return one(warning("start it: systemctl start pushbox, or pushbox serve", "no server is running on %s; the database waits for an upgrade", s.Config.DataDir))
	case s.Facts == nil:
		return one(skipped("there is no database yet"))
	case !s.Running:
		return one(warning("start it: systemctl start pushbox, or pushbox serve", "no server is running on %s; the store opens", s.Config.DataDir))
	case s.Facts.Version != s.Version:
		return one(warning("restart the server to run the installed version", "the running server has version %s, this program %s", s.Facts.Version, s.Version))
	}
	return one(fine("version %s is running", s.Facts.Version))
}

// Allowed differences between times.
const (
	smallLag = time.Minute            // of the clock behind the latest time in the database
	largeLag = time.Hour              // with more, users notice that pushes expire at the wrong time
	sweepLag = 10 * store.SweepPeriod // since the last sweep
)

func checkClock(_ context.Context, s *Subject) []Finding {
	if s.Facts == nil {
		return one(skipped("there is no open database to compare it with"))
	}
	const cure = "correct the clock, and run a time service such as systemd-timesyncd or chrony"
	behind := s.Facts.Latest.Sub(s.Facts.Clock)
	switch {
	case s.Facts.Doubt:
		return one(problem(cure, "the clock jumped by more than a day; the server waits ten minutes before it trusts the new time, and creates nothing meanwhile"))
	case s.Facts.Away:
		return one(warning("if the clock is wrong, correct it before the server has run for ten minutes", "by the clock, the database was unused for more than a day; pushes that expired since are refused, and are destroyed when a server has run for ten minutes"))
	case behind > largeLag:
		return one(problem(cure, "the clock is %v behind the latest time in the database; until it catches up, pushes hardly age", behind.Round(time.Second)))
	case behind > smallLag:
		return one(warning(cure, "the clock is %v behind the latest time in the database", behind.Round(time.Second)))
	}
	return one(fine("it says %s, which agrees with the database", s.Facts.Clock.Format(time.RFC3339)))
}

func checkSweeper(_ context.Context, s *Subject) []Finding {
	if !s.Running || s.Facts == nil {
		return one(skipped("no server is running"))
	}
	const cure = "see the server's log for \"a sweep failed\""
	if s.Facts.Swept.IsZero() {
		return one(warning(cure, "no sweep has succeeded since the server started"))
	}
	if since := s.Facts.Clock.Sub(s.Facts.Swept); since > sweepLag {
		return one(problem(cure, "the last successful sweep was %v ago; expired pushes stay on the disk", since.Round(time.Second)))
	}
	return one(fine("expired pushes were last removed at %s", s.Facts.Swept.Format(time.RFC3339)))
}

func checkCores(_ context.Context, s *Subject) []Finding {
	switch {
	case !s.Running || s.Facts == nil:
		return one(skipped("no server is running"))
	case s.Facts.DumpFault != "":
		return one(problem("set LimitCORE=0 in the service unit", "a crash may write secrets to one: %s", s.Facts.DumpFault))
	}
	return one(fine("the server's memory is kept out of core dumps"))
}

// wrongTime is how much the clock may differ from network time. A Date has whole seconds.
const wrongTime = 2 * time.Minute

// checkNetworkTime compares the clock with the Date in an answer of base_url. That is
// another clock only if a proxy on another machine answers.
func checkNetworkTime(ctx context.Context, s *Subject) []Finding {
	switch {
	case !s.Network:
		return one(skipped("not compared; use --network"))
	case s.Config.BaseURL == "":
		return one(skipped("base_url is not set"))
	}
	c, err := s.client()
	if err != nil {
		return one(skipped("%v", err))
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.Config.BaseURL+"/healthz", nil)
	if err != nil {
		return one(skipped("%v", err))
	}
	res, err := c.Do(req)
	if err != nil {
		return one(warning("check that this machine can reach base_url", "%v", err))
	}
	_ = res.Body.Close()
	there, err := http.ParseTime(res.Header.Get("Date"))
	if err != nil {
		return one(skipped("%s answers without a Date header", s.Config.BaseURL))
	}
	return one(judgeTime(s.Clock(), there))
}

func judgeTime(here, there time.Time) Finding {
	if off := here.Sub(there).Round(time.Second); off.Abs() > wrongTime {
		return problem("correct the clock, and run a time service such as systemd-timesyncd or chrony", "this machine's clock differs by %v from that of base_url", off)
	}
	return fine("the clock agrees with that of base_url")
}

// lateBackup is how much later than backup.schedule a backup may appear: its name has
// the time of its begin, and a failed one is tried again within minutes.
const lateBackup = time.Hour

func checkBackups(_ context.Context, s *Subject) []Finding {
	if s.Config.Backup.Schedule == 0 && s.inPostgres() {
		return one(skipped("the server makes none by itself; PostgreSQL's own tools make them (docs/scaling.md, Backups)"))
	}
	if s.Config.Backup.Schedule == 0 {
		return one(warning("set backup.schedule; if something else runs `pushbox backup`, there is nothing to do", "the server makes none by itself"))
	}
	all, err := backup.List(s.Config.BackupDir())
	if err != nil {
		return one(problem("run doctor as the server's user", "%v", err))
	}
	found := one(s.judgeBackups(all))
	if s.Facts != nil && s.Facts.AfterFault != "" {
		found = append(found, problem(`see the server's log for "backup.after failed", which has its output`, "backup.after failed after the last backup: %s", s.Facts.AfterFault))
	}
	return found
}

// judgeBackups judges the newest backup. A backup from the future was made under a wrong
// clock.
func (s *Subject) judgeBackups(all []backup.File) Finding {
	cure := `see the server's log for "a backup failed"`
	if !s.Running {
		cure = "start it: systemctl start pushbox, or pushbox serve"
	}
	if s.Facts != nil && s.Facts.BackupFault != "" {
		return problem(`correct what it names; the server tries again within minutes`, "the last scheduled backup failed: %s", s.Facts.BackupFault)
	}
	dir, now := s.Config.BackupDir(), s.Clock()
	for len(all) > 0 && all[len(all)-1].At.After(now) {
		all = all[:len(all)-1]
	}
	if _, err := os.Stat(dir); s.Config.Backup.Dir != "" && errors.Is(err, fs.ErrNotExist) {
		return warning("make it, and let the server's user write to it; under systemd, also name it in ReadWritePaths= of the service (docs/install.md)", "there is no directory %s", dir)
	}
	if len(all) == 0 {
		return warning(cure, "there is no backup in %s", dir)
	}
	at := all[len(all)-1].At
	age := now.Sub(at)
	if age > s.Config.Backup.Schedule+lateBackup {
		return problem(cure, "the newest backup in %s is from %s, %v ago; one is due every %v", dir, at.Format(time.RFC3339), humanize.Duration(age), s.Config.Backup.Schedule)
	}
	return fine("%s in %s, the newest from %s", humanize.Count(len(all), "backup", "backups"), dir, at.Format(time.RFC3339))
}

// checkHook reports whether the settings of the server's own webhook fit together.
func checkHook(_ context.Context, s *Subject) []Finding {
	switch {
	case s.Config.Webhooks.URL.IsZero():
		return one(skipped("off; to report the events of all pushes, set webhooks.url (docs/webhooks.md)"))
	case s.Hook != nil:
		return one(problem(s.Hint(s.Hook), "%v", s.Hook))
	}
	return one(fine("webhooks.url is allowed, and its secret can be read; nothing was sent"))
}

func checkMail(ctx context.Context, s *Subject) []Finding {
	if s.Mail == nil {
		return one(skipped("off; to send mail, set mail.host"))
	}
	if err := s.Mail(ctx); err != nil {
		return one(problem("see docs/mail.md; to try again, run: pushbox mail test ADDRESS", "%s: %v", s.Config.Mail.Host, err))
	}
	return one(fine("%s can be reached, and accepts the sign-in", s.Config.Mail.Host))
}

func checkDirectory(ctx context.Context, s *Subject) []Finding {
	if s.People == nil {
		return one(skipped("off; to let people of an LDAP directory sign in, set ldap.url"))
	}
	if err := s.People(ctx); err != nil {
		return one(problem(cmp.Or(hint.Of(err), "correct the setting")+" (docs/sign-in.md)", "%s: %v", s.Config.LDAP.URL, err))
	}
	return one(fine("%s can be reached, and has the users and groups that the settings name", s.Config.LDAP.URL))
}

// mostUnsure is how many doubts about users are reported in full.
const mostUnsure = 5

// checkPeople reports the doubts of the server's checks of the directory's users.
func checkPeople(_ context.Context, s *Subject) []Finding {
	switch {
	case !s.Config.LDAP.Enabled():
		return one(skipped("off, because the directory is off"))
	case s.Facts == nil || !s.Running:
		return one(skipped("only a running server checks them"))
	case len(s.Facts.Unsure) == 0:
		return one(fine("the last check got a clear answer about each user; it runs every %v", humanize.Duration(s.Config.LDAP.CheckEvery)))
	}
	var all []Finding
	for _, text := range s.Facts.Unsure[:min(mostUnsure, len(s.Facts.Unsure))] {
		all = append(all, warning("if that is not so, correct the entry in the directory, or ldap.base, ldap.filter, ldap.id_attribute and ldap.allowed_groups (docs/sign-in.md)", "%s", text))
	}
	if more := len(s.Facts.Unsure) - mostUnsure; more > 0 {
		all = append(all, warning("the server's log has each", "%d more like these", more))
	}
	return all
}

// checkMessages reports receivers that do not accept messages, and dropped messages.
func checkMessages(_ context.Context, s *Subject) (all []Finding) {
	if !s.Running || s.Facts == nil {
		return one(skipped("no server is running"))
	}
	for _, r := range s.Facts.Webhooks.Failing {
		if r.Webhook == 0 {
			all = append(all, failing("the webhook of the server (webhooks.url)", "check its receiver, webhooks.secret_file and webhooks.allow", r))
			continue
		}
		all = append(all, failing(fmt.Sprintf("webhook %d", r.Webhook), fmt.Sprintf("to see what it answers, run: pushbox webhook test %d", r.Webhook), r))
	}
	for _, r := range s.Facts.Mail.Failing {
		all = append(all, failing("the mail server", "to see what it answers, run: pushbox mail test ADDRESS", r))
	}
	for _, by := range []struct {
		name string
		of   admin.Deliveries
	}{{"messages to webhooks", s.Facts.Webhooks}, {"mails", s.Facts.Mail}} {
		if by.of.Dropped > 0 {
			all = append(all, warning("see the server's log, which has the reasons", "%d %s were dropped since the server started", by.of.Dropped, by.name))
		}
	}
	if len(all) > 0 {
		return all
	}
	waiting := s.Facts.Webhooks.Waiting + s.Facts.Mail.Waiting
	return one(fine("no receiver fails; %s", humanize.Count(waiting, "message waits", "messages wait")))
}

func failing(who, cure string, r admin.Receiver) Finding {
	return warning(cure, "%s accepts no messages (%s in a row)", who, humanize.Count(r.Tries, "failed try", "failed tries"))
}
