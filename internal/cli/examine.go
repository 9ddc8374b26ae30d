package cli

import (
	"context"

	"pushbox/config"
	"pushbox/internal/admin"
	"pushbox/store"
)

// examine tells what the server is like.
func (d *daemon) examine(ctx context.Context, _ admin.None) (admin.Facts, error) {
	f, err := examineStore(ctx, d.store, d.cfg)
	f.CertFrom, f.CertTo = d.tls.validity()
	if d.dumpable != nil {
		f.Dumpable = d.dumpable.Error()
	}
	return f, err
}

// examineStore tells what a store is like, and whether the key that the next start
// would find is its own.
func examineStore(ctx context.Context, s *store.Store, cfg config.Config) (admin.Facts, error) {
	st, err := s.Status(ctx)
	f := admin.Facts{
		Version: release, Key: keyPlace(cfg),
		Clock: st.Clock, Latest: st.Latest, Doubt: st.Doubt, Away: st.Away, Swept: st.Swept,
		Size: st.Space.Size, Unused: st.Space.Unused,
	}
	key, _, fault := masterKey(cfg, true)
	if fault == nil {
		fault = s.Fits(ctx, key)
	}
	if fault != nil {
		f.KeyFault = fault.Error()
	}
	return f, err
}

// probe makes the path of a request that is answered with how it arrived.
func (d *daemon) probe(context.Context, admin.None) (admin.Path, error) {
	path, err := d.newProbe()
	return admin.Path{Path: path}, err
}
