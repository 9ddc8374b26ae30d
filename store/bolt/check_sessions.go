package bolt

import (
	"bytes"

	"pushbox/store"
)

// sessions looks for sessions that are not in the index, or of no account.
func (c *checker) sessions() error {
	return c.each(sessions, func(k, v []byte) error {
		if len(k) != digestLen {
			c.notef("sessions: a key of %d bytes instead of %d", len(k), digestLen)
			return nil
		}
		var s store.Session
		switch {
		case decode(&s, sessions, v) != nil:
			c.notef("sessions: a record is malformed")
		case !c.has(accounts, uint64Key(uint64(s.Owner))):
			c.notef("session %d: account %d, its owner, does not exist", s.ID, s.Owner)
		case !bytes.Equal(c.get(sessionOwners, sessionOwnerKey(s.Owner, s.ID)), k):
			c.notef("session %d: its owner does not lead to it", s.ID)
		}
		return nil
	})
}

// sessionIndex looks for index rows that are not those of their session.
func (c *checker) sessionIndex() error {
	return c.each(sessionOwners, func(k, digest []byte) error {
		s, err := c.session(digest)
		if err != nil || !bytes.Equal(sessionOwnerKey(s.Owner, s.ID), k) {
			c.notef("session_owners: a row leads to a session that does not have it")
		}
		return nil
	})
}
