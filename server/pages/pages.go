// Package pages has the actions for browsers: sending and opening pushes, lists, accounts, signing
// in and administration. Package api has the actions for programs; server/intake and server/manage
// have the code that both share.
package pages

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/rs/zerolog"

	"pushbox/config"
	"pushbox/internal/lang"
	"pushbox/internal/limit"
	"pushbox/internal/openid"
	"pushbox/internal/secret"
	"pushbox/server/action"
	"pushbox/server/intake"
	"pushbox/server/manage"
	"pushbox/server/web"
	"pushbox/store"
	"pushbox/store/clock"
)

// Options configure the pages.
type Options struct {
	Config config.Config
	Store  *store.Store
	Intake *intake.Desk
	Manage *manage.Desk
	Log    zerolog.Logger
	Words  *lang.Catalog
	Clock  clock.Clock

	Logo      *web.Logo // nil: pushbox's
	Webhooks  Webhooks
	Directory Directory          // nil: no directory
	Providers []*openid.Provider // those of Config.SignIn.OIDC, in the same order; only for the first set

	AnswerMemory *limit.Memory                   // of pages that open a push
	NoteLimit    func(error)                     // called with errors, which may come from a limit
	FindPage     func(path string) *action.Route // returns the route of a path below base_path; nil: unknown
}

// A Directory checks passwords of people whose accounts have no password here. Its errors are
// record.ErrCredentials and action.ErrAway.
type Directory func(login string, password secret.Text) store.Elsewhere

// A Set is all pages, with one set of settings.
type Set struct {
	Options

	Templates *web.Pages // what renders them

	site        web.Site
	menu        []web.Link // the list of the settings
	providers   []provider
	kept        *keptViews
	signUpEmail *regexp.Regexp // matches the whole of addresses that may sign up
}

// New returns the pages. They take over the providers and the parsed templates of the earlier
// pages, if any. An error names an invalid setting: the logo, or the pattern for sign-ups.
func New(o Options, before *Set) (*Set, error) {
	s := &Set{Options: o}
	if before != nil {
		s.providers, s.kept, s.Templates = before.providers, before.kept, before.Templates
	} else {
		s.providers, s.kept = openProviders(o), newKeptViews()
	}
	var broken, wrong error
	if s.Templates, broken = s.Templates.With(o.Logo, o.Config.BasePath); broken == nil {
		brand := o.Config.Brand
		s.site = web.Site{
			Title: brand.Title, Tagline: brand.Tagline, Footer: brand.Footer, Duties: duties(brand),
			Logo: s.Templates.LogoPath(), SignUps: s.signUps(), Requests: o.Config.EnableRequests,
		}
	}
	if s.signUpEmail, wrong = regexp.Compile(`\A(?:` + o.Config.SignupEmailRegexp + `)\z`); wrong != nil {
		wrong = fmt.Errorf("signup_email_regexp: %w", wrong)
	}
	for _, row := range s.Routes() {
		if row.Menu != "" {
			s.menu = append(s.menu, web.Link{Path: row.Pattern, Where: row.Nav, Text: row.Menu})
		}
	}
	return s, errors.Join(broken, wrong)
}

// duties returns the links at the foot of pages.
func duties(b config.Brand) (all []web.Link) {
	for _, l := range [...]web.Link{{Path: b.Imprint, Text: "frame_imprint"}, {Path: b.Privacy, Text: "frame_privacy"}, {Path: b.Abuse, Text: "frame_abuse"}} {
		if l.Path != "" {
			all = append(all, l)
		}
	}
	return all
}
