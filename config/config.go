// Package config has every setting of pushbox: what it means, its default and
// its bounds, and how it is read from a file, the environment and flags.
//
// The field comments of Config are what config.example.yaml says, and the tags
// are what Load enforces:
//
//	mapstructure   the key
//	min, max       bounds of a number, a duration or a size
//	off:"0"        0 is allowed although it is below min
//	oneof          the words that are allowed
//	form           what a text must be: a word that kindOf knows
//	reload:"yes"   a reload applies it, or all of a section; else it needs a restart
package config

import (
	"io/fs"
	"net/netip"
	"path/filepath"
	"time"

	"pushbox/internal/secret"
)

//go:generate go run ./internal/genexample . ../config.example.yaml

// Config is the whole configuration. Default gives one to start from; what Load
// returns is within all bounds.
type Config struct {
	// What to listen on: an address and a port, of which 0 is any free one;
	// unix:/PATH for a Unix socket; systemd:NAME for a socket that systemd has opened.
	Listen string `mapstructure:"listen" form:"door"`

	// A second door, of the same forms, that carries only what it takes to open a
	// push: nothing is created, listed or signed in to there. Empty: there is none.
	PublicListen string `mapstructure:"public_listen" form:"second door"`

	// Permissions of the Unix sockets that pushbox makes.
	ListenMode fs.FileMode `mapstructure:"listen_mode"`

	// The path that everything lies under, such as /push, for a proxy that has other
	// things at the same host. It passes paths on as they are. Empty: the root.
	BasePath string `mapstructure:"base_path" form:"base path"`

	// Hosts that requests may be for, by name or address; *.example.com stands for
	// every name below example.com. That of base_url is one of them. Empty: any.
	AllowedHosts []string `mapstructure:"allowed_hosts" form:"hosts" reload:"yes"`

	// Addresses and networks whose clients may create without a token or an
	// account, and nobody else. Empty: as allow_anonymous says.
	CreateNetworks []netip.Prefix `mapstructure:"create_networks" reload:"yes"`

	// Directory of the database; made at the first start.
	DataDir string `mapstructure:"data_dir" form:"path"`

	// File that holds the master key. Empty: the credential master.key, where
	// systemd hands one over ($CREDENTIALS_DIRECTORY), else master.key in
	// data_dir.
	MasterKeyFile string `mapstructure:"master_key_file"`

	// The master key itself, in the form that the key file has, for platforms
	// which hand secrets over in the environment. A file is better. Giving both
	// this and master_key_file is refused.
	MasterKey secret.Text `mapstructure:"master_key"`

	// What links begin with, such as https://push.example.com, with base_path at its
	// end. Empty: taken from the request. With public_listen: the address of that door.
	BaseURL string `mapstructure:"base_url" form:"url" reload:"yes"`

	// HTTPS on listen and public_listen, without a proxy: with a certificate of your own, or with one
	// that is fetched from a certificate authority and renewed by itself (ACME).
	// docs/tls.md has recipes.
	TLS TLS `mapstructure:"tls"`

	// Proxies whose X-Forwarded headers are believed: addresses, or networks
	// such as 10.0.0.0/8. In the environment: separated by commas.
	TrustedProxies []netip.Prefix `mapstructure:"trusted_proxies" reload:"yes"`

	// Whether the API can be used without a token: to create, retrieve, preview
	// and delete pushes; and the page that sends without an account. Otherwise only
	// the API's version and description are open to all, and links for browsers.
	AllowAnonymous bool `mapstructure:"allow_anonymous" reload:"yes"`

	// Whether pushes that carry a URL can be created.
	EnableURLPushes bool `mapstructure:"enable_url_pushes" reload:"yes"`

	// Whether pushes that show a QR code can be created.
	EnableQRPushes bool `mapstructure:"enable_qr_pushes" reload:"yes"`

	// Whether pushes that carry files can be created; only by those who have an
	// account.
	EnableFilePushes bool `mapstructure:"enable_file_pushes" reload:"yes"`

	// Whether people may make accounts for themselves, on a page.
	EnableSignups bool `mapstructure:"enable_signups" reload:"yes"`

	// Which addresses they may do that with: a regular expression that the whole
	// address must match, in lower case, such as .+@example\.com
	SignupEmailRegexp string `mapstructure:"signup_email_regexp" form:"regexp" reload:"yes"`

	// Whether everybody who signs in on the pages must have a second factor.
	RequireMFA bool `mapstructure:"require_mfa" reload:"yes"`

	// Language of the pages for browsers that ask for none of those there are.
	DefaultLocale string `mapstructure:"default_locale" oneof:"en de fr es it nl pt pl cs sv ja zh" reload:"yes"`

	// How long the record and the audit log of an expired push stay for its
	// owner. 0: for good.
	PurgeAfter time.Duration `mapstructure:"purge_after" min:"1h" off:"0" reload:"yes"`

	// Size of the database beyond which no push is taken. 0: no such limit.
	MaxStoreSize Size `mapstructure:"max_store_size" min:"1MiB" off:"0" reload:"yes"`

	// Backups that the server makes by itself, from which pushbox restore makes a
	// database again. The key is never in them.
	Backup Backup `mapstructure:"backup"`

	// What the pages are called, and what they say of whose they are.
	Brand Brand `mapstructure:"brand" reload:"yes"`

	// What is written to standard error.
	Log Log `mapstructure:"log"`

	// What Prometheus can ask for; nothing, unless one of these is set.
	Metrics Metrics `mapstructure:"metrics"`

	// What one client, and all of them together, may use.
	Limits Limits `mapstructure:"limits"`

	// How long people stay signed in to the pages.
	Sessions Sessions `mapstructure:"sessions" reload:"yes"`

	// Who is told of what happens to pushes.
	Webhooks Webhooks `mapstructure:"webhooks"`

	// How links of pushes are sent by mail.
	Mail Mail `mapstructure:"mail"`

	// Pushes that carry text.
	PW DeletableTerms `mapstructure:"pw" reload:"yes"`

	// Pushes that carry a URL. The settings mean what they mean under pw.
	URL Terms `mapstructure:"url" reload:"yes"`

	// Pushes that carry files. The settings mean what they mean under pw.
	Files FileTerms `mapstructure:"files" reload:"yes"`

	// Pushes that show a QR code. The settings mean what they mean under pw.
	QR DeletableTerms `mapstructure:"qr" reload:"yes"`
}

// Brand is what the pages show of whoever runs the server.
type Brand struct {
	// Title of the pages.
	Title string `mapstructure:"title"`

	// A line below the title. Empty: one in the reader's language.
	Tagline string `mapstructure:"tagline"`

	// File with a logo to show instead of the program's own: .svg, .png, .jpg or
	// .webp, of at most 256 KiB.
	LogoFile string `mapstructure:"logo_file"`

	// A line at the foot of each page, such as who runs this server.
	Footer string `mapstructure:"footer"`
}

// Log says what is logged and how.
type Log struct {
	// The least level that is written.
	Level string `mapstructure:"level" oneof:"debug info warn error" reload:"yes"`

	// How it is written: json, one object a line; console, for people; auto,
	// console on a terminal and json elsewhere.
	Format string `mapstructure:"format" oneof:"auto json console"`
}

// Limits bounds what clients may use. The fields named PerMinute count requests
// of one client, or of one token.
type Limits struct {
	// The largest request body, not counting the content of files. A text of
	// 1 MiB may take six times as much in JSON escapes.
	MaxBody Size `mapstructure:"max_body" min:"64KiB" max:"64MiB" reload:"yes"`

	// Memory for request bodies of more than 64 KiB, all together, and as much again
	// for answers that show long texts. A request that finds none free within a few
	// seconds is answered 503.
	BodyMemory Size `mapstructure:"body_memory" min:"64KiB"`

	// Free space of the data directory's file system below which no push is
	// taken, so that views, expiry and deletes always have room: no less than sixteen
	// times the longest text that is sent. 0: not looked at.
	MinFreeSpace Size `mapstructure:"min_free_space" reload:"yes"`

	// Requests of an anonymous client in a minute. 0: any number.
	AnonymousPerMinute int `mapstructure:"anonymous_per_minute" min:"1" max:"1000000" off:"0" reload:"yes"`

	// Requests with one API token in a minute, and of one account on the pages.
	// 0: any number.
	TokenPerMinute int `mapstructure:"token_per_minute" min:"1" max:"1000000" off:"0" reload:"yes"`

	// Links that lead nowhere, asked for by one client in a minute.
	UnknownTokensPerMinute int `mapstructure:"unknown_tokens_per_minute" min:"1" max:"100000" reload:"yes"`

	// Wrong passphrases per push and client in a minute.
	PassphrasesPerClient int `mapstructure:"passphrases_per_client" min:"1" max:"1000" reload:"yes"`

	// Wrong passphrases per push in ten minutes, of all clients.
	PassphrasesPerPush int `mapstructure:"passphrases_per_push" min:"1" max:"10000" reload:"yes"`

	// Sign-ins of one client in 20 seconds, right or wrong.
	SignInsPerClient int `mapstructure:"sign_ins_per_client" min:"1" max:"1000" reload:"yes"`

	// Wrong passwords and codes per account in an hour, of all clients.
	SignInsPerAccount int `mapstructure:"sign_ins_per_account" min:"1" max:"10000" reload:"yes"`

	// Passphrases and passwords that may wait to be checked. Beyond that the
	// answer is 503.
	PassphraseQueue int `mapstructure:"passphrase_queue" min:"1" max:"10000" reload:"yes"`

	// Clients that a limiter remembers.
	Clients int `mapstructure:"clients" min:"1000" max:"1000000"`

	// Downloads of files at the same time, of all clients; one client may have an
	// eighth of them. Beyond that the answer is 503.
	Downloads int `mapstructure:"downloads" min:"8" max:"100000" reload:"yes"`

	// How long a request may take, from first byte to last. It does not hold for
	// the content of files.
	RequestTimeout time.Duration `mapstructure:"request_timeout" min:"1s" max:"30m"`

	// How long an upload or a download of files may go without progress, which
	// is 64 KiB of an upload, 32 KiB of a download.
	StallTimeout time.Duration `mapstructure:"stall_timeout" min:"1s" max:"30m" reload:"yes"`

	// How long a stop goes on as before once /readyz says 503, so that whatever sends
	// requests here notices. 0: not at all.
	StopDelay time.Duration `mapstructure:"stop_delay" min:"1s" max:"5m" off:"0"`

	// How long a stop waits for requests that are running.
	DrainTimeout time.Duration `mapstructure:"drain_timeout" min:"1s" max:"10m"`
}

// Sessions says how long people stay signed in.
type Sessions struct {
	// How long a session lasts without use.
	IdleTimeout time.Duration `mapstructure:"idle_timeout" min:"5m" max:"90d"`

	// How long a session lasts in all, however much it is used.
	MaxAge time.Duration `mapstructure:"max_age" min:"5m" max:"365d"`
}

// Terms are the limits of one kind of push, and what a sender gets without
// asking for anything. The defaults lie within their minimum and maximum.
type Terms struct {
	// Days until a push expires, when its sender does not say.
	ExpireAfterDaysDefault int `mapstructure:"expire_after_days_default" min:"1" max:"3650"`

	// The fewest days that a sender may ask for.
	ExpireAfterDaysMin int `mapstructure:"expire_after_days_min" min:"1" max:"3650"`

	// The most days that a sender may ask for.
	ExpireAfterDaysMax int `mapstructure:"expire_after_days_max" min:"1" max:"3650"`

	// Views until a push expires, when its sender does not say.
	ExpireAfterViewsDefault int `mapstructure:"expire_after_views_default" min:"1" max:"100000"`

	// The fewest views that a sender may ask for.
	ExpireAfterViewsMin int `mapstructure:"expire_after_views_min" min:"1" max:"100000"`

	// The most views that a sender may ask for.
	ExpireAfterViewsMax int `mapstructure:"expire_after_views_max" min:"1" max:"100000"`

	// Whether pushes may have the retrieval step: a page to click through, so
	// that link scanners do not use up a view. false: none has it.
	EnableRetrievalStep bool `mapstructure:"enable_retrieval_step"`

	// Whether a push has the retrieval step, when its sender does not say.
	RetrievalStepDefault bool `mapstructure:"retrieval_step_default"`
}

// DeletableTerms are the Terms of a kind whose viewers may be allowed to delete.
type DeletableTerms struct {
	Terms `mapstructure:",squash"`

	// Whether pushes may be deleted by their viewers. false: none may.
	EnableDeletablePushes bool `mapstructure:"enable_deletable_pushes"`

	// Whether viewers may delete a push, when its sender does not say.
	DeletablePushesDefault bool `mapstructure:"deletable_pushes_default"`
}

// FileTerms are the DeletableTerms of pushes that carry files, and what their
// files may be.
type FileTerms struct {
	DeletableTerms `mapstructure:",squash"`

	// The most files of one push.
	MaxFileUploads int `mapstructure:"max_file_uploads" min:"1" max:"100"`

	// The largest size of one file.
	MaxFileSize Size `mapstructure:"max_file_size" min:"1KiB" max:"1TiB"`

	// How long the address of a file is good for after the push was retrieved. A
	// download that runs keeps extending it, to 24 hours at most.
	DownloadWindow time.Duration `mapstructure:"download_window" min:"1m" max:"24h"`
}

// KeyFile is where the master key lies unless MasterKey is given: MasterKeyFile,
// or master.key in DataDir where that is empty.
func (c Config) KeyFile() string {
	if c.MasterKeyFile != "" {
		return c.MasterKeyFile
	}
	return filepath.Join(c.DataDir, keyName)
}

// keyName is the name of the key file, as a file and as a systemd credential.
const keyName = "master.key"
