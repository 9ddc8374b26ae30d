package doctor

import (
	"context"
	"time"
)

func checkServer(_ context.Context, s *Subject) []Finding {
	switch {
	case s.FactsAre != nil && s.Running:
		return one(problem("see the server's log, then restart it", "a server runs, and does not tell how it is: %v", s.FactsAre))
	case s.FactsAre != nil:
		return one(problem(s.Hint(s.FactsAre), "the store does not open: %v", s.FactsAre))
	case s.Facts == nil:
		return one(skipped("there is nothing yet"))
	case !s.Running:
		return one(warning("start it: pushbox serve", "no server is running on %s; the store opens", s.Config.DataDir))
	case s.Facts.Version != s.Version:
		return one(warning("restart the server, so that it is of the version that is installed", "the server that runs is version %s, this program is %s", s.Facts.Version, s.Version))
	}
	return one(fine("version %s is running", s.Facts.Version))
}

// How far times may be from each other.
const (
	smallLag = time.Minute      // of the clock behind what the database has seen
	largeLag = time.Hour        // beyond which limits are wrong by what people notice
	sweepLag = 10 * time.Minute // since the last sweep, which comes each minute
)

func checkClock(_ context.Context, s *Subject) []Finding {
	if s.Facts == nil {
		return one(skipped("the store does not open to compare it with"))
	}
	const cure = "set the clock right, and run a time service such as systemd-timesyncd or chrony"
	behind := s.Facts.Latest.Sub(s.Facts.Clock)
	switch {
	case s.Facts.Doubt:
		return one(problem(cure, "the clock has jumped by more than a day, and is not believed until it has agreed with itself for ten minutes; nothing is created meanwhile"))
	case s.Facts.Away:
		return one(warning("if the clock is right, nothing; else set it right before the server has run for ten minutes", "by the clock, the database was not in use for more than a day; what has expired since is refused, and destroyed once a server has run for ten minutes"))
	case behind > largeLag:
		return one(problem(cure, "the clock is %v behind what the database has seen; until it gets there, time stands nearly still for pushes", behind.Round(time.Second)))
	case behind > smallLag:
		return one(warning(cure, "the clock is %v behind what the database has seen", behind.Round(time.Second)))
	}
	return one(fine("it says %s, which agrees with the database", s.Facts.Clock.Format(time.RFC3339)))
}

func checkSweeper(_ context.Context, s *Subject) []Finding {
	if !s.Running || s.Facts == nil {
		return one(skipped("no server is running"))
	}
	const cure = "see the server's log for \"a sweep failed\""
	if s.Facts.Swept.IsZero() {
		return one(warning(cure, "no sweep has succeeded yet since the server was started"))
	}
	if since := s.Facts.Clock.Sub(s.Facts.Swept); since > sweepLag {
		return one(problem(cure, "the last sweep that succeeded was %v ago; what has expired stays on the disk", since.Round(time.Second)))
	}
	return one(fine("what has expired was last removed at %s", s.Facts.Swept.Format(time.RFC3339)))
}

func checkCores(_ context.Context, s *Subject) []Finding {
	switch {
	case !s.Running || s.Facts == nil:
		return one(skipped("no server is running; one that starts keeps its memory out of them"))
	case s.Facts.Dumpable != "":
		return one(problem("let the service set its limits, or set LimitCORE=0", "a crash may leave secrets in one: %s", s.Facts.Dumpable))
	}
	return one(fine("the server keeps its memory out of them"))
}
