package daemon

import (
	"context"

	"pushbox/config"
	"pushbox/internal/admin"
	"pushbox/internal/instance"
	"pushbox/store"
)

// examine returns the state of the server.
func (d *daemon) examine(ctx context.Context, _ admin.None) (admin.Facts, error) {
	f, err := Examine(ctx, d.store, d.cfg, d.version)
	if c := d.tls.certs; c != nil {
		f.CertFrom, f.CertTo = c.Validity()
		if err := c.Fault(); err != nil {
			f.CertFault = err.Error()
		}
	}
	if d.dumpable != nil {
		f.Dumpable = d.dumpable.Error()
	}
	return f, err
}

// Examine returns the state of a store, and whether the key that the next start would find
// fits it. version is that of this program.
func Examine(ctx context.Context, s *store.Store, cfg config.Config, version string) (admin.Facts, error) {
	st, err := s.Health(ctx)
	f := admin.Facts{
		Version: version, Key: instance.KeyPlace(cfg),
		Clock: st.Clock, Latest: st.Latest, Doubt: st.Doubt, Away: st.Away, Swept: st.Swept,
		Size: st.Space.Size, Unused: st.Space.Unused,
	}
	key, fault := instance.ReadKey(cfg)
	if fault == nil {
		fault = s.CheckKey(ctx, key)
	}
	if fault != nil {
		f.KeyFault = fault.Error()
	}
	return f, err
}

// probe makes the path of a request that is answered with a report of how it arrived.
func (d *daemon) probe(context.Context, admin.None) (admin.Path, error) {
	path, err := d.newProbe()
	return admin.Path{Path: path}, err
}
