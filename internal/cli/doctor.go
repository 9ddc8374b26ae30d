package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pushbox/config"
	"pushbox/internal/admin"
	"pushbox/internal/daemon"
	"pushbox/internal/doctor"
	"pushbox/internal/hint"
	"pushbox/internal/humanize"
	"pushbox/internal/instance"
	"pushbox/internal/rights"
	"pushbox/server/display"
	"pushbox/store/bolt"
	"pushbox/store/record"
)

func (a *app) doctor() *cobra.Command {
	var address, caFile string
	var network, asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check the installation and say what to correct",
		Long: `Check the configuration, permissions and owners, the key, the clock, the disk and,
if one runs, the server. For each it says whether it is ok, or how to correct it.
Nothing is changed. Run it as the user that the server runs as, or as root.

With --url, the address at which clients reach the server, it also checks the
certificate there. It sends two requests to that address, and the server reports how
they arrived. So doctor finds what a proxy in between gets wrong, and how to correct
the proxy.

The exit code is 0 if there are no problems, even with warnings, and 3 if there
are any.`,
		Example: `  pushbox doctor
  pushbox doctor --config /etc/pushbox/config.yaml --url https://push.example.com
  pushbox doctor --json | jq '.findings[] | select(.grade == "problem")'`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := a.subject(cmd, address, caFile, network)
			if err != nil {
				return err
			}
			all := doctor.Run(cmd.Context(), s)
			if err := cmd.Context().Err(); err != nil {
				return err
			}
			if err := a.showFindings(all, asJSON); err != nil {
				return err
			}
			if n := doctor.Count(all, doctor.Problem); n > 0 {
				return hint.With(problemsError(n), "make the corrections above, then run: pushbox doctor")
			}
			return nil
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&address, "url", "", "check the path from `URL`, where clients reach the server")
	flags.StringVar(&caFile, "ca-file", "", "also trust the certificate authorities in `FILE` (PEM)")
	flags.BoolVar(&network, "network", false, "compare the clock with that of base_url")
	flags.BoolVar(&asJSON, "json", false, "write JSON")
	return cmd
}

// subject collects what doctor examines.
func (a *app) subject(cmd *cobra.Command, address, caFile string, network bool) (*doctor.Subject, error) {
	u, err := doctorURL(address)
	if err != nil {
		return nil, err
	}
	src := a.source(cmd)
	s := &doctor.Subject{
		File: src.Path(), Version: release, Clock: time.Now, Hint: func(err error) string { return nextStep(cmd, err) },
		URL: u, CAFile: caFile, Network: network,
	}
	loaded, err := config.Load(src)
	if err != nil {
		s.ConfigIs = err
		return s, nil
	}
	if err := rights.Take(loaded.Config.DataDir); err != nil {
		return nil, err
	}
	s.Config = loaded.Config
	if s.Socket = admin.SocketPath(s.Config.DataDir); !instance.HasDatabaseURL(s.Config) {
		s.Database = instance.Database(s.Config)
	}
	if s.Config.Mail.Enabled() {
		s.Mail = func(ctx context.Context) error {
			server, err := daemon.MailServer(s.Config)
			if err != nil {
				return err
			}
			return server.Check(ctx)
		}
	}
	if s.Config.LDAP.Enabled() {
		s.People = func(ctx context.Context) error {
			people, err := daemon.OpenDirectory(s.Config.LDAP, nil)
			if err != nil {
				return err
			}
			return people.Check(ctx)
		}
	}
	providers, err := instance.Providers(s.Config, time.Now, nil)
	s.ProvidersAre = err
	for i, p := range providers {
		name := s.Config.SignIn.OIDC[i].Name
		s.Providers = append(s.Providers, doctor.Provider{Name: name, Back: display.BackPath(name), Ask: p.Check})
	}
	if !s.Config.Webhooks.URL.IsZero() {
		s.Hook = daemon.CheckInstanceHook(s.Config.Webhooks)
	}
	if s.Database == "" {
		s.Postgres, s.PostgresIs = instance.Inspect(cmd.Context(), s.Config)
	}
	s.MovedFile = instance.MovedFile(s.Config)
	s.Gone = gone(s)
	a.askFacts(cmd.Context(), s)
	return s, nil
}

// gone returns why there is no database to examine: PostgreSQL does not answer, or the records
// are in another place than the settings say.
func gone(s *doctor.Subject) error {
	switch i := s.Postgres; {
	case s.Database == "" && i == nil && errors.Is(s.PostgresIs, record.ErrUnavailable):
		return s.PostgresIs
	case s.Database == "" && (i == nil || !i.Empty):
		return nil
	case s.Database != "":
		if _, err := os.Stat(s.Database); !errors.Is(err, fs.ErrNotExist) {
			return nil
		}
	}
	return instance.Elsewhere(s.Config)
}

// doctorURL reads the address where clients reach the server; nil if none is given.
func doctorURL(text string) (*url.URL, error) {
	if text == "" {
		return nil, nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, usagef("--url must be an address such as https://push.example.com")
	}
	if port := map[string]string{"http": ":80", "https": ":443"}[u.Scheme]; strings.HasSuffix(u.Host, port) {
		u.Host = strings.TrimSuffix(u.Host, port) // as clients send it
	}
	return u, nil
}

// askFacts asks the server for the facts, or if none runs, the store itself.
func (a *app) askFacts(ctx context.Context, s *doctor.Subject) {
	client, err := admin.NewClient(s.Socket)
	if err != nil {
		s.FactsAre = err
		return
	}
	var facts admin.Facts
	if s.Gone == nil {
		facts, err = admin.Examine.Call(ctx, client, admin.None{})
	} else { // a question that a server answers without its database
		_, err = admin.Failing.Call(ctx, client, admin.None{})
	}
	if s.Running = !errors.Is(err, admin.ErrNoServer); s.Running {
		s.Probe = func(ctx context.Context) (string, error) {
			p, err := admin.Probe.Call(ctx, client, admin.None{})
			return p.Path, err
		}
	}
	switch {
	case s.Gone != nil:
		return
	case s.Running:
	case s.Database == "":
		switch i := s.Postgres; {
		case i == nil:
			err = s.PostgresIs
		case i.Empty:
			return
		case i.Schema != i.Knows: // to open it would upgrade it
			err = record.ErrSchema
		default:
			facts, err = examineInPlace(ctx, s.Config)
		}
	default:
		if _, err := os.Stat(s.Database); errors.Is(err, fs.ErrNotExist) {
			return
		}
		if s.Upgrade, err = findUpgrade(s.Database); s.Upgrade != nil {
			return
		}
		if err == nil {
			facts, err = examineInPlace(ctx, s.Config)
		}
	}
	if s.FactsAre = err; err == nil {
		s.Facts = &facts
	}
}

// findUpgrade returns the upgrade that a database awaits. Opening it would make that. A
// database that cannot be read awaits none, and opening it says why it cannot.
func findUpgrade(path string) (*doctor.Upgrade, error) {
	u, err := bolt.FindUpgrade(path, lockWait)
	switch {
	case errors.Is(err, record.ErrInUse): // it may be free a moment later
		return nil, err
	case err != nil || u == nil:
		return nil, nil
	}
	return &doctor.Upgrade{From: u.From, To: u.To, Room: u.Room, Days: int(record.CopiesStay / (24 * time.Hour))}, nil
}

// examineInPlace examines a store that no server has open.
func examineInPlace(ctx context.Context, cfg config.Config) (f admin.Facts, err error) {
	s, _, err := instance.Open(ctx, instance.Options{Config: cfg, Wait: lockWait, Note: func(string) {}})
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, instance.Close(ctx, s)) }()
	return daemon.Examine(ctx, s, cfg, release)
}

// showFindings writes the findings to standard output.
func (a *app) showFindings(all []doctor.Finding, asJSON bool) error {
	problems, warnings := doctor.Count(all, doctor.Problem), doctor.Count(all, doctor.Warning)
	if asJSON {
		e := json.NewEncoder(a.stdout)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		return e.Encode(struct {
			Problems int              `json:"problems"`
			Warnings int              `json:"warnings"`
			Findings []doctor.Finding `json:"findings"`
		}{problems, warnings, all})
	}
	for _, f := range all {
		text := fmt.Sprintf("%-8s %s: %s\n", f.Grade, f.Check, f.Text)
		if f.Cure != "" {
			text += "         cure: " + f.Cure + "\n"
		}
		if _, err := io.WriteString(a.stdout, printable(text)); err != nil {
			return err
		}
	}
	switch {
	case problems > 0:
		return nil
	case warnings > 0:
		return a.done(nil, "no problems, %s", humanize.Count(warnings, "warning", "warnings"))
	default:
		return a.done(nil, "no problems found")
	}
}
