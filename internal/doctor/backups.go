package doctor

import (
	"context"
	"time"

	"pushbox/internal/backup"
)

// lateBackup is how much later than backup.schedule says the next backup may be
// there: it is named after the moment when it was begun, and one that failed is tried
// again within minutes.
const lateBackup = time.Hour

// checkBackups compares the age of the newest backup with how often one is to be made.
func checkBackups(_ context.Context, s *Subject) []Finding {
	if s.Config.Backup.Schedule == 0 {
		return one(skipped("the server makes none by itself; backup.schedule has it do so"))
	}
	all, err := backup.List(s.Config.BackupDir())
	if err != nil {
		return one(problem("run doctor as the user that the server runs as", "%v", err))
	}
	return one(s.judgeBackups(all))
}

// judgeBackups judges the newest. Those that are of a later time than now were made by
// a wrong clock.
func (s *Subject) judgeBackups(all []backup.File) Finding {
	cure := `see the server's log for "a backup failed"`
	if !s.Running {
		cure = "start the server: pushbox serve"
	}
	dir, now := s.Config.BackupDir(), s.Clock()
	for len(all) > 0 && all[len(all)-1].At.After(now) {
		all = all[:len(all)-1]
	}
	if len(all) == 0 {
		return warning(cure, "there is none in %s", dir)
	}
	at := all[len(all)-1].At
	age := now.Sub(at)
	if age > s.Config.Backup.Schedule+lateBackup {
		return problem(cure, "the newest in %s is of %s, %v ago, and one is due every %v", dir, at.Format(time.RFC3339), inWords(age), s.Config.Backup.Schedule)
	}
	return fine("the newest of %d in %s is of %s", len(all), dir, at.Format(time.RFC3339))
}
