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
//	default        the value of a setting that is not given; without it, zero or empty
//	form           the form of a text: a word of the table forms
//	reload:"yes"   a reload applies it, or all of a section; without it, a restart does
package config

import (
	"cmp"
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
	Listen string `mapstructure:"listen" form:"listener" default:"127.0.0.1:5100"`

	// A second, public address, in the same forms. It serves only what recipients need
	// to open a push: no creating, no lists, no sign-in. Empty: none.
	PublicListen string `mapstructure:"public_listen" form:"optional listener"`

	// Permissions of Unix sockets that pushbox makes.
	ListenMode fs.FileMode `mapstructure:"listen_mode" default:"0660"`

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
	DataDir string `mapstructure:"data_dir" form:"path" default:"./data"`

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
	TrustedProxies []netip.Prefix `mapstructure:"trusted_proxies" default:"127.0.0.0/8,::1/128" reload:"yes"`

	// Whether the API works without a token, and the page for sending without an
	// account. If false, these still work without both: links in browsers, and the API's
	// version and description.
	AllowAnonymous bool `mapstructure:"allow_anonymous" default:"true" reload:"yes"`

	// Whether clients of API version 1 are served (/p.json and the like), which Password
	// Pusher calls deprecated. Most of its clients and scripts speak no other version.
	EnableAPIv1 bool `mapstructure:"enable_api_v1" default:"true" reload:"yes"`

	// Whether scripts of other sites may create pushes at /p.json and read the links, as
	// browser extensions do. It has no effect if create_networks is set: any site could
	// then create pushes through the browser of a person in these networks.
	APIv1CORS bool `mapstructure:"api_v1_cors" default:"true" reload:"yes"`

	// Whether pushes that carry a URL can be created.
	EnableURLPushes bool `mapstructure:"enable_url_pushes" default:"true" reload:"yes"`

	// Whether pushes that show a QR code can be created.
	EnableQRPushes bool `mapstructure:"enable_qr_pushes" default:"true" reload:"yes"`

	// Whether pushes that carry files can be created: by accounts, and as answers to their
	// requests.
	EnableFilePushes bool `mapstructure:"enable_file_pushes" default:"true" reload:"yes"`

	// Whether the page for sending encrypts texts and files in the browser, with a key that
	// only the link has: off; offered; default, which is offered and chosen; or required,
	// so that the page sends no text and no file in another way. Links of such pushes open
	// in any case. docs/end-to-end.md says what it protects from.
	ClientEncryption string `mapstructure:"client_encryption" oneof:"off offered default required" default:"offered" reload:"yes"`

	// Whether accounts can ask for secrets: the link of a request lets people without an
	// account send texts and files, which become pushes of the account that asks.
	EnableRequests bool `mapstructure:"enable_requests" reload:"yes"`

	// Whether people can create accounts for themselves, on a page.
	EnableSignups bool `mapstructure:"enable_signups" reload:"yes"`

	// The addresses that may sign up: a regular expression that the whole address, in
	// lower case, must match, such as .+@example\.com
	SignupEmailRegexp string `mapstructure:"signup_email_regexp" form:"regexp" default:".+" reload:"yes"`

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
	DefaultLocale string `mapstructure:"default_locale" oneof:"en de fr es it nl pt pl cs sv ja zh" default:"en" reload:"yes"`

	// How long the owner can see the record and the audit log of an expired push. Then it
	// is deleted, with the addresses of clients in it. 0: it is never deleted.
	PurgeAfter time.Duration `mapstructure:"purge_after" min:"1h" off:"0" default:"365d" reload:"yes"`

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

// Backup says when and where the server makes scheduled backups of its database.
type Backup struct {
	// Time from one backup to the next, such as 24h. 0: no scheduled backups.
	Schedule time.Duration `mapstructure:"schedule" min:"1h" max:"366d" off:"0"`

	// Directory for the backups; the start makes it if it is missing. Empty: backups in
	// data_dir, on the same disk as the database.
	Dir string `mapstructure:"dir"`

	// How many backups stay there. The oldest is removed once a new one is on the disk.
	Keep int `mapstructure:"keep" min:"1" max:"10000" default:"7"`

	// age recipients (age1...) who can decrypt the backups; set to encrypt them. It is
	// also the default of pushbox backup. In the environment: separated by commas.
	Recipients []string `mapstructure:"recipients" form:"recipients"`

	// A command to run after each scheduled backup, such as one that copies it to another
	// machine: the absolute path of a program and its arguments, without a shell. {} in an
	// argument means the path of the backup. In the environment: separated by commas,
	// or a JSON list. Empty: none.
	After []string `mapstructure:"after" form:"command"`
}

// Brand is what the pages show of the organisation that runs the server.
type Brand struct {
	// Title of the pages.
	Title string `mapstructure:"title" default:"pushbox"`

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
	Level string `mapstructure:"level" oneof:"debug info warn error" default:"info" reload:"yes"`

	// The form of a line: json, one object a line; console, for people; auto, console
	// on a terminal and json otherwise.
	Format string `mapstructure:"format" oneof:"auto json console" default:"auto"`

	// Whether the line of a request has the address of its client. Without it, a program
	// that blocks attackers cannot use the log.
	Client bool `mapstructure:"client" default:"true" reload:"yes"`
}

// Privacy says how much of clients' addresses is kept: in audit logs, sessions, the
// instance log, webhooks and the log. Limits use whole addresses, in memory alone. What
// was kept before stays as it is.
type Privacy struct {
	// How many bits of an IPv4 address are kept, such as 24; the others become zero.
	// 0: no address is kept.
	IPv4Prefix int `mapstructure:"ipv4_prefix" min:"8" max:"32" off:"0" default:"32"`

	// How many bits of an IPv6 address are kept, such as 48; the others become zero.
	// 0: no address is kept.
	IPv6Prefix int `mapstructure:"ipv6_prefix" min:"16" max:"128" off:"0" default:"128"`
}

// BackupDir returns the directory of scheduled backups: Backup.Dir, or backups in
// DataDir if that is empty.
func (c Config) BackupDir() string {
	return cmp.Or(c.Backup.Dir, filepath.Join(c.DataDir, "backups"))
}

// KeyFile returns the path of the master key's file: MasterKeyFile, which Load sets to the
// place that it found, or master.key in DataDir if that is empty. It means nothing if
// MasterKey is set.
func (c Config) KeyFile() string {
	return cmp.Or(c.MasterKeyFile, filepath.Join(c.DataDir, keyName))
}

// SharesAPIv1 reports whether scripts of other sites may create pushes: APIv1CORS counts
// only without CreateNetworks.
func (c Config) SharesAPIv1() bool {
	return c.EnableAPIv1 && c.APIv1CORS && len(c.CreateNetworks) == 0
}

// keyName is the name of the key file, as a file and as a systemd credential.
const keyName = "master.key"
