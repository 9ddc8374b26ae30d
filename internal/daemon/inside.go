package daemon

import (
	"context"
	"sync"
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
		of.Monitoring.Findings = remembered(keepFindings, func(ctx context.Context) []server.Finding { return d.findings(ctx, o.Source.Path()) })
	}
}

// keepFindings is how long administrators see the same findings: to look at the disk and the
// database is work.
const keepFindings = 10 * time.Second

// findings examines the installation, as `pushbox doctor` does without a URL.
func (d *daemon) findings(ctx context.Context, file string) (all []server.Finding) {
	cfg, _ := d.reloads.inForce()
	s := &doctor.Subject{
		File: file, Config: cfg, Socket: admin.SocketPath(cfg.DataDir), Version: d.version, Clock: time.Now, Hint: hint.Of,
		Running: true, Inside: true,
	}
	if instance.HasDatabaseURL(cfg) {
		s.Postgres, s.PostgresIs = instance.Inspect(ctx, cfg)
		s.MovedFile = instance.MovedFile(cfg)
	} else {
		s.Database = instance.Database(cfg)
	}
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

// remembered returns a function that returns what find returned last, for that long. Only one
// call of find runs at a time; one that was cut short is not kept.
func remembered[T any](long time.Duration, find func(context.Context) T) func(context.Context) (T, error) {
	var mu sync.Mutex
	var last T
	var until time.Time
	return func(ctx context.Context) (T, error) {
		mu.Lock()
		defer mu.Unlock()
		if err := ctx.Err(); err != nil {
			return last, err
		}
		if time.Now().Before(until) {
			return last, nil
		}
		found := find(ctx)
		if err := ctx.Err(); err != nil {
			return found, err
		}
		last, until = found, time.Now().Add(long)
		return last, nil
	}
}
