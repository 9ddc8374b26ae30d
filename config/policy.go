package config

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
)

// A Switch is a setting that may be left open, beside true and false.
type Switch string

// The values of a Switch.
const (
	Open Switch = ""
	On   Switch = "true"
	Off  Switch = "false"
)

// Policy bounds pushes. In policies, a missing field has the value of policy.
type Policy struct {
	Kinds                   []string `mapstructure:"kinds" form:"kinds"`
	RequirePassphrase       Switch   `mapstructure:"require_passphrase"`
	RequireEncryption       Switch   `mapstructure:"require_encryption"`
	EnableMail              Switch   `mapstructure:"enable_mail"`
	Reveal                  string   `mapstructure:"reveal" oneof:"press type"`
	ExpireAfterDaysDefault  int      `mapstructure:"expire_after_days_default" min:"1" max:"3650" off:"0"`
	ExpireAfterDaysMax      int      `mapstructure:"expire_after_days_max" min:"1" max:"3650" off:"0"`
	ExpireAfterViewsDefault int      `mapstructure:"expire_after_views_default" min:"1" max:"100000" off:"0"`
	ExpireAfterViewsMax     int      `mapstructure:"expire_after_views_max" min:"1" max:"100000" off:"0"`
	MaxFileUploads          int      `mapstructure:"max_file_uploads" min:"1" max:"100" off:"0"`
	MaxFileSize             Size     `mapstructure:"max_file_size" min:"1KiB" max:"1TiB" off:"0"`
	AccountPushes           int      `mapstructure:"account_pushes" min:"1" max:"1000000" off:"0"`
	AccountBytes            Size     `mapstructure:"account_bytes" min:"1MiB" off:"0"`
}

// A NamedPolicy is one that accounts can have.
type NamedPolicy struct {
	Name   string   `mapstructure:"name" form:"word"`
	Groups []string `mapstructure:"groups" form:"names"`
	Policy `mapstructure:",squash"`
}

var policyList = entries[NamedPolicy]{
	what:     "a list of policies, each with a name",
	required: []string{"name"},
	name:     func(p NamedPolicy) string { return p.Name },
	check: func(p NamedPolicy) error {
		if p.Name == "none" { // in commands
			return errors.New("has a name that is reserved for accounts without a policy")
		}
		return nil
	},
}

// Over returns the policy with its open fields from another one.
func (p Policy) Over(all Policy) Policy {
	own := reflect.ValueOf(&p).Elem()
	for i := range own.NumField() {
		if isEmpty(own.Field(i)) {
			own.Field(i).Set(reflect.ValueOf(all).Field(i))
		}
	}
	return p
}

// Allows reports whether pushes of a kind may be made by a policy that leaves nothing open.
func (p Policy) Allows(kind string) bool {
	if p.RequireEncryption == On && !slices.Contains(encryptable, kind) {
		return false
	}
	return len(p.Kinds) == 0 || slices.Contains(p.Kinds, kind)
}

var encryptable = []string{"text", "file"}

// checkPolicies refuses a policy that is wider than the other settings, or that nothing can
// follow.
func (l *loader) checkPolicies(cfg Config) {
	before := len(l.problems)
	l.checkPolicy(cfg, "policy.", cfg.Policy)
	if len(l.problems) > before { // the others have much of it
		return
	}
	for _, p := range cfg.Policies {
		l.checkPolicy(cfg, p.Name, p.Over(cfg.Policy))
	}
}

type kindBounds struct {
	kind, section, enable string
	on                    bool
	terms                 Terms
}

func (c Config) kindBounds() []kindBounds {
	return []kindBounds{
		{"text", "pw", "", true, c.PW.Terms},
		{"file", "files", "enable_file_pushes", c.EnableFilePushes, c.Files.Terms},
		{"url", "url", "enable_url_pushes", c.EnableURLPushes, c.URL},
		{"qr", "qr", "enable_qr_pushes", c.EnableQRPushes, c.QR.Terms},
	}
}

// checkPolicy checks a policy that leaves nothing open: that of all if name is "policy.".
func (l *loader) checkPolicy(cfg Config, name string, p Policy) {
	note := func(isProblem bool, key, text string, others ...string) {
		if name == "policy." {
			l.relation(isProblem, name+key, text, others...)
			return
		}
		l.relation(isProblem, "policies", fmt.Sprintf("has the policy %s, whose %s %s", name, key, text), others...)
	}
	var allowed []kindBounds
	for _, k := range cfg.kindBounds() {
		named, allows := slices.Contains(p.Kinds, k.kind), p.Allows(k.kind)
		note(named && !k.on, "kinds", "must not have "+k.kind+" because of", k.enable)
		note(named && k.on && !allows, "kinds", "must not have "+k.kind+", which cannot be encrypted, where encryption is required")
		if k.on && allows {
			allowed = append(allowed, k)
		}
	}
	impossible := p.RequireEncryption == On && cfg.ClientEncryption == "off"
	note(impossible, "require_encryption", "cannot be true because of", "client_encryption")
	days := func(t Terms) (least, most int) { return t.ExpireAfterDaysMin, t.ExpireAfterDaysMax }
	views := func(t Terms) (least, most int) { return t.ExpireAfterViewsMin, t.ExpireAfterViewsMax }
	checkNumbers(allowed, "expire_after_days_", p.ExpireAfterDaysDefault, p.ExpireAfterDaysMax, days, note)
	checkNumbers(allowed, "expire_after_views_", p.ExpireAfterViewsDefault, p.ExpireAfterViewsMax, views, note)
	within := func(key string, value, most int64, of string) {
		note(most != 0 && value > most, key, "must not be greater than", of)
	}
	within("max_file_uploads", int64(p.MaxFileUploads), int64(cfg.Files.MaxFileUploads), "files.max_file_uploads")
	within("max_file_size", int64(p.MaxFileSize), int64(cfg.Files.MaxFileSize), "files.max_file_size")
	within("account_pushes", int64(p.AccountPushes), int64(cfg.Limits.AccountPushes), "limits.account_pushes")
	within("account_bytes", int64(p.AccountBytes), int64(cfg.Limits.AccountBytes), "limits.account_bytes")
}

// checkNumbers checks a default and a maximum, of which 0 is none: no kind may have less than
// it needs, and one kind at least must allow so much.
func checkNumbers(
	allowed []kindBounds, prefix string, initial, most int,
	of func(Terms) (least, most int), note func(isProblem bool, key, text string, others ...string),
) {
	top, widest, narrow := 0, "", ""
	for _, k := range allowed {
		least, upper := of(k.terms)
		if upper > top {
			top, widest = upper, k.section+"."+prefix+"max"
		}
		if most != 0 && most < least && narrow == "" {
			narrow = k.section + "." + prefix + "min"
		}
	}
	if len(allowed) == 0 {
		return
	}
	note(most > top, prefix+"max", "must not be greater than", widest)
	note(most <= top && initial > top, prefix+"default", "must not be greater than", widest)
	inner := most != 0 && most < initial && initial <= top
	note(inner, prefix+"default", "must not be greater than its "+prefix+"max")
	note(narrow != "", prefix+"max", "must not be less than", narrow)
}
