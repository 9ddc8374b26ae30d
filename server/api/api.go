// Package api has the actions for programs: version 2 of the API, version 1, requests for secrets and
// administration, with the JSON that they speak; the files of pushes; and the documents and the help
// page that describe the API.
package api

import (
	"pushbox/config"
	"pushbox/internal/limit"
	"pushbox/server/action"
	"pushbox/server/intake"
	"pushbox/server/manage"
	"pushbox/store"
	"pushbox/store/record"
)

// Options configure the API.
type Options struct {
	Config  config.Config
	Store   *store.Store
	Intake  *intake.Desk
	Manage  *manage.Desk
	Release string // the version of the program

	NamesHosts   bool          // the server accepts only some hosts
	Memory       *limit.Memory // of request bodies
	AnswerMemory *limit.Memory // of answers that open a push
	Downloads    *limit.Slots
}

// A Service is the API, with one set of settings.
type Service struct {
	Options

	docs [2]apiDocs // documents of version 2 and of version 1
}

// New returns the API.
func New(o Options) *Service {
	s := &Service{Options: o}
	s.docs = s.newDocs()
	return s
}

// apiVersion is the version of Password Pusher's API that this is.
const apiVersion = "2.1"

// versionJSON tells clients what a server can do. Its keys are those of Password
// Pusher.
type versionJSON struct {
	ApplicationVersion string       `json:"application_version"`
	APIVersion         string       `json:"api_version"`
	Edition            string       `json:"edition"`
	Features           featuresJSON `json:"features"`
}

type featuresJSON struct {
	AnonymousAccess        bool                `json:"anonymous_access"`
	APITokenAuthentication bool                `json:"api_token_authentication"`
	Accounts               switchJSON          `json:"accounts"`
	Pushes                 pushFeaturesJSON    `json:"pushes"`
	Requests               requestFeaturesJSON `json:"requests"`
}

type requestFeaturesJSON struct {
	Enabled           bool `json:"enabled"`
	EmailAutoDispatch bool `json:"email_auto_dispatch"`
}

type pushFeaturesJSON struct {
	Enabled           bool           `json:"enabled"`
	EmailAutoDispatch bool           `json:"email_auto_dispatch"`
	FileAttachments   attachmentJSON `json:"file_attachments"`
	URLPushes         switchJSON     `json:"url_pushes"`
	QRCodePushes      switchJSON     `json:"qr_code_pushes"`
}

type attachmentJSON struct {
	Enabled                bool `json:"enabled"`
	RequiresAuthentication bool `json:"requires_authentication"`
}

type switchJSON struct {
	Enabled bool `json:"enabled"`
}

// version describes the server for accounts without a policy. In Password Pusher, accounts are a
// feature of the hosted edition, with several accounts for a token; pushbox does not have it.
func (s *Service) version(*action.Request) (action.Reply, error) {
	return action.OK(versionJSON{ApplicationVersion: s.Release, APIVersion: apiVersion, Edition: s.Config.Compat.Edition, Features: s.features()}), nil
}

func (s *Service) features() featuresJSON {
	policy := s.Store.Policy("")
	mails := s.Config.Mail.Enabled() && !policy.NoMail
	enabled := func(k record.Kind) bool { return policy.Terms[k].Enabled }
	return featuresJSON{
		AnonymousAccess:        s.Config.AllowAnonymous,
		APITokenAuthentication: true,
		Pushes: pushFeaturesJSON{
			Enabled:           true,
			EmailAutoDispatch: mails,
			FileAttachments:   attachmentJSON{Enabled: enabled(record.File), RequiresAuthentication: s.Config.Files.AnonymousMaxSize == 0},
			URLPushes:         switchJSON{enabled(record.URL)},
			QRCodePushes:      switchJSON{enabled(record.QR)},
		},
		Requests: requestFeaturesJSON{Enabled: s.Config.EnableRequests, EmailAutoDispatch: s.Config.EnableRequests && mails},
	}
}
