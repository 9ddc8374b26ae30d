package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pushbox/config"
	"pushbox/internal/admin"
	"pushbox/internal/doctor"
)

// doctorFlags are what doctor is told.
type doctorFlags struct {
	url, caFile   string
	network, json bool
}

func (a *app) doctor() *cobra.Command {
	var o doctorFlags
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Look over the installation and say what to mend",
		Long: `Look at the configuration, permissions and owners, the key, the clock, the disk,
and at how the server is, if one runs; and say of each whether it is ok, with what
to do about it where it is not. No setting, file or push is changed. Run it as the
user that the server runs as.

With --url, the address at which clients reach the server, it looks at the
certificate there, and makes two requests that only it can make, which the server
answers with how they arrived: so it sees what a proxy in between tells, and what
is to be changed in it.

The exit code is 0 if there are no problems, be there warnings or not, and 3 if
there are any.`,
		Example: `  pushbox doctor
  pushbox doctor --config /etc/pushbox.yaml --url https://push.example.com
  pushbox doctor --json | jq '.findings[] | select(.grade == "problem")'`,
		Args: arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.examineAll(cmd, o) },
	}
	flags := cmd.Flags()
	flags.StringVar(&o.url, "url", "", "look at the way from `URL`, where clients reach the server")
	flags.StringVar(&o.caFile, "ca-file", "", "trust those whose certificates are in `FILE`, too")
	flags.BoolVar(&o.network, "network", false, "ask base_url for the time")
	flags.BoolVar(&o.json, "json", false, "write JSON, for programs")
	return cmd
}

func (a *app) examineAll(cmd *cobra.Command, o doctorFlags) error {
	s, err := a.subject(cmd, o)
	if err != nil {
		return err
	}
	all := doctor.Run(cmd.Context(), s)
	if err := cmd.Context().Err(); err != nil {
		return err
	}
	if err := a.showFindings(all, o.json); err != nil {
		return err
	}
	if n := doctor.Count(all, doctor.Problem); n > 0 {
		return withHint(problemsError(n), "do what is said behind cure, then run: pushbox doctor")
	}
	return nil
}

// subject finds out what there is to look at.
func (a *app) subject(cmd *cobra.Command, o doctorFlags) (*doctor.Subject, error) {
	u, err := doctorURL(o.url)
	if err != nil {
		return nil, err
	}
	src := a.source(cmd)
	s := &doctor.Subject{
		File: src.Path(), Version: release, Clock: time.Now, SizeOf: readableSize, Hint: func(err error) string { return hint(cmd, err) },
		URL: u, CAFile: o.caFile, Network: o.network,
	}
	loaded, err := config.Load(src)
	if err != nil {
		s.ConfigIs = err
		return s, nil
	}
	s.Config = loaded.Config
	s.Database, s.Socket = databasePath(s.Config), admin.SocketPath(s.Config.DataDir)
	if s.Config.Mail.Enabled() {
		s.Mail = checkMail(s.Config)
	}
	a.askFacts(cmd.Context(), s)
	return s, nil
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

// askFacts asks the server how it is, or else looks at the store itself.
func (a *app) askFacts(ctx context.Context, s *doctor.Subject) {
	client, err := admin.NewClient(s.Socket)
	if err != nil {
		s.FactsAre = err
		return
	}
	facts, err := admin.Examine.Call(ctx, client, admin.None{})
	if s.Running = !errors.Is(err, admin.ErrNoServer); s.Running {
		s.Probe = func(ctx context.Context) (string, error) {
			p, err := admin.Probe.Call(ctx, client, admin.None{})
			return p.Path, err
		}
	} else {
		if _, err := os.Stat(s.Database); errors.Is(err, fs.ErrNotExist) {
			return
		}
		facts, err = examineInPlace(ctx, s.Config)
	}
	if s.FactsAre = err; err == nil {
		s.Facts = &facts
	}
}

// examineInPlace looks at a store that no server has open.
func examineInPlace(ctx context.Context, cfg config.Config) (f admin.Facts, err error) {
	s, _, err := openStore(ctx, opening{cfg: cfg, wait: lockWait, note: func(string) {}})
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, closeStore(ctx, s)) }()
	return examineStore(ctx, s, cfg)
}

// showFindings writes what was found to standard output.
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
		cure := ""
		if f.Cure != "" {
			cure = "\n         cure: " + f.Cure
		}
		if _, err := fmt.Fprintf(a.stdout, "%-8s %s: %s%s\n", f.Grade, f.Check, f.Text, cure); err != nil {
			return err
		}
	}
	if problems == 0 && warnings > 0 {
		a.say(fmt.Sprintf("no problems found, and %d to look at", warnings))
	} else if problems == 0 {
		a.say("no problems found")
	}
	return nil
}
