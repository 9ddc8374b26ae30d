package config

import (
	"time"

	"pushbox/internal/secret"
)

// TLS says whether the server speaks HTTPS by itself, and with which certificate.
type TLS struct {
	// File with the certificate, followed by the intermediate ones, in PEM. It is read
	// again within seconds of a change, and on SIGHUP. If a new certificate and key do
	// not fit together, the old ones stay in use.
	CertFile string `mapstructure:"cert_file"`

	// File with the certificate's private key, in PEM.
	KeyFile string `mapstructure:"key_file"`

	// Address for plain HTTP, such as :80, which answers the certificate authority
	// (HTTP-01) and redirects browsers to HTTPS. Empty: none.
	RedirectListen string `mapstructure:"redirect_listen" form:"optional address"`

	// How long browsers must use HTTPS only (HSTS). 0: the server does not tell them.
	HSTS time.Duration `mapstructure:"hsts" min:"5m" max:"730d" off:"0" default:"180d"`

	// Certificates by ACME, for servers that the authority can reach on port 443 or,
	// through redirect_listen, on port 80 of each domain. They are kept in data_dir.
	ACME ACME `mapstructure:"acme"`
}

// ACME says which certificates are fetched, and where.
type ACME struct {
	// Domains to fetch a certificate for, one each. By setting them you accept the
	// terms of service of the certificate authority. In the environment: separated by
	// commas. Empty: no ACME.
	Domains []string `mapstructure:"domains" form:"domains"`

	// Directory URL of the certificate authority; it may be a private one, such as
	// step-ca.
	DirectoryURL string `mapstructure:"directory_url" form:"directory" default:"https://acme-v02.api.letsencrypt.org/directory"`

	// File with the root certificate, in PEM, of the authority's own HTTPS. Empty: the
	// certificates that this machine trusts.
	CAFile string `mapstructure:"ca_file"`

	// E-mail address for the authority, given when pushbox creates its account there.
	Email string `mapstructure:"email" form:"email"`
}

// Enabled reports whether the server speaks HTTPS by itself.
func (t TLS) Enabled() bool { return t.CertFile != "" || len(t.ACME.Domains) > 0 }

// Metrics says where Prometheus can read metrics.
type Metrics struct {
	// Address and port of a listener for /metrics alone, such as 127.0.0.1:5102.
	// Empty: none.
	Listen string `mapstructure:"listen" form:"optional address"`

	// File with a token of 16 bytes or more, which callers must send as Authorization:
	// Bearer. It also turns on /metrics at the address of the setting listen. Empty:
	// /metrics is off there, and metrics.listen requires no token.
	TokenFile string `mapstructure:"token_file"`

	// The token itself, for platforms that pass secrets in the environment. A file is
	// safer. Do not set this together with metrics.token_file.
	Token secret.Text `mapstructure:"token"`
}

// HasToken reports whether readers of metrics must send a token.
func (m Metrics) HasToken() bool { return m.TokenFile != "" || !m.Token.IsZero() }
