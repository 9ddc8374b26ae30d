package servertest

import (
	"pushbox/config"
)

// AllKinds enables every kind of push.
func AllKinds(c *config.Config) {
	c.EnableFilePushes, c.EnableURLPushes, c.EnableQRPushes = true, true, true
}

// Strictly has a policy for accounts, and rules for all.
func Strictly(c *config.Config) {
	SendsMail(c)
	c.EnableRequests = true
	c.Policy.ExpireAfterViewsMax = 50
	c.Policies = []config.NamedPolicy{{Name: "finance", Policy: config.Policy{
		Kinds: []string{"text", "file"}, RequirePassphrase: config.On, EnableMail: config.Off,
		ExpireAfterDaysDefault: 2, ExpireAfterDaysMax: 3, ExpireAfterViewsMax: 4, MaxFileUploads: 1, MaxFileSize: 1024,
	}}, {Name: "sealed", Policy: config.Policy{RequireEncryption: config.On}}}
}

// SignUps enables sign-ups for some addresses.
func SignUps(c *config.Config) {
	c.EnableSignups, c.SignupEmailRegexp = true, `[a-z]+@(example\.com|example\.org)|boss@example\.net`
}

// FileLimits returns a change that sets the limits for files.
func FileLimits(count, size int) func(*config.Config) {
	return func(c *config.Config) {
		c.Files.MaxFileUploads, c.Files.MaxFileSize = count, config.Size(size)
	}
}

// AnonymousFiles returns a change that lets clients without an account send files up to a size.
func AnonymousFiles(size int) func(*config.Config) {
	return func(c *config.Config) { c.Files.AnonymousMaxSize = config.Size(size) }
}

// TakesRequests enables requests for secrets.
func TakesRequests(c *config.Config) { c.EnableRequests = true }
