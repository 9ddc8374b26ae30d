package cli

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"

	"github.com/rs/zerolog"

	"pushbox/config"
	"pushbox/internal/secret"
	"pushbox/server"
	"pushbox/server/web"
	"pushbox/store"
)

// maxLogo is how large a logo may be, in bytes.
const maxLogo = 256 << 10

// readLogo reads the operator's own logo; nil if there is none.
func readLogo(name string) (*web.Logo, error) {
	if name == "" {
		return nil, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("brand.logo_file: %w", err)
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, maxLogo+1))
	if err != nil {
		return nil, fmt.Errorf("brand.logo_file: %w", err)
	}
	if len(content) > maxLogo {
		return nil, fmt.Errorf("brand.logo_file: %s is larger than 256 KiB", name)
	}
	return &web.Logo{Name: filepath.Base(name), Content: content}, nil
}

// newHandler makes what answers requests, and the path of the page that makes the
// first account; empty if there are accounts. Each change is applied to its options.
func newHandler(ctx context.Context, cfg config.Config, s *store.Store, log zerolog.Logger, changes ...func(*server.Options)) (h *server.Server, first string, err error) {
	logo, err := readLogo(cfg.Brand.LogoFile)
	if err != nil {
		return nil, "", err
	}
	o := server.Options{Config: cfg, Store: s, Log: log, Version: release, Logo: logo}
	has, err := s.HasAccounts(ctx)
	if err != nil {
		return nil, "", err
	}
	if !has {
		o.First = secret.New(rand.Text())
		first = server.FirstPath + o.First.Reveal()
	}
	for _, change := range changes {
		change(&o)
	}
	h, err = server.New(o)
	return h, first, err
}

// invite tells whoever started the server how to make the first account. It is
// no line of the log, which others may read.
func (a *app) invite(cfg config.Config, addr net.Addr, url, first string) {
	base := cfg.BaseURL
	switch {
	case cfg.PublicListen == "" && base != "":
	case addr.Network() == "unix": // only whoever set up a proxy knows how browsers get there
		base = "https://HOST" + cfg.BasePath
	default: // base_url is the address of the other door
		base = url + cfg.BasePath
	}
	a.say("there is no account yet; make the first one within this run of the server at:")
	fmt.Fprintf(a.stderr, "\n    %s%s\n\n", base, first)
}
