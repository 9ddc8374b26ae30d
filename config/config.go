// Package config has every setting of pushbox: its default and bounds, and how it is read
// from a file, the environment and flags. config.example.yaml says what each setting means,
// in the order of Config's fields. Load enforces the tags:
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
	Listen               string         `mapstructure:"listen" form:"listener" default:"127.0.0.1:5100"`
	PublicListen         string         `mapstructure:"public_listen" form:"optional listener"`
	ListenMode           fs.FileMode    `mapstructure:"listen_mode" default:"0660"`
	BasePath             string         `mapstructure:"base_path" form:"base path"`
	AllowedHosts         []string       `mapstructure:"allowed_hosts" form:"hosts" reload:"yes"`
	CreateNetworks       []netip.Prefix `mapstructure:"create_networks" reload:"yes"`
	DataDir              string         `mapstructure:"data_dir" form:"path" default:"./data"`
	DatabaseURL          secret.Text    `mapstructure:"database_url" form:"database"`
	DatabaseURLFile      string         `mapstructure:"database_url_file"`
	MasterKeyFile        string         `mapstructure:"master_key_file"`
	MasterKey            secret.Text    `mapstructure:"master_key"`
	BaseURL              string         `mapstructure:"base_url" form:"url" reload:"yes"`
	SecurityContact      string         `mapstructure:"security_contact" form:"contact" reload:"yes"`
	TLS                  TLS            `mapstructure:"tls"`
	TrustedProxies       []netip.Prefix `mapstructure:"trusted_proxies" default:"127.0.0.0/8,::1/128" reload:"yes"`
	AllowAnonymous       bool           `mapstructure:"allow_anonymous" default:"true" reload:"yes"`
	EnableAPIv1          bool           `mapstructure:"enable_api_v1" default:"true" reload:"yes"`
	APIv1CORS            bool           `mapstructure:"api_v1_cors" default:"true" reload:"yes"`
	EnableURLPushes      bool           `mapstructure:"enable_url_pushes" default:"true" reload:"yes"`
	EnableQRPushes       bool           `mapstructure:"enable_qr_pushes" default:"true" reload:"yes"`
	EnableFilePushes     bool           `mapstructure:"enable_file_pushes" default:"true" reload:"yes"`
	ClientEncryption     string         `mapstructure:"client_encryption" oneof:"off offered default required" default:"offered" reload:"yes"`
	EnableRequests       bool           `mapstructure:"enable_requests" reload:"yes"`
	Compat               Compat         `mapstructure:"compat" reload:"yes"`
	EnableSignups        bool           `mapstructure:"enable_signups" reload:"yes"`
	SignupEmailRegexp    string         `mapstructure:"signup_email_regexp" form:"regexp" default:".+" reload:"yes"`
	RequireMFA           bool           `mapstructure:"require_mfa" reload:"yes"`
	RequireMFATokensFrom string         `mapstructure:"require_mfa_tokens_from" form:"day" reload:"yes"`
	SignIn               SignIn         `mapstructure:"sign_in"`
	DefaultLocale        string         `mapstructure:"default_locale" oneof:"en de fr es it nl pt pl cs sv ja zh" default:"en" reload:"yes"`
	ReloadWindow         time.Duration  `mapstructure:"reload_window" min:"1s" max:"10m" off:"0" default:"60s" reload:"yes"`
	PurgeAfter           time.Duration  `mapstructure:"purge_after" min:"1h" off:"0" default:"365d" reload:"yes"`
	MaxStoreSize         Size           `mapstructure:"max_store_size" min:"1MiB" off:"0" reload:"yes"`
	Backup               Backup         `mapstructure:"backup"`
	Brand                Brand          `mapstructure:"brand" reload:"yes"`
	Log                  Log            `mapstructure:"log"`
	Metrics              Metrics        `mapstructure:"metrics"`
	Privacy              Privacy        `mapstructure:"privacy" reload:"yes"`
	Limits               Limits         `mapstructure:"limits"`
	Sessions             Sessions       `mapstructure:"sessions" reload:"yes"`
	LDAP                 LDAP           `mapstructure:"ldap"`
	Webhooks             Webhooks       `mapstructure:"webhooks"`
	Mail                 Mail           `mapstructure:"mail"`
	PW                   DeletableTerms `mapstructure:"pw" reload:"yes"`
	URL                  Terms          `mapstructure:"url" reload:"yes"`
	Files                FileTerms      `mapstructure:"files" reload:"yes"`
	QR                   DeletableTerms `mapstructure:"qr" reload:"yes"`
	Policy               Policy         `mapstructure:"policy" reload:"yes"`
	Policies             []NamedPolicy  `mapstructure:"policies" reload:"yes"`
}

// Compat says what clients of Password Pusher are told.
type Compat struct {
	Edition string `mapstructure:"edition" oneof:"oss commercial" default:"oss"`
}

// Commercial reports whether they are told that this is the paid edition.
func (c Compat) Commercial() bool { return c.Edition == "commercial" }

// Backup says when and where the server makes scheduled backups of its database.
type Backup struct {
	Schedule   time.Duration `mapstructure:"schedule" min:"1h" max:"366d" off:"0"`
	Dir        string        `mapstructure:"dir"`
	Keep       int           `mapstructure:"keep" min:"1" max:"10000" default:"7"`
	Recipients []string      `mapstructure:"recipients" form:"recipients"`
	After      []string      `mapstructure:"after" form:"command"`
}

// Brand has the title, the texts and the logo of the organisation that runs the server.
type Brand struct {
	Title    string `mapstructure:"title" default:"pushbox"`
	Tagline  string `mapstructure:"tagline"`
	LogoFile string `mapstructure:"logo_file"`
	Footer   string `mapstructure:"footer"`
	Imprint  string `mapstructure:"imprint" form:"contact"`
	Privacy  string `mapstructure:"privacy" form:"contact"`
	Abuse    string `mapstructure:"abuse" form:"contact"`
}

// Log configures the log.
type Log struct {
	Level  string `mapstructure:"level" oneof:"debug info warn error" default:"info" reload:"yes"`
	Format string `mapstructure:"format" oneof:"auto json console" default:"auto"`
	Client bool   `mapstructure:"client" default:"true" reload:"yes"`
}

// Privacy says how much of clients' addresses is kept: in audit logs, sessions, the instance log,
// webhooks and the log. Limits use whole addresses, only in memory. Addresses that were stored
// before do not change.
type Privacy struct {
	IPv4Prefix int `mapstructure:"ipv4_prefix" min:"8" max:"32" off:"0" default:"32"`
	IPv6Prefix int `mapstructure:"ipv6_prefix" min:"16" max:"128" off:"0" default:"128"`
}

// TLS says whether the server speaks HTTPS by itself, and with which certificate.
type TLS struct {
	CertFile       string        `mapstructure:"cert_file"`
	KeyFile        string        `mapstructure:"key_file"`
	RedirectListen string        `mapstructure:"redirect_listen" form:"optional address"`
	HSTS           time.Duration `mapstructure:"hsts" min:"5m" max:"730d" off:"0" default:"365d"`
	HSTSSubdomains bool          `mapstructure:"hsts_subdomains"`
	ACME           ACME          `mapstructure:"acme"`
}

// ACME says which certificates are fetched, and where.
type ACME struct {
	Domains      []string `mapstructure:"domains" form:"domains"`
	DirectoryURL string   `mapstructure:"directory_url" form:"directory" default:"https://acme-v02.api.letsencrypt.org/directory"`
	CAFile       string   `mapstructure:"ca_file"`
	Email        string   `mapstructure:"email" form:"email"`
}

// Enabled reports whether the server speaks HTTPS by itself.
func (t TLS) Enabled() bool { return t.CertFile != "" || len(t.ACME.Domains) > 0 }

// Metrics says where Prometheus can read metrics.
type Metrics struct {
	Listen    string      `mapstructure:"listen" form:"optional address"`
	TokenFile string      `mapstructure:"token_file"`
	Token     secret.Text `mapstructure:"token"`
}

// HasToken reports whether readers of metrics must send a token.
func (m Metrics) HasToken() bool { return m.TokenFile != "" || !m.Token.IsZero() }

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

const keyName = "master.key"
