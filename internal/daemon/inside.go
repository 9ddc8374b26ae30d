package daemon

import (
	"context"
	"time"

	"pushbox/config"
	"pushbox/internal/admin"
	"pushbox/internal/doctor"
	"pushbox/internal/hint"
	"pushbox/internal/instance"
	"pushbox/server"
)

// inside has the server tell administrators the settings in force, and what doctor finds.
func (d *daemon) inside(o Options) func(*server.Options) {
	return func(of *server.Options) {
		of.Monitoring.Settings = func() []config.Value {
			_, values := d.reloads.inForce()
			return values
		}
		of.Monitoring.Findings = func(ctx context.Context) ([]server.Finding, error) { return d.findings(ctx, o.Source.Path()), nil }
	}
}

// findings examines the installation, as `pushbox doctor` does without a URL.
func (d *daemon) findings(ctx context.Context, file string) (all []server.Finding) {
	cfg, _ := d.reloads.inForce()
	s := &doctor.Subject{
		File: file, Config: cfg, Socket: admin.SocketPath(cfg.DataDir), Version: d.version, Clock: time.Now, Hint: hint.Of,
		Running: true, Inside: true,
	}
	if instance.HasDatabaseURL(cfg) {
		s.Postgres, s.PostgresIs = instance.Inspect(ctx, cfg)
	} else {
		s.Database = instance.Database(cfg)
	}
	s.MovedFile = instance.MovedFile(cfg)
	if !cfg.Webhooks.URL.IsZero() {
		s.Hook = CheckInstanceHook(cfg.Webhooks)
	}
	facts, err := d.examine(ctx, admin.None{})
	if s.FactsAre = err; err == nil {
		s.Facts = &facts
	}
	for _, f := range doctor.Run(ctx, s) {
		all = append(all, server.Finding{Check: f.Check, Grade: string(f.Grade), Text: f.Text, Cure: f.Cure})
	}
	return all
}
