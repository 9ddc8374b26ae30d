package daemon

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"pushbox/config"
	"pushbox/internal/admin"
	"pushbox/internal/doctor"

	"github.com/rs/zerolog"

	"pushbox/internal/durable"
	"pushbox/internal/hint"
	"pushbox/internal/humanize"
	"pushbox/internal/instance"
	"pushbox/server"
	"pushbox/server/action"
	"pushbox/server/manage"
	"pushbox/server/web"
	"pushbox/store"
)

const maxLogo = 256 << 10

func readLogo(name string) (*web.Logo, error) {
	if name == "" {
		return nil, nil
	}
	content, err := durable.ReadBounded(name, maxLogo)
	if err != nil {
		return nil, hint.With(fmt.Errorf("brand.logo_file: %w", err), "name an image file of up to %s that the server's user can read", humanize.Size(maxLogo))
	}
	return &web.Logo{Name: filepath.Base(name), Content: content}, nil
}

// newHandler makes the handler of all requests, with options to which each change was
// applied. first is the path of the page that creates the first account, or empty if there
// are accounts.
func newHandler(ctx context.Context, opts Options, s *store.Store, log zerolog.Logger, changes ...func(*server.Options)) (h *server.Server, first string, err error) {
	logo, err := readLogo(opts.Config.Brand.LogoFile)
	if err != nil {
		return nil, "", err
	}
	if cfg := opts.Config; cfg.EnableAPIv1 && cfg.APIv1CORS && !cfg.SharesAPIv1() {
		log.Info().Msg("api_v1_cors has no effect, since create_networks is set")
	}
	o := server.Options{Config: opts.Config, Store: s, Log: log, Version: opts.Version, Logo: logo, Webhooks: accountWebhooks(opts.Config)}
	if o.Providers, err = instance.Providers(opts.Config, time.Now, s.PolicyGroups); err != nil {
		return nil, "", err
	}
	code, err := s.FirstCode(ctx)
	if err != nil {
		return nil, "", err
	}
	if !code.IsZero() {
		first = action.FirstPath + code.Reveal()
	}
	for _, change := range changes {
		change(&o)
	}
	h, err = server.New(o)
	return h, first, err
}

// inside lets the server show administrators the settings in force and the findings of doctor.
func (d *daemon) inside(o Options) func(*server.Options) {
	return func(of *server.Options) {
		of.Monitoring.Settings = func() []config.Value {
			_, values := d.reloads.inForce()
			return values
		}
		of.Monitoring.Findings = func(ctx context.Context) ([]manage.Finding, error) { return d.findings(ctx, o.Source.Path()), nil }
	}
}

// findings examines the installation, as `pushbox doctor` does without a URL.
func (d *daemon) findings(ctx context.Context, file string) (all []manage.Finding) {
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
		all = append(all, manage.Finding{Check: f.Check, Grade: string(f.Grade), Text: f.Text, Cure: f.Cure})
	}
	return all
}
