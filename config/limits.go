package config

import "time"

// Limits bounds what clients may use. The fields named PerMinute count requests of
// one client, or of one token. A client is an IPv4 address or an IPv6 /64; the networks
// around it may have a multiple: a /24 eight times, a /56 four and a /48 sixteen times.
type Limits struct {
	MaxBody                Size          `mapstructure:"max_body" min:"64KiB" max:"64MiB" default:"8MiB" reload:"yes"`
	BodyMemory             Size          `mapstructure:"body_memory" min:"64KiB" default:"64MiB"`
	MinFreeSpace           Size          `mapstructure:"min_free_space" default:"64MiB" reload:"yes"`
	AnonymousPushes        int           `mapstructure:"anonymous_pushes" min:"1" max:"1000000" off:"0" default:"1000" reload:"yes"`
	AnonymousBytes         Size          `mapstructure:"anonymous_bytes" min:"1MiB" off:"0" default:"50MiB" reload:"yes"`
	AnonymousShare         int           `mapstructure:"anonymous_share" min:"1" max:"100" off:"0" default:"50" reload:"yes"`
	AccountPushes          int           `mapstructure:"account_pushes" min:"1" max:"10000000" off:"0" reload:"yes"`
	AccountBytes           Size          `mapstructure:"account_bytes" min:"1MiB" off:"0" reload:"yes"`
	AnonymousPerMinute     int           `mapstructure:"anonymous_per_minute" min:"1" max:"1000000" off:"0" default:"120" reload:"yes"`
	TokenPerMinute         int           `mapstructure:"token_per_minute" min:"1" max:"1000000" off:"0" default:"1200" reload:"yes"`
	UnknownTokensPerMinute int           `mapstructure:"unknown_tokens_per_minute" min:"1" max:"100000" default:"20" reload:"yes"`
	PassphrasesPerClient   int           `mapstructure:"passphrases_per_client" min:"1" max:"1000" default:"5" reload:"yes"`
	PassphrasesPerPush     int           `mapstructure:"passphrases_per_push" min:"1" max:"10000" default:"20" reload:"yes"`
	PassphrasesPerLife     int           `mapstructure:"passphrases_per_life" min:"1" max:"100000" default:"50" reload:"yes"`
	SignInsPerClient       int           `mapstructure:"sign_ins_per_client" min:"1" max:"1000" default:"5" reload:"yes"`
	SignInsPerAccount      int           `mapstructure:"sign_ins_per_account" min:"1" max:"10000" default:"10" reload:"yes"`
	PassphraseQueue        int           `mapstructure:"passphrase_queue" min:"1" max:"10000" default:"64" reload:"yes"`
	Clients                int           `mapstructure:"clients" min:"1000" max:"1000000" default:"65536"`
	Connections            int           `mapstructure:"connections" min:"16" max:"1000000" default:"4096" reload:"yes"`
	ConnectionsPerClient   int           `mapstructure:"connections_per_client" min:"2" max:"1000000" default:"256" reload:"yes"`
	Downloads              int           `mapstructure:"downloads" min:"8" max:"100000" default:"256" reload:"yes"`
	RequestTimeout         time.Duration `mapstructure:"request_timeout" min:"1s" max:"30m" default:"60s"`
	StallTimeout           time.Duration `mapstructure:"stall_timeout" min:"1s" max:"30m" default:"60s" reload:"yes"`
	StopDelay              time.Duration `mapstructure:"stop_delay" min:"1s" max:"5m" off:"0"`
	DrainTimeout           time.Duration `mapstructure:"drain_timeout" min:"1s" max:"10m" default:"10s"`
}

// Terms are the limits of one kind of push, and the defaults for senders who ask
// for nothing else. The defaults lie within their minimum and maximum.
type Terms struct {
	ExpireAfterDaysDefault  int  `mapstructure:"expire_after_days_default" min:"1" max:"3650" default:"7"`
	ExpireAfterDaysMin      int  `mapstructure:"expire_after_days_min" min:"1" max:"3650" default:"1"`
	ExpireAfterDaysMax      int  `mapstructure:"expire_after_days_max" min:"1" max:"3650" default:"90"`
	ExpireAfterViewsDefault int  `mapstructure:"expire_after_views_default" min:"1" max:"100000" default:"5"`
	ExpireAfterViewsMin     int  `mapstructure:"expire_after_views_min" min:"1" max:"100000" default:"1"`
	ExpireAfterViewsMax     int  `mapstructure:"expire_after_views_max" min:"1" max:"100000" default:"100"`
	EnableRetrievalStep     bool `mapstructure:"enable_retrieval_step" default:"true"`
	RetrievalStepDefault    bool `mapstructure:"retrieval_step_default" default:"true"`
}

// DeletableTerms are the Terms of a kind that recipients may be allowed to delete.
type DeletableTerms struct {
	Terms                  `mapstructure:",squash"`
	EnableDeletablePushes  bool `mapstructure:"enable_deletable_pushes" default:"true"`
	DeletablePushesDefault bool `mapstructure:"deletable_pushes_default" default:"true"`
}

// FileTerms are the DeletableTerms of pushes that carry files, and the limits of
// their files.
type FileTerms struct {
	DeletableTerms   `mapstructure:",squash"`
	MaxFileUploads   int           `mapstructure:"max_file_uploads" min:"1" max:"100" default:"10"`
	MaxFileSize      Size          `mapstructure:"max_file_size" min:"1KiB" max:"1TiB" default:"1GiB"`
	AnonymousMaxSize Size          `mapstructure:"anonymous_max_size" min:"1KiB" max:"1TiB" off:"0"`
	DownloadWindow   time.Duration `mapstructure:"download_window" min:"1m" max:"24h" default:"15m"`
}
