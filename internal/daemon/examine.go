package daemon

import (
	"context"
	"errors"
	"slices"

	"pushbox/config"
	"pushbox/internal/admin"
	"pushbox/internal/instance"
	"pushbox/store"
	"pushbox/store/record"
)

func (d *daemon) examine(ctx context.Context, _ admin.None) (admin.Facts, error) {
	f, err := Examine(ctx, d.store, d.cfg, d.version)
	if c := d.tls.certs; c != nil {
		f.CertFrom, f.CertTo = c.Validity()
		if err := c.Fault(); err != nil {
			f.CertFault = err.Error()
		}
	}
	if d.dumpable != nil {
		f.DumpFault = d.dumpable.Error()
	}
	f.Unsure = d.people.unsure()
	done := d.backups.state()
	f.BackupFault, f.AfterFault, f.Webhooks, f.Mail = done.fault, done.afterFault, d.toWebhooks(), d.toMail()
	return f, err
}

func (d *daemon) toWebhooks() admin.Deliveries {
	if d.webhooks == nil {
		return admin.Deliveries{}
	}
	out := admin.Deliveries{Waiting: d.store.WaitingBy(record.ByWebhook), Dropped: d.webhooks.Dropped()}
	for _, f := range d.webhooks.Failing() {
		out.Failing = append(out.Failing, admin.Receiver{Webhook: f.ID, Tries: f.Tries, Next: f.Next.UTC()})
	}
	return out
}

func (d *daemon) toMail() admin.Deliveries {
	if d.mail == nil {
		return admin.Deliveries{}
	}
	out := admin.Deliveries{Waiting: d.store.WaitingBy(record.ByMail), Dropped: d.mail.Dropped()}
	if n := d.mail.Failures(); n > 0 {
		out.Failing = []admin.Receiver{{Tries: n}}
	}
	return out
}

func (d *daemon) failing(context.Context, admin.None) ([]admin.Receiver, error) {
	return d.toWebhooks().Failing, nil
}

// Examine returns the state of a store, and whether the key that the next start would find
// fits it. version is that of this program.
func Examine(ctx context.Context, s *store.Store, cfg config.Config, version string) (admin.Facts, error) {
	st, err := s.Health(ctx)
	f := admin.Facts{
		Version: version, Key: instance.KeyPlace(cfg),
		Clock: st.Clock, Latest: st.Latest, Doubt: st.Doubt, Away: st.Away, Swept: st.Swept,
		Size: st.Space.Size, Unused: st.Space.Unused, Lost: errors.Is(s.Reach(ctx), record.ErrLost),
	}
	key, fault := instance.ReadKey(cfg)
	if fault == nil {
		fault = s.CheckKey(ctx, key)
	}
	if fault != nil {
		f.KeyFault = fault.Error()
	}
	if err == nil {
		f.LostPolicies, err = s.LostPolicies(ctx)
	}
	if err == nil {
		var all []record.Account
		all, err = s.Accounts(ctx)
		f.NoAdmin = len(all) > 0 && !slices.ContainsFunc(all, record.Account.Administers)
	}
	return f, err
}

func (d *daemon) health(ctx context.Context, _ admin.None) (admin.None, error) {
	return admin.None{}, d.store.Ping(ctx)
}

func (d *daemon) probe(context.Context, admin.None) (admin.Path, error) {
	path, err := d.newProbe()
	return admin.Path{Path: path}, err
}
