package doctor

import (
	"context"
	"time"

	"pushbox/internal/humanize"
	"pushbox/store/postgres"
)

const leastPostgres = 150000 // the oldest release that pushbox is tested with

// examined returns the findings about the database, or one that it could not be examined.
func (s *Subject) examined(look func(i postgres.Inspection) Finding) []Finding {
	if s.Postgres == nil {
		return one(skipped("the database was not reached"))
	}
	return one(look(*s.Postgres))
}

func checkPostgres(_ context.Context, s *Subject) []Finding {
	if s.PostgresIs != nil {
		return one(problem("make sure that it runs and takes connections from here, and that database_url names its primary; psql takes the same address",
			"it does not answer: %v", s.PostgresIs))
	}
	return s.examined(judgePostgres)
}

func judgePostgres(i postgres.Inspection) Finding {
	switch {
	case i.Version < leastPostgres:
		return warning("upgrade it to PostgreSQL 15 or later", "it is %s, and pushbox is not tested with that version", i.Release())
	case i.Moved:
		return problem("remove database_url if that file is the one here; else run `pushbox move --back` again, or `pushbox move --back --undo`",
			"the records of the database were moved into a file, or such a move was interrupted: servers refuse to use it")
	case i.Oldest > i.Knows:
		return problem("install the version of pushbox that the other servers have", "the database has schema %d, and this program knows %d", i.Schema, i.Knows)
	case i.Schema > i.Knows:
		return warning("install the version of pushbox that the other servers have", "the database has schema %d, newer than %d, the schema of this program, but compatible with it", i.Schema, i.Knows)
	case i.Schema == 0:
		return warning("run `pushbox serve` once to create them, or run `pushbox move`", "it is %s, and the database has no tables of pushbox yet", i.Release())
	case i.Schema < i.Knows:
		return warning("start `pushbox serve`", "it is %s; the next start upgrades schema %d to %d", i.Release(), i.Schema, i.Knows)
	}
	return fine("it is %s, and the database has schema %d", i.Release(), i.Schema)
}

func checkDurability(_ context.Context, s *Subject) []Finding {
	if s.Postgres == nil {
		return s.examined(nil)
	}
	all := one(judgeDurability(*s.Postgres))
	if !s.Postgres.FullPages {
		all = append(all, warning("set full_page_writes = on, unless the file system writes whole pages or none, as ZFS does", "full_page_writes is off: a crash may leave half a page, and so damage the database"))
	}
	return all
}

func judgeDurability(i postgres.Inspection) Finding {
	level := i.Level()
	switch {
	case !i.FSync:
		return problem("set fsync = on", "%s: fsync is off: a crash of its machine may lose or damage everything", level)
	case level == postgres.Unknown:
		return problem("set synchronous_commit = on", "%s: synchronous_commit is off: a crash may lose what was acknowledged", level)
	case i.Waits():
		return problem("start the standby, or take its name out of synchronous_standby_names", "%s: no standby that writes wait for is connected, so nothing is created or viewed", level)
	case level == postgres.Replicated && i.Commit == "remote_write":
		return warning("set synchronous_commit = on", "%s: but synchronous_commit is remote_write: a standby that crashes with the primary may lack the last writes", level)
	case level == postgres.Replicated:
		return fine("%s: each write waits for a standby (synchronous_commit %s)", level, i.Commit)
	case i.Standbys > 0:
		return warning("name the standby in synchronous_standby_names, and set synchronous_commit = on (docs/scaling.md)",
			"%s: no write waits for the %s: after a failover the last acknowledged pushes may be missing, and a push may be viewed once more", level, humanize.Count(i.Standbys, "standby", "standbys"))
	}
	return fine("%s: each write is on the disk of one server; there is no standby", level)
}

func checkDatabaseClock(_ context.Context, s *Subject) []Finding {
	return s.examined(func(i postgres.Inspection) Finding { return judgeDatabaseClock(i.Ahead) })
}

const smallDifference = time.Second // between two clocks that NTP sets

func judgeDatabaseClock(ahead time.Duration) Finding {
	const cure = "set both clocks by NTP, such as with chrony"
	switch off := ahead.Abs().Round(100 * time.Millisecond); {
	case ahead.Abs() > postgres.MaxClockDifference:
		return problem(cure, "it differs from the clock of this machine by %v; above %v no server starts", off, postgres.MaxClockDifference)
	case ahead.Abs() > smallDifference:
		return warning(cure, "it differs from the clock of this machine by %v; above %v no server starts", off, postgres.MaxClockDifference)
	}
	return fine("it agrees with the clock of this machine")
}

func checkWay(_ context.Context, s *Subject) []Finding {
	return s.examined(func(i postgres.Inspection) Finding { return judgeWay(i.Way) })
}

func judgeWay(w postgres.Way) Finding {
	const cure = "put sslmode=verify-full into database_url, with sslrootcert if the authority is your own"
	switch w {
	case postgres.WayLocal:
		return fine("it does not leave this machine")
	case postgres.WayVerified:
		return fine("it has TLS, and the certificate of the server is verified")
	case postgres.WayUnnamed:
		return warning(cure, "it has TLS, but the name in the certificate is not verified: another server with a certificate of the same authority can impersonate the database")
	case postgres.WayUnverified:
		return warning(cure, "it has TLS, but no certificate is verified: a machine in between can impersonate the database")
	default:
		return problem(cure, "it has no TLS: an attacker on the network path can read and change the data")
	}
}

func checkRole(_ context.Context, s *Subject) []Finding {
	return s.examined(func(i postgres.Inspection) Finding {
		if i.Superuser {
			return warning("make a role for pushbox alone, which owns its database and nothing else (docs/scaling.md)", "%s is a superuser: an attacker who takes over pushbox takes over the whole database server", i.User)
		}
		return fine("%s is not a superuser", i.User)
	})
}

// checkRoom compares the size of the database with max_store_size. It cannot see the free space on
// PostgreSQL's disk.
func checkRoom(_ context.Context, s *Subject) []Finding {
	return s.examined(func(i postgres.Inspection) Finding {
		if most := int64(s.Config.MaxStoreSize); most > 0 {
			return fullness(i.Size, most)
		}
		return fine("the database holds %s; PostgreSQL does not report the free space of its disk: monitor that on its machine, or set max_store_size", humanize.Size(i.Size))
	})
}
