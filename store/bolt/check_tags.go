package bolt

import (
	"encoding/binary"
	"errors"
	"fmt"

	"pushbox/store/record"
)

// tags verifies the tag of each row that has one, and that these rows add up to the sums: only the
// sums show that a row was removed, or comes from another time.
func (c *checker) tags() error {
	var kept, found sums
	broken := c.readSums(&kept)
	if broken != nil {
		c.notef("%v", broken)
	}
	for b := range bucketCount {
		if !tagged[b] {
			continue
		}
		whole, err := c.addUp(b, &found.rows[b])
		switch {
		case err != nil:
			return err
		case !whole || broken != nil:
		case found.rows[b] != kept.rows[b]:
			c.notef("%s: rows are missing, or from another time", b)
		case c.bucket(b).Sequence() != kept.last[b]:
			c.notef("%s: its last number is too low", b)
		}
	}
	return nil
}

// addUp reports the rows of a bucket that pushbox did not write, and adds up the others. It returns
// false if it reported one.
func (c *checker) addUp(b bucket, sum *share) (bool, error) {
	whole, cur := true, c.stored(b)
	for k, stored := cur.First(); k != nil; k, stored = cur.Next() {
		if err := c.ctx.Err(); err != nil {
			return false, err
		}
		c.noteRead(len(k) + len(stored))
		if !inSums(b, k) {
			continue
		}
		_, s, err := openRow(c.keys, b, k, stored)
		if err != nil {
			whole = false
			c.notef("%s: %v", subject(b, k), errRow)
		}
		sum.add(s)
	}
	return whole, nil
}

// subject names the subject of a row, without the content of its key.
func subject(b bucket, key []byte) string {
	switch {
	case (b == pushes || b == audit || b == grantPushes) && len(key) >= idLen:
		return fmt.Sprintf("push %s: %s", record.ID(key[:idLen]), b)
	case (b == accounts || b == tokenOwners || b == sessionOwners || b == hooks || b == requestOwners || b >= firstAdded) && len(key) >= 8, b == quotas && len(key) == 8:
		return fmt.Sprintf("account %d: %s", binary.BigEndian.Uint64(key), b)
	default:
		return b.String()
	}
}

// readable runs fn, which reads rows, and ignores the error of a row that pushbox did not write:
// tags reports that row.
func readable(fn func() error) (err error) {
	err = func() (err error) {
		defer catchUnreadable(&err)
		return fn()
	}()
	if errors.Is(err, errRow) {
		return nil
	}
	return err
}
