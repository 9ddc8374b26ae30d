package instance

import (
	"fmt"
	"time"

	"pushbox/config"
	"pushbox/internal/certs"
	"pushbox/internal/openid"
)

// Providers makes the providers of sign_in.oidc, in their order. It reads the files that the
// settings name, and asks no provider for anything. groups lists others than those of the
// settings that people may be in.
func Providers(cfg config.Config, now func() time.Time, groups func() []string) ([]*openid.Provider, error) {
	all := make([]*openid.Provider, len(cfg.SignIn.OIDC))
	for i, c := range cfg.SignIn.OIDC {
		p, err := newProvider(c, now, groups)
		if err != nil {
			return nil, fmt.Errorf("sign_in.oidc, %s: %w", c.Name, err)
		}
		all[i] = p
	}
	return all, nil
}

func newProvider(c config.OIDC, now func() time.Time, groups func() []string) (*openid.Provider, error) {
	o := openid.Options{Issuer: c.Issuer, ClientID: c.ClientID, Secret: c.ClientSecret, Scopes: c.Scopes, Now: now, Groups: c.GroupsClaim}
	o.NeedsGroups = func() bool { return len(c.AllowedGroups)+len(c.AdminGroups) > 0 || groups != nil && len(groups()) > 0 }
	var err error
	if c.ClientSecretFile != "" {
		if o.Secret, err = ReadSecretFile(c.ClientSecretFile); err != nil {
			return nil, fmt.Errorf("client_secret_file: %w", err)
		}
	}
	if c.CAFile != "" {
		if o.Roots, err = certs.ReadRoots(c.CAFile, false); err != nil {
			return nil, fmt.Errorf("ca_file: %w", err)
		}
	}
	return openid.New(o), nil
}
