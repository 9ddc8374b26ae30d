// Package config has every setting of pushbox: its meaning, default and bounds,
// and how it is read from a file, the environment and flags.
//
// The field comments of Config are the text of config.example.yaml. Load enforces
// the tags:
//
//	mapstructure   the key
//	min, max       bounds of a number, a duration or a size
//	off:"0"        0 is allowed although it is below min
//	oneof          the allowed words
//	form           the form of a text: a word that kindOf knows
//	reload:"yes"   a reload applies it, or all of a section; without it, a restart does
package config

import (
	"io/fs"
	"net/netip"
	"path/filepath"
	"time"

	"pushbox/internal/secret"
)

// Config is the whole configuration. Default gives one to start from; what Load
// returns is within all bounds.
type Config struct {
	// Where to listen: an address and a port (0: any free one), unix:/PATH for a Unix
	// socket, or systemd:NAME for a socket that systemd has opened.
	Listen string `mapstructure:"listen" form:"listener"`

	// A second, public address, in the same forms. It serves only what recipients need
	// to open a push: no creating, no lists, no sign-in. Empty: none.
	PublicListen string `mapstructure:"public_listen" form:"optional listener"`

	// Permissions of Unix sockets that pushbox makes.
	ListenMode fs.FileMode `mapstructure:"listen_mode"`

	// A path, such as /push, with which all addresses begin. It is for a proxy that
	// serves other things on the same host. The proxy must pass paths on unchanged.
	// Empty: no path.
	BasePath string `mapstructure:"base_path" form:"base path"`

	// Hosts that requests may use: names or addresses; *.example.com is every name below
	// example.com. The host of base_url is always allowed. Empty: with base_url, its host
	// and the names and addresses of this machine; without base_url, any host.
	AllowedHosts []string `mapstructure:"allowed_hosts" form:"hosts" reload:"yes"`

	// Addresses and networks whose clients may create pushes without a token or an
	// account; all other clients may not. Empty: allow_anonymous decides.
	CreateNetworks []netip.Prefix `mapstructure:"create_networks" reload:"yes"`

	// Directory of the database. The first start makes it.
	DataDir string `mapstructure:"data_dir" form:"path"`

	// A PostgreSQL database in which several servers keep everything together, in place of a
	// file in data_dir: postgres://USER:PASSWORD@HOST/NAME?sslmode=verify-full, or any other
	// form that PostgreSQL's own programs take. docs/scaling.md has more. Empty: the file.
	DatabaseURL secret.Text `mapstructure:"database_url" form:"database"`

	// A file with the value of database_url, which only the server's user should be able to
	// read.
	DatabaseURLFile string `mapstructure:"database_url_file"`

	// File with the master key, best in another directory than data_dir. Empty: the first
	// of these that exists: the systemd credential master.key ($CREDENTIALS_DIRECTORY);
	// master.key in data_dir; master.key in the directory "key" beside this file. If none
	// exists, the first start makes the last one where there is such a directory, else that
	// in data_dir.
	MasterKeyFile string `mapstructure:"master_key_file"`

	// The master key itself, in the form of the key file, for platforms that pass
	// secrets in the environment. A file is safer. Do not set this together with
	// master_key_file.
	MasterKey secret.Text `mapstructure:"master_key"`

	// The address with which links begin, such as https://push.example.com; it must end
	// with base_path. With public_listen it is the address of the public listener.
	// Empty: the address in each request.
	BaseURL string `mapstructure:"base_url" form:"url" reload:"yes"`

	// Where to report a security problem of this server: https://ADDRESS or mailto:ADDRESS.
	// /.well-known/security.txt shows it (RFC 9116). Empty: there is no such file.
	SecurityContact string `mapstructure:"security_contact" form:"contact" reload:"yes"`

	// HTTPS on listen and public_listen without a proxy: with a certificate of your
	// own, or with one that pushbox fetches from a certificate authority and renews
	// (ACME). docs/tls.md has recipes.
	TLS TLS `mapstructure:"tls"`

	// Proxies whose X-Forwarded headers are trusted: addresses, or networks such as
	// 10.0.0.0/8. In the environment: separated by commas.
	TrustedProxies []netip.Prefix `mapstructure:"trusted_proxies" reload:"yes"`

	// Whether the API works without a token, and the page for sending without an
	// account. If false, these still work without both: links in browsers, and the API's
	// version and description.
	AllowAnonymous bool `mapstructure:"allow_anonymous" reload:"yes"`

	// Whether clients of API version 1 are served (/p.json and the like), which Password
	// Pusher calls deprecated. Most of its clients and scripts speak no other version.
	EnableAPIv1 bool `mapstructure:"enable_api_v1" reload:"yes"`

	// Whether scripts of other sites may create pushes at /p.json and read the links, as
	// browser extensions do. It has no effect if create_networks is set: any site could
	// then create pushes through the browser of a person in these networks.
	APIv1CORS bool `mapstructure:"api_v1_cors" reload:"yes"`

	// Whether pushes that carry a URL can be created.
	EnableURLPushes bool `mapstructure:"enable_url_pushes" reload:"yes"`

	// Whether pushes that show a QR code can be created.
	EnableQRPushes bool `mapstructure:"enable_qr_pushes" reload:"yes"`

	// Whether pushes that carry files can be created: by accounts, and as answers to their
	// requests.
	EnableFilePushes bool `mapstructure:"enable_file_pushes" reload:"yes"`

	// Whether the page for sending encrypts texts and files in the browser, with a key that
	// only the link has: off; offered; default, which is offered and chosen; or required,
	// so that the page sends no text and no file in another way. Links of such pushes open
	// in any case. docs/end-to-end.md says what it protects from.
	ClientEncryption string `mapstructure:"client_encryption" oneof:"off offered default required" reload:"yes"`

	// Whether accounts can ask for secrets: the link of a request lets people without an
	// account send texts and files, which become pushes of the account that asks.
	EnableRequests bool `mapstructure:"enable_requests" reload:"yes"`

	// Whether people can create accounts for themselves, on a page.
	EnableSignups bool `mapstructure:"enable_signups" reload:"yes"`

	// The addresses that may sign up: a regular expression that the whole address, in
	// lower case, must match, such as .+@example\.com
	SignupEmailRegexp string `mapstructure:"signup_email_regexp" form:"regexp" reload:"yes"`

	// Whether accounts need a second factor, an authenticator app or a passkey: to sign in on
	// the pages, and for their API tokens.
	RequireMFA bool `mapstructure:"require_mfa" reload:"yes"`

	// With require_mfa: the day, in UTC, from which API tokens of accounts without a second
	// factor are refused, such as 2027-01-31. Empty: at once.
	RequireMFATokensFrom string `mapstructure:"require_mfa_tokens_from" form:"day" reload:"yes"`

	// How people sign in: with passwords, at providers of OpenID Connect, or by a header of a
	// proxy.
	SignIn SignIn `mapstructure:"sign_in"`

	// Language of the pages if the browser asks for none of the available languages.
	DefaultLocale string `mapstructure:"default_locale" oneof:"en de fr es it nl pt pl cs sv ja zh" reload:"yes"`

	// How long the owner can see the record and the audit log of an expired push. Then it
	// is deleted, with the addresses of clients in it. 0: it is never deleted.
	PurgeAfter time.Duration `mapstructure:"purge_after" min:"1h" off:"0" reload:"yes"`

	// Size of the database above which new pushes are refused. 0: no limit.
	MaxStoreSize Size `mapstructure:"max_store_size" min:"1MiB" off:"0" reload:"yes"`

	// Scheduled backups. pushbox restore makes a database from one. They never contain
	// the key.
	Backup Backup `mapstructure:"backup"`

	// How the pages show the organisation that runs the server.
	Brand Brand `mapstructure:"brand" reload:"yes"`

	// The log, which goes to standard error.
	Log Log `mapstructure:"log"`

	// Metrics for Prometheus. They are off unless one of these is set.
	Metrics Metrics `mapstructure:"metrics"`

	// How much of clients' addresses is kept.
	Privacy Privacy `mapstructure:"privacy" reload:"yes"`

	// Limits for one client, and for all clients together.
	Limits Limits `mapstructure:"limits"`

	// How long people stay signed in to the pages.
	Sessions Sessions `mapstructure:"sessions" reload:"yes"`

	// An LDAP directory, such as OpenLDAP or Active Directory: people whom it knows sign in
	// with its passwords.
	LDAP LDAP `mapstructure:"ldap"`

	// Webhooks: messages about events of pushes.
	Webhooks Webhooks `mapstructure:"webhooks"`

	// Sending links of pushes by mail.
	Mail Mail `mapstructure:"mail"`

	// Pushes that carry text.
	PW DeletableTerms `mapstructure:"pw" reload:"yes"`

	// Pushes that carry a URL. The settings mean what they mean under pw.
	URL Terms `mapstructure:"url" reload:"yes"`

	// Pushes that carry files. The settings mean what they mean under pw. A push of another
	// kind that carries files keeps within the limits of both.
	Files FileTerms `mapstructure:"files" reload:"yes"`

	// Pushes that show a QR code. The settings mean what they mean under pw.
	QR DeletableTerms `mapstructure:"qr" reload:"yes"`

	// What holds for the pushes of all senders, within the other settings: for anonymous
	// clients, and for accounts without a policy of their own.
	Policy Policy `mapstructure:"policy" reload:"yes"`

	// Policies that accounts can have, by group or by hand: a list of entries with name, groups
	// and what differs from policy. docs/sign-in.md has an example. In the environment: the list
	// as JSON or YAML.
	Policies []NamedPolicy `mapstructure:"policies" reload:"yes"`
}

// Brand is what the pages show of the organisation that runs the server.
type Brand struct {
	// Title of the pages.
	Title string `mapstructure:"title"`

	// A line below the title. Empty: one in the reader's language.
	Tagline string `mapstructure:"tagline"`

	// File with a logo to show instead of the program's own: .svg, .png, .jpg or
	// .webp, of at most 256 KiB.
	LogoFile string `mapstructure:"logo_file"`

	// A line at the foot of each page, such as the name of the administrator.
	Footer string `mapstructure:"footer"`
}

// Log says what is logged and how.
type Log struct {
	// The lowest level that is logged.
	Level string `mapstructure:"level" oneof:"debug info warn error" reload:"yes"`

	// The form of a line: json, one object a line; console, for people; auto, console
	// on a terminal and json otherwise.
	Format string `mapstructure:"format" oneof:"auto json console"`

	// Whether the line of a request has the address of its client. Without it, a program
	// that blocks attackers cannot use the log.
	Client bool `mapstructure:"client" reload:"yes"`
}

// Privacy says how much of clients' addresses is kept: in audit logs, sessions, the
// instance log, webhooks and the log. Limits use whole addresses, in memory alone. What
// was kept before stays as it is.
type Privacy struct {
	// How many bits of an IPv4 address are kept, such as 24; the others become zero.
	// 0: no address is kept.
	IPv4Prefix int `mapstructure:"ipv4_prefix" min:"8" max:"32" off:"0"`

	// How many bits of an IPv6 address are kept, such as 48; the others become zero.
	// 0: no address is kept.
	IPv6Prefix int `mapstructure:"ipv6_prefix" min:"16" max:"128" off:"0"`
}

// Limits bounds what clients may use. The fields named PerMinute count requests of
// one client, or of one token. A client is an IPv4 address or an IPv6 /64; the networks
// around it may have a multiple: a /24 eight times, a /56 four and a /48 sixteen times.
type Limits struct {
	// The largest request body, not counting the content of files. JSON escapes can
	// make a text of 1 MiB six times as long.
	MaxBody Size `mapstructure:"max_body" min:"64KiB" max:"64MiB" reload:"yes"`

	// Memory for all request bodies above 64 KiB together. Answers with long texts have
	// the same amount again. One client may have an eighth of it, a network or an account half. A
	// request that gets no memory within a few seconds gets 503.
	BodyMemory Size `mapstructure:"body_memory" min:"64KiB"`

	// The least free space on the file system of the data directory. Below it new pushes
	// are refused, so that views, expiry and deletes always have space. Set it to at
	// least sixteen times the longest text. 0: not checked.
	MinFreeSpace Size `mapstructure:"min_free_space" reload:"yes"`

	// Pushes that one anonymous client may have live at once: one IPv4 address, or one /64
	// of IPv6. It counts no program on this machine that asks without a proxy. 0: no limit.
	AnonymousPushes int `mapstructure:"anonymous_pushes" min:"1" max:"1000000" off:"0" reload:"yes"`

	// How much the live pushes of one anonymous client may take together, and how much
	// one answer to a request for a secret. 0: no limit.
	AnonymousBytes Size `mapstructure:"anonymous_bytes" min:"1MiB" off:"0" reload:"yes"`

	// How much of the store all live anonymous pushes together may take, in percent: of
	// max_store_size, or of the space that the file system leaves to the database. The
	// rest is for accounts. 0: no limit.
	AnonymousShare int `mapstructure:"anonymous_share" min:"1" max:"100" off:"0" reload:"yes"`

	// Pushes that one account may have live at once. 0: no limit.
	AccountPushes int `mapstructure:"account_pushes" min:"1" max:"10000000" off:"0" reload:"yes"`

	// How much the live pushes of one account may take together, with their files.
	// 0: no limit.
	AccountBytes Size `mapstructure:"account_bytes" min:"1MiB" off:"0" reload:"yes"`

	// Requests of an anonymous client per minute. 0: no limit.
	AnonymousPerMinute int `mapstructure:"anonymous_per_minute" min:"1" max:"1000000" off:"0" reload:"yes"`

	// Requests with one API token, or of one account on the pages, per minute.
	// 0: no limit.
	TokenPerMinute int `mapstructure:"token_per_minute" min:"1" max:"1000000" off:"0" reload:"yes"`

	// Requests by one client per minute for links that do not exist. Links that exist always
	// work.
	UnknownTokensPerMinute int `mapstructure:"unknown_tokens_per_minute" min:"1" max:"100000" reload:"yes"`

	// Wrong passphrases per push and client per minute.
	PassphrasesPerClient int `mapstructure:"passphrases_per_client" min:"1" max:"1000" reload:"yes"`

	// Wrong passphrases per push in ten minutes, from clients whose passphrase was not right
	// before. Each time that a push had so many, the time doubles, up to ten hours.
	PassphrasesPerPush int `mapstructure:"passphrases_per_push" min:"1" max:"10000" reload:"yes"`

	// Wrong passphrases per push in all. Then the push is frozen until its sender lets it be
	// opened again: as its owner, or on its receipt.
	PassphrasesPerLife int `mapstructure:"passphrases_per_life" min:"1" max:"100000" reload:"yes"`

	// Wrong sign-ins by one client in 20 seconds, as many right ones to each account, and as
	// many sign-ups.
	SignInsPerClient int `mapstructure:"sign_ins_per_client" min:"1" max:"1000" reload:"yes"`

	// Wrong passwords and codes per account in an hour, from browsers that never were signed
	// in to it. Each browser that was has as many of its own.
	SignInsPerAccount int `mapstructure:"sign_ins_per_account" min:"1" max:"10000" reload:"yes"`

	// How many passphrases may wait to be checked, and as many passwords. One network (a /24
	// of IPv4, a /48 of IPv6) may have an eighth of them. A request beyond that gets 503.
	PassphraseQueue int `mapstructure:"passphrase_queue" min:"1" max:"10000" reload:"yes"`

	// How many clients each limit remembers.
	Clients int `mapstructure:"clients" min:"1000" max:"1000000"`

	// How many connections may be open at the same time, on all listeners together. One
	// beyond that is closed at once.
	Connections int `mapstructure:"connections" min:"16" max:"1000000" reload:"yes"`

	// How many of them one client may have. Trusted proxies, Unix sockets and programs on
	// this machine are bounded by connections alone.
	ConnectionsPerClient int `mapstructure:"connections_per_client" min:"2" max:"1000000" reload:"yes"`

	// How many downloads of files may run at the same time, for all clients together.
	// One client may have an eighth of them, a network or an account half. A download beyond
	// that gets 503.
	Downloads int `mapstructure:"downloads" min:"8" max:"100000" reload:"yes"`

	// How long a request may take, from its first byte to its last. The content of
	// files does not count.
	RequestTimeout time.Duration `mapstructure:"request_timeout" min:"1s" max:"30m"`

	// How long an upload or a download of files may make no progress. Progress is
	// 64 KiB of an upload, or 32 KiB of a download; on average a file must move 4 KiB a
	// second. A long text or answer may make no progress for a sixth of this time.
	StallTimeout time.Duration `mapstructure:"stall_timeout" min:"1s" max:"30m" reload:"yes"`

	// How long a stopping server answers requests as before while /readyz answers 503,
	// so that load balancers notice. 0: not at all.
	StopDelay time.Duration `mapstructure:"stop_delay" min:"1s" max:"5m" off:"0"`

	// How long a stopping server waits for running requests.
	DrainTimeout time.Duration `mapstructure:"drain_timeout" min:"1s" max:"10m"`
}

// Sessions says how long people stay signed in.
type Sessions struct {
	// How long a session lasts without use.
	IdleTimeout time.Duration `mapstructure:"idle_timeout" min:"5m" max:"90d"`

	// How long a session lasts in total, used or not.
	MaxAge time.Duration `mapstructure:"max_age" min:"5m" max:"365d"`
}

// Terms are the limits of one kind of push, and the defaults for senders who ask
// for nothing else. The defaults lie within their minimum and maximum.
type Terms struct {
	// Days until a push expires, if its sender does not choose.
	ExpireAfterDaysDefault int `mapstructure:"expire_after_days_default" min:"1" max:"3650"`

	// The fewest days that a sender may choose.
	ExpireAfterDaysMin int `mapstructure:"expire_after_days_min" min:"1" max:"3650"`

	// The most days that a sender may choose.
	ExpireAfterDaysMax int `mapstructure:"expire_after_days_max" min:"1" max:"3650"`

	// Views until a push expires, if its sender does not choose.
	ExpireAfterViewsDefault int `mapstructure:"expire_after_views_default" min:"1" max:"100000"`

	// The fewest views that a sender may choose.
	ExpireAfterViewsMin int `mapstructure:"expire_after_views_min" min:"1" max:"100000"`

	// The most views that a sender may choose.
	ExpireAfterViewsMax int `mapstructure:"expire_after_views_max" min:"1" max:"100000"`

	// Whether pushes can have the retrieval step: a page with an “Open” button, so that
	// link scanners use no views. false: no push has it.
	EnableRetrievalStep bool `mapstructure:"enable_retrieval_step"`

	// Whether a push has the retrieval step, if its sender does not choose.
	RetrievalStepDefault bool `mapstructure:"retrieval_step_default"`
}

// DeletableTerms are the Terms of a kind that recipients may be allowed to delete.
type DeletableTerms struct {
	Terms `mapstructure:",squash"`

	// Whether senders can let recipients delete a push. false: recipients can delete
	// none.
	EnableDeletablePushes bool `mapstructure:"enable_deletable_pushes"`

	// Whether recipients may delete a push, if its sender does not choose.
	DeletablePushesDefault bool `mapstructure:"deletable_pushes_default"`
}

// FileTerms are the DeletableTerms of pushes that carry files, and the limits of
// their files.
type FileTerms struct {
	DeletableTerms `mapstructure:",squash"`

	// The most files of one push.
	MaxFileUploads int `mapstructure:"max_file_uploads" min:"1" max:"100"`

	// The largest size of one file.
	MaxFileSize Size `mapstructure:"max_file_size" min:"1KiB" max:"1TiB"`

	// How long the address of a file works after the push was retrieved. A running
	// download extends it, up to 24 hours in total.
	DownloadWindow time.Duration `mapstructure:"download_window" min:"1m" max:"24h"`
}

// KeyFile returns the path of the master key's file: MasterKeyFile, which Load sets to the
// place that it found, or master.key in DataDir if that is empty. It means nothing if
// MasterKey is set.
func (c Config) KeyFile() string {
	if c.MasterKeyFile != "" {
		return c.MasterKeyFile
	}
	return filepath.Join(c.DataDir, keyName)
}

// SharesAPIv1 reports whether scripts of other sites may create pushes: APIv1CORS counts
// only without CreateNetworks.
func (c Config) SharesAPIv1() bool {
	return c.EnableAPIv1 && c.APIv1CORS && len(c.CreateNetworks) == 0
}

// keyName is the name of the key file, as a file and as a systemd credential.
const keyName = "master.key"
