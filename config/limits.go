package config

import "time"

// Limits bounds what clients may use. The fields named PerMinute count requests of
// one client, or of one token. A client is an IPv4 address or an IPv6 /64; the networks
// around it may have a multiple: a /24 eight times, a /56 four and a /48 sixteen times.
type Limits struct {
	// The largest request body, not counting the content of files. JSON escapes can
	// make a text of 1 MiB six times as long.
	MaxBody Size `mapstructure:"max_body" min:"64KiB" max:"64MiB" default:"8MiB" reload:"yes"`

	// Memory for all request bodies above 64 KiB together. Answers with long texts have
	// the same amount again. One client may have an eighth of it, a network or an account half. A
	// request that gets no memory within a few seconds gets 503.
	BodyMemory Size `mapstructure:"body_memory" min:"64KiB" default:"64MiB"`

	// The least free space on the file system of the data directory. Below it new pushes
	// are refused, so that views, expiry and deletes always have space. Set it to at
	// least sixteen times the longest text. 0: not checked.
	MinFreeSpace Size `mapstructure:"min_free_space" default:"64MiB" reload:"yes"`

	// Pushes that one anonymous client may have live at once: one IPv4 address, or one /64
	// of IPv6. It counts no program on this machine that asks without a proxy. 0: no limit.
	AnonymousPushes int `mapstructure:"anonymous_pushes" min:"1" max:"1000000" off:"0" default:"1000" reload:"yes"`

	// How much the live pushes of one anonymous client may take together, and how much
	// one answer to a request for a secret. 0: no limit.
	AnonymousBytes Size `mapstructure:"anonymous_bytes" min:"1MiB" off:"0" default:"50MiB" reload:"yes"`

	// How much of the store all live anonymous pushes together may take, in percent: of
	// max_store_size, or of the space that the file system leaves to the database. The
	// rest is for accounts. 0: no limit.
	AnonymousShare int `mapstructure:"anonymous_share" min:"1" max:"100" off:"0" default:"50" reload:"yes"`

	// Pushes that one account may have live at once. 0: no limit.
	AccountPushes int `mapstructure:"account_pushes" min:"1" max:"10000000" off:"0" reload:"yes"`

	// How much the live pushes of one account may take together, with their files.
	// 0: no limit.
	AccountBytes Size `mapstructure:"account_bytes" min:"1MiB" off:"0" reload:"yes"`

	// Requests of an anonymous client per minute. 0: no limit.
	AnonymousPerMinute int `mapstructure:"anonymous_per_minute" min:"1" max:"1000000" off:"0" default:"120" reload:"yes"`

	// Requests with one API token, or of one account on the pages, per minute.
	// 0: no limit.
	TokenPerMinute int `mapstructure:"token_per_minute" min:"1" max:"1000000" off:"0" default:"1200" reload:"yes"`

	// Requests by one client per minute for links that do not exist. Links that exist always
	// work.
	UnknownTokensPerMinute int `mapstructure:"unknown_tokens_per_minute" min:"1" max:"100000" default:"20" reload:"yes"`

	// Wrong passphrases per push and client per minute.
	PassphrasesPerClient int `mapstructure:"passphrases_per_client" min:"1" max:"1000" default:"5" reload:"yes"`

	// Wrong passphrases per push in ten minutes, from clients whose passphrase was not right
	// before. Each time that a push had so many, the time doubles, up to ten hours.
	PassphrasesPerPush int `mapstructure:"passphrases_per_push" min:"1" max:"10000" default:"20" reload:"yes"`

	// Wrong passphrases per push in all. Then the push is frozen until its sender lets it be
	// opened again: as its owner, or on its receipt.
	PassphrasesPerLife int `mapstructure:"passphrases_per_life" min:"1" max:"100000" default:"50" reload:"yes"`

	// Wrong sign-ins by one client in 20 seconds, as many right ones to each account, and as
	// many sign-ups.
	SignInsPerClient int `mapstructure:"sign_ins_per_client" min:"1" max:"1000" default:"5" reload:"yes"`

	// Wrong passwords and codes per account in an hour, from browsers that never were signed
	// in to it. Each browser that was has as many of its own.
	SignInsPerAccount int `mapstructure:"sign_ins_per_account" min:"1" max:"10000" default:"10" reload:"yes"`

	// How many passphrases may wait to be checked, and as many passwords. One network (a /24
	// of IPv4, a /48 of IPv6) may have an eighth of them. A request beyond that gets 503.
	PassphraseQueue int `mapstructure:"passphrase_queue" min:"1" max:"10000" default:"64" reload:"yes"`

	// How many clients each limit remembers.
	Clients int `mapstructure:"clients" min:"1000" max:"1000000" default:"65536"`

	// How many connections may be open at the same time, on all listeners together. One
	// beyond that is closed at once.
	Connections int `mapstructure:"connections" min:"16" max:"1000000" default:"4096" reload:"yes"`

	// How many of them one client may have. Trusted proxies, Unix sockets and programs on
	// this machine are bounded by connections alone.
	ConnectionsPerClient int `mapstructure:"connections_per_client" min:"2" max:"1000000" default:"256" reload:"yes"`

	// How many downloads of files may run at the same time, for all clients together.
	// One client may have an eighth of them, a network or an account half. A download beyond
	// that gets 503.
	Downloads int `mapstructure:"downloads" min:"8" max:"100000" default:"256" reload:"yes"`

	// How long a request may take, from its first byte to its last. The content of
	// files does not count.
	RequestTimeout time.Duration `mapstructure:"request_timeout" min:"1s" max:"30m" default:"60s"`

	// How long an upload or a download of files may make no progress. Progress is
	// 64 KiB of an upload, or 32 KiB of a download; on average a file must move 4 KiB a
	// second. A long text or answer may make no progress for a sixth of this time.
	StallTimeout time.Duration `mapstructure:"stall_timeout" min:"1s" max:"30m" default:"60s" reload:"yes"`

	// How long a stopping server answers requests as before while /readyz answers 503,
	// so that load balancers notice. 0: not at all.
	StopDelay time.Duration `mapstructure:"stop_delay" min:"1s" max:"5m" off:"0"`

	// How long a stopping server waits for running requests.
	DrainTimeout time.Duration `mapstructure:"drain_timeout" min:"1s" max:"10m" default:"10s"`
}

// Sessions says how long people stay signed in.
type Sessions struct {
	// How long a session lasts without use.
	IdleTimeout time.Duration `mapstructure:"idle_timeout" min:"5m" max:"90d" default:"12h"`

	// How long a session lasts in total, used or not.
	MaxAge time.Duration `mapstructure:"max_age" min:"5m" max:"365d" default:"30d"`
}

// Terms are the limits of one kind of push, and the defaults for senders who ask
// for nothing else. The defaults lie within their minimum and maximum.
type Terms struct {
	// Days until a push expires, if its sender does not choose.
	ExpireAfterDaysDefault int `mapstructure:"expire_after_days_default" min:"1" max:"3650" default:"7"`

	// The fewest days that a sender may choose.
	ExpireAfterDaysMin int `mapstructure:"expire_after_days_min" min:"1" max:"3650" default:"1"`

	// The most days that a sender may choose.
	ExpireAfterDaysMax int `mapstructure:"expire_after_days_max" min:"1" max:"3650" default:"90"`

	// Views until a push expires, if its sender does not choose.
	ExpireAfterViewsDefault int `mapstructure:"expire_after_views_default" min:"1" max:"100000" default:"5"`

	// The fewest views that a sender may choose.
	ExpireAfterViewsMin int `mapstructure:"expire_after_views_min" min:"1" max:"100000" default:"1"`

	// The most views that a sender may choose.
	ExpireAfterViewsMax int `mapstructure:"expire_after_views_max" min:"1" max:"100000" default:"100"`

	// Whether pushes can have the retrieval step: a page with an “Open” button, so that
	// link scanners use no views. false: no push has it.
	EnableRetrievalStep bool `mapstructure:"enable_retrieval_step" default:"true"`

	// Whether a push has the retrieval step, if its sender does not choose.
	RetrievalStepDefault bool `mapstructure:"retrieval_step_default" default:"true"`
}

// DeletableTerms are the Terms of a kind that recipients may be allowed to delete.
type DeletableTerms struct {
	Terms `mapstructure:",squash"`

	// Whether senders can let recipients delete a push. false: recipients can delete
	// none.
	EnableDeletablePushes bool `mapstructure:"enable_deletable_pushes" default:"true"`

	// Whether recipients may delete a push, if its sender does not choose.
	DeletablePushesDefault bool `mapstructure:"deletable_pushes_default" default:"true"`
}

// FileTerms are the DeletableTerms of pushes that carry files, and the limits of
// their files.
type FileTerms struct {
	DeletableTerms `mapstructure:",squash"`

	// The most files of one push.
	MaxFileUploads int `mapstructure:"max_file_uploads" min:"1" max:"100" default:"10"`

	// The largest size of one file.
	MaxFileSize Size `mapstructure:"max_file_size" min:"1KiB" max:"1TiB" default:"1GiB"`

	// How long the address of a file works after the push was retrieved. A running
	// download extends it, up to 24 hours in total.
	DownloadWindow time.Duration `mapstructure:"download_window" min:"1m" max:"24h" default:"15m"`
}
