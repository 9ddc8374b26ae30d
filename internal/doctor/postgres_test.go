package doctor

import (
	"errors"
	"slices"
	"testing"
	"time"

	"pushbox/store/postgres"
)

// overPostgres returns an installation without problems whose database is PostgreSQL.
func overPostgres(t *testing.T) *Subject {
	t.Helper()
	s := healthy(t)
	s.Database = ""
	s.Postgres = &postgres.Inspection{
		Durability: postgres.Durability{Version: 170002, FSync: true, Commit: "on", Named: true, Standbys: 1, Synchronous: 1, StandbysKnown: true},
		FullPages:  true, Way: postgres.WayVerified, User: "pushbox", Size: 1 << 20, Schema: 1, Knows: 1,
	}
	return s
}

// Of an installation over PostgreSQL the disk of the data directory is not examined.
func TestNothingIsWrongWithAHealthyInstallationOverPostgres(t *testing.T) {
	t.Parallel()
	s := overPostgres(t)
	all := Run(t.Context(), s)
	if Count(all, Problem) != 0 {
		t.Errorf("%+v", all)
	}
	want := checksOf(inPostgres)
	for _, f := range all {
		i := slices.Index(want, f.Check)
		if i < 0 {
			t.Errorf("%s is examined", f.Check)
			continue
		}
		want = slices.Delete(want, i, i+1)
	}
	if len(want) > 0 {
		t.Errorf("%v are not examined", want)
	}
}

func TestEachThingThatIsWrongWithPostgresIsFound(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		harm        func(s *Subject, i *postgres.Inspection)
		check, text string
		grade       Grade
	}{
		"no answer":              {func(s *Subject, _ *postgres.Inspection) { s.Postgres, s.PostgresIs = nil, errors.New("it is gone") }, "database server", "it is gone", Problem},
		"nothing to judge":       {func(s *Subject, _ *postgres.Inspection) { s.Postgres, s.PostgresIs = nil, errors.New("it is gone") }, "durability", "was not reached", Skipped},
		"an old release":         {func(_ *Subject, i *postgres.Inspection) { i.Version = 140011 }, "database server", "it is PostgreSQL 14.11", Warning},
		"no tables":              {func(_ *Subject, i *postgres.Inspection) { i.Schema = 0 }, "database server", "has no tables of pushbox yet", Warning},
		"a later schema":         {func(_ *Subject, i *postgres.Inspection) { i.Schema, i.Oldest = 2, 2 }, "database server", "has schema 2, and this program knows 1", Problem},
		"a later schema, usable": {func(_ *Subject, i *postgres.Inspection) { i.Schema, i.Oldest = 2, 1 }, "database server", "this program knows 1, which may still use it", Warning},
		"an earlier schema":      {func(_ *Subject, i *postgres.Inspection) { i.Knows = 2 }, "database server", "upgrades schema 1 to 2", Warning},
		"a move":                 {func(_ *Subject, i *postgres.Inspection) { i.Moved = true }, "database server", "servers refuse to use it", Problem},
		"a release":              {func(*Subject, *postgres.Inspection) {}, "database server", "it is PostgreSQL 17.2", OK},
		"no fsync":               {func(_ *Subject, i *postgres.Inspection) { i.FSync = false }, "durability", "unknown: fsync is off", Problem},
		"no synchronous commit":  {func(_ *Subject, i *postgres.Inspection) { i.Commit = "off" }, "durability", "unknown: synchronous_commit is off", Problem},
		"a standby that is gone": {func(_ *Subject, i *postgres.Inspection) { i.Standbys, i.Synchronous = 0, 0 }, "durability", "no standby that writes wait for is connected", Problem},
		"another standby":        {func(_ *Subject, i *postgres.Inspection) { i.Synchronous = 0 }, "durability", "no standby that writes wait for is connected", Problem},
		"a standby that the role may not see": {func(_ *Subject, i *postgres.Inspection) {
			i.Synchronous, i.StandbysKnown = 0, false
		}, "durability", "replicated: each write waits for a standby", OK},
		"a standby in memory":     {func(_ *Subject, i *postgres.Inspection) { i.Commit = "remote_write" }, "durability", "may lack the last writes", Warning},
		"an asynchronous standby": {func(_ *Subject, i *postgres.Inspection) { i.Named = false }, "durability", "single: no write waits for the 1 standby", Warning},
		"no standby": {func(_ *Subject, i *postgres.Inspection) {
			i.Named, i.Standbys = false, 0
		}, "durability", "single: each write is on the disk of one server", OK},
		"a clock":             {func(_ *Subject, i *postgres.Inspection) { i.Ahead = -2 * time.Second }, "clock of the database", "it is 2s from that of this machine", Warning},
		"a clock far away":    {func(_ *Subject, i *postgres.Inspection) { i.Ahead = 6 * time.Second }, "clock of the database", "with more than 5s no server starts", Problem},
		"no TLS":              {func(_ *Subject, i *postgres.Inspection) { i.Way = postgres.WayOpen }, "way to the database", "it has no TLS", Problem},
		"TLS with anyone":     {func(_ *Subject, i *postgres.Inspection) { i.Way = postgres.WayUnverified }, "way to the database", "no certificate is verified", Warning},
		"TLS without a name":  {func(_ *Subject, i *postgres.Inspection) { i.Way = postgres.WayUnnamed }, "way to the database", "the name in the certificate is not verified", Warning},
		"a socket":            {func(_ *Subject, i *postgres.Inspection) { i.Way = postgres.WayLocal }, "way to the database", "does not leave this machine", OK},
		"a superuser":         {func(_ *Subject, i *postgres.Inspection) { i.Superuser = true }, "role in the database", "pushbox is a superuser", Warning},
		"a limit":             {func(s *Subject, _ *postgres.Inspection) { s.Config.MaxStoreSize = 1 << 30 }, "room of the database", "holds 1 MiB of the 1 GiB", OK},
		"a limit that is met": {func(s *Subject, _ *postgres.Inspection) { s.Config.MaxStoreSize = 1 << 20 }, "room of the database", "nothing is created", Problem},
		"no limit":            {func(s *Subject, _ *postgres.Inspection) { s.Config.MaxStoreSize = 0 }, "room of the database", "does not report what its disk has free", OK},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := overPostgres(t)
			test.harm(s, s.Postgres)
			wants(t, name, of(t, s, test.check), test.grade, test.text)
		})
	}
	s := overPostgres(t)
	s.Postgres.FullPages = false
	if all := allOf(t, s, "durability"); len(all) != 2 {
		t.Errorf("half pages: %+v", all)
	} else {
		wants(t, "half pages", all[1], Warning, "full_page_writes is off")
	}
}
