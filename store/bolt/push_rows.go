package bolt

import "pushbox/store"

// push returns the push and its record as it is stored.
func (t *tx) push(id store.ID) (store.Push, []byte, error) {
	stored := t.get(pushes, id[:])
	if stored == nil {
		return store.Push{}, nil, store.ErrNotFound
	}
	p := store.Push{ID: id}
	if err := decode(&p, pushes, stored); err != nil {
		return store.Push{}, nil, err
	}
	return p, stored, nil
}

// putPush makes record, which is p's, the push's record and moves its index
// rows where they change. All changes of a push that stays go through here.
func (t *tx) putPush(old *store.Push, p store.Push, record []byte) error {
	var owner, expires []byte
	if old != nil {
		owner, expires = ownerRow(*old), expiryRow(*old)
	}
	if err := t.put(pushes, p.ID[:], record); err != nil {
		return err
	}
	if err := t.move(owners, owner, ownerRow(p)); err != nil {
		return err
	}
	return t.move(expiry, expires, expiryRow(p))
}

// purge removes every row of a push. Its chunks become orphans.
func (t *tx) purge(p store.Push) error {
	if p.HoldsFiles() {
		if err := t.release(p.ID); err != nil {
			return err
		}
	}
	if err := t.move(owners, ownerRow(p), nil); err != nil {
		return err
	}
	if err := t.move(expiry, expiryRow(p), nil); err != nil {
		return err
	}
	for _, b := range []bucket{pushes, payloads} {
		if err := t.delete(b, p.ID[:]); err != nil {
			return err
		}
	}
	return t.deletePrefix(audit, p.ID[:])
}

// createPush writes the rows of a new push.
func (t *tx) createPush(p store.Push, record, payload, entry []byte) error {
	if err := t.putPush(nil, p, record); err != nil {
		return err
	}
	if len(payload) > 0 {
		if err := t.put(payloads, p.ID[:], payload); err != nil {
			return err
		}
	}
	if p.HoldsFiles() {
		if err := t.delete(orphans, p.ID[:]); err != nil {
			return err
		}
	}
	return t.put(audit, auditKey(p.ID, 0), entry)
}
