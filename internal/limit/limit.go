// Package limit counts what clients do, and says when it was too much.
//
// A Rate is for what is good in moderation: so many a minute, smoothly. A
// Window is for guesses: never more than so many in any stretch of time. Both
// keep their counts in memory for a bounded number of keys: past that, the key
// that was used least recently is forgotten, so the bound should be larger
// than the number of clients that one attacker can seem to be.
package limit

import "time"

// A Clock tells the time since some fixed moment. It never runs backwards; the
// clock on the wall does, and then a limit would hold for hours.
type Clock func() time.Duration
