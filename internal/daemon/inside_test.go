package daemon

import (
	"slices"
	"testing"

	"github.com/rs/zerolog"

	"pushbox/config"
	"pushbox/internal/admin"
	"pushbox/internal/testkit/env"
	"pushbox/server"
)

// A server tells its administrators what doctor finds, but for checks that ask others.
func TestAServerExaminesItself(t *testing.T) {
	t.Parallel()
	cfg := settingsFor(env.ShortDir(t))
	cfg.Backup.Schedule = 0
	d, err := open(t.Context(), optionsFor(cfg))
	env.OK(t, err)
	defer func() {
		if err := d.abandon(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	grades := make(map[string]string)
	for _, f := range d.findings(soon(t), "") {
		if grades[f.Check] = f.Grade; f.Text == "" || (f.Grade == "problem" || f.Grade == "warning") != (f.Cure != "") {
			t.Errorf("it says %+v", f)
		}
	}
	for check, want := range map[string]string{"server": "ok", "database": "ok", "clock": "ok", "backups": "warning", "messages": "ok", "mail": "", "proxy": "", "time of the network": ""} {
		if grades[check] != want {
			t.Errorf("%s is %q, not %q", check, grades[check], want)
		}
	}
	if grades["free space"] == "" || grades["control socket"] == "problem" {
		t.Errorf("the grades are %v", grades)
	}
}

// After a reload administrators see the new values, and of settings that wait for a restart
// those that are in force.
func TestAdministratorsSeeTheSettingsInForce(t *testing.T) {
	t.Parallel()
	file := env.ShortDir(t) + "/pushbox.yaml"
	l := &living{t: t, dir: t.TempDir(), file: file}
	l.write("purge_after: 24h\nmax_store_size: 1GiB\n")
	src := config.Source{File: file}
	loaded, err := config.Load(src)
	env.OK(t, err)
	o := optionsFor(loaded.Config)
	o.Source, o.Values = src, loaded.Values
	d := &daemon{reloads: newReloader(o, zerolog.Nop())}
	var told server.Options
	d.inside(o)(&told)
	value := func(key string) config.Value {
		all := told.Monitoring.Settings()
		return all[slices.IndexFunc(all, func(v config.Value) bool { return v.Key == key })]
	}
	before := value("listen_mode")
	l.write("purge_after: 48h\nlisten_mode: 0600\n")
	if _, err := d.reloads.reload(t.Context(), admin.None{}); err != nil {
		t.Fatal(err)
	}
	if got := value("purge_after"); got.Value != "2d" || got.Origin == config.OriginDefault {
		t.Errorf("purge_after is %+v", got)
	}
	if got := value("listen_mode"); got != before {
		t.Errorf("listen_mode is %+v, not %+v", got, before)
	}
}
