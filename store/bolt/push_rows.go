package bolt

import "pushbox/store"

// push returns the push.
func (t *tx) push(id store.ID) (store.Push, error) {
	record := t.get(pushes, id[:])
	if record == nil {
		return store.Push{}, store.ErrNotFound
	}
	return t.decodePush(id, record)
}

// decodePush returns the push of a record, with what the journal says of it.
func (t *tx) decodePush(id store.ID, record []byte) (store.Push, error) {
	p := store.Push{ID: id}
	if err := decode(&p, pushes, record); err != nil {
		return store.Push{}, err
	}
	found, n, err := t.over.of(id)
	if err != nil {
		return store.Push{}, err
	}
	if n > 0 && found[n-1].seq > p.Seq {
		found[n-1].applyTo(&p)
	}
	return p, nil
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
	t.countLive(expires, expiryRow(p))
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
	t.countLive(expiryRow(p), nil)
	if err := t.move(expiry, expiryRow(p), nil); err != nil {
		return err
	}
	if err := t.delete(pushes, p.ID[:]); err != nil {
		return err
	}
	if err := t.deletePayload(p.ID); err != nil {
		return err
	}
	if err := t.forget(p.ID); err != nil {
		return err
	}
	return t.deletePrefix(audit, p.ID[:])
}

// createPush writes the rows of a new push.
func (t *tx) createPush(p store.Push, record, payloadKey, payload, entry []byte) error {
	if err := t.putPush(nil, p, record); err != nil {
		return err
	}
	if len(payload) > 0 {
		if err := t.put(payloads, payloadKey, payload); err != nil {
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
