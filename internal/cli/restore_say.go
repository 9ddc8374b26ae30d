package cli

import (
	"context"
	"errors"
	"fmt"

	"pushbox/internal/backup"
	"pushbox/store"
)

// source names the backup.
func (r *restoring) source() string {
	if r.name == standard {
		return "standard input"
	}
	return r.name
}

// say tells what there is now.
func (r *restoring) say(done store.Restored) {
	r.app.say(fmt.Sprintf("restored %s from %s to %s", counted(done.Pushes, "push", "pushes"), r.source(), r.cfg.DataDir))
	r.app.say(fate(done.Live, r.keepLive))
	r.app.say("accounts and API tokens are as they were; whoever was signed in signs in again")
}

// fate tells what became of the pushes that were live in a backup.
func fate(live int, kept bool) string {
	were, have, they, their := "were", "have", "they", "their logs say so"
	if live == 1 {
		were, have, they, their = "was", "has", "it", "its log says so"
	}
	switch {
	case live == 0:
		return "none of them was live in the backup"
	case kept:
		return fmt.Sprintf("%d of them %s live in the backup, and can be viewed again, also where %s ended since; %s", live, were, they, their)
	default:
		return fmt.Sprintf("%d of them %s live in the backup, and %s expired now, since %s may have been viewed since; %s", live, were, have, they, their)
	}
}

// explain adds to an error of a restore what to do about it.
func (r *restoring) explain(err error) error {
	missing := (*missingKeyError)(nil)
	switch {
	case errors.As(err, &missing):
		return withHint(fmt.Errorf("the key file %s is missing, and a backup does not hold the key", missing.path),
			"put your copy of the key that the backup was made under to %s (mode 600), then run the command again", missing.path)
	case errors.Is(err, store.ErrKey):
		return withHint(err, "the key in use here (%s) is not that of this backup: put the one there that was in use when it was made", keyPlace(r.cfg))
	case errors.Is(err, backup.ErrEncrypted):
		return withHint(err, "give the file with an identity of one of them: --identity FILE")
	case errors.Is(err, backup.ErrIdentity):
		return withHint(err, "give the file with the identity of one of its recipients: --identity FILE")
	case errors.Is(err, store.ErrCorrupt):
		return withHint(fmt.Errorf("%s: %w", r.source(), err), "this file is damaged, or no backup; restore another one")
	case errors.Is(err, context.Canceled):
		return withHint(err, "it was interrupted, and there is no database; run the command again")
	}
	return err
}
