package bolt

import (
	"bytes"
	"slices"

	"pushbox/store/record"
)

// orphans reports rows of no push.
func (c *checker) orphans() error {
	for _, o := range []struct {
		bucket bucket
		keyLen int
		idAt   int
	}{
		{payloads, payloadLen, 0},
		{audit, auditLen, 0},
		{owners, ownerLen, ownerLen - idLen},
		{expiry, expiryLen, expiryLen - idLen},
	} {
		err := c.each(o.bucket, func(k, _ []byte) error {
			if len(k) != o.keyLen && (o.bucket != payloads || len(k) != idLen) {
				c.notef("%s: a key of %d bytes instead of %d", o.bucket, len(k), o.keyLen)
				return nil
			}
			if id := record.ID(k[o.idAt : o.idAt+idLen]); !c.has(pushes, id[:]) {
				c.notef("%s: a row of push %s, which does not exist", o.bucket, id)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// accounts reports accounts that are not found by their address, and pushes of no
// account.
func (c *checker) accounts() error {
	err := c.each(accounts, func(k, v []byte) error {
		var a record.Account
		switch {
		case decode(&a, accounts, v) != nil:
			c.notef("accounts: a record is malformed")
		case !bytes.Equal(k, uint64Key(uint64(a.ID))):
			c.notef("account %d: it is stored under another key", a.ID)
		case !bytes.Equal(c.get(emails, []byte(a.Email)), k):
			c.notef("account %d: its address does not lead to it", a.ID)
		}
		for _, d := range a.Identities.Digests() {
			if !bytes.Equal(c.get(identities, d[:]), uint64Key(uint64(a.ID))) {
				c.notef("account %d: an identity does not lead to it", a.ID)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return c.each(owners, func(k, _ []byte) error {
		if len(k) == ownerLen && !c.has(accounts, k[:8]) {
			c.notef("push %s: its owner does not exist", lastID(k))
		}
		return nil
	})
}

// emails reports addresses that lead to no account.
func (c *checker) emails() error {
	return c.each(emails, func(k, v []byte) error {
		id, err := number(emails, v)
		if err != nil {
			c.notef("emails: a row does not hold an account ID")
			return nil
		}
		a, err := c.account(record.AccountID(id))
		if err != nil || a.Email != string(k) {
			c.notef("emails: an address leads to account %d, which does not have that address", id)
		}
		return nil
	})
}

// identities reports identities that lead to no account.
func (c *checker) identities() error {
	return c.each(identities, func(k, v []byte) error {
		id, err := number(identities, v)
		if err != nil {
			c.notef("identities: a row does not hold an account ID")
			return nil
		}
		a, err := c.account(record.AccountID(id))
		if err != nil || !slices.ContainsFunc(a.Identities.Digests(), func(d record.IdentityDigest) bool { return string(d[:]) == string(k) }) {
			c.notef("identities: a row leads to account %d, which does not have that identity", id)
		}
		return nil
	})
}

// tokens reports tokens that are not in the indexes, or of no account.
func (c *checker) tokens() error {
	return c.each(tokens, func(k, v []byte) error {
		var a record.APIToken
		switch {
		case decode(&a, tokens, v) != nil:
			c.notef("tokens: a record is malformed")
		case !bytes.Equal(k, a.Digest[:]):
			c.notef("token %d: it is stored under another digest", a.ID)
		case !c.has(accounts, uint64Key(uint64(a.Owner))):
			c.notef("token %d: account %d, its owner, does not exist", a.ID, a.Owner)
		case !bytes.Equal(c.get(tokenIDs, uint64Key(uint64(a.ID))), k):
			c.notef("token %d: its ID does not lead to it", a.ID)
		case !bytes.Equal(c.get(tokenOwners, tokenOwnerKey(a.Owner, a.ID)), k):
			c.notef("token %d: its owner does not lead to it", a.ID)
		}
		return nil
	})
}

// tokenIndexes reports index rows that do not belong to their token.
func (c *checker) tokenIndexes() error {
	for b, row := range map[bucket]func(record.APIToken) []byte{
		tokenIDs:    func(a record.APIToken) []byte { return uint64Key(uint64(a.ID)) },
		tokenOwners: func(a record.APIToken) []byte { return tokenOwnerKey(a.Owner, a.ID) },
	} {
		err := c.each(b, func(k, digest []byte) error {
			a, err := record.Tokens.Get(c.tables(), digest)
			if err != nil || !bytes.Equal(row(a), k) {
				c.notef("%s: a row leads to a token that does not have it", b)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// sessions reports sessions that are not in the index, or of no account.
func (c *checker) sessions() error {
	return c.each(sessions, func(k, v []byte) error {
		if len(k) != digestLen {
			c.notef("sessions: a key of %d bytes instead of %d", len(k), digestLen)
			return nil
		}
		var s record.Session
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

// sessionIndex reports index rows that do not belong to their session.
func (c *checker) sessionIndex() error {
	return c.each(sessionOwners, func(k, digest []byte) error {
		s, err := record.Sessions.Get(c.tables(), digest)
		if err != nil || !bytes.Equal(sessionOwnerKey(s.Owner, s.ID), k) {
			c.notef("session_owners: a row leads to a session that does not have it")
		}
		return nil
	})
}

// hooks reports webhooks of no account.
func (c *checker) hooks() error {
	return c.each(hooks, func(k, v []byte) error {
		if len(k) != hookLen {
			c.notef("hooks: a key of %d bytes instead of %d", len(k), hookLen)
			return nil
		}
		r, err := readRecord(record.Hooks.Table, hooks, k, v)
		if err != nil {
			c.notef("hooks: a record is malformed")
			return nil
		}
		if h := r.(record.Hook); !c.has(accounts, uint64Key(uint64(h.Owner))) {
			c.notef("webhook %d: account %d, its owner, does not exist", h.ID, h.Owner)
		}
		return nil
	})
}
