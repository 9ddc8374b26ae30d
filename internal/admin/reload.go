package admin

// Reload has a server read its configuration again and apply what it can. Only a
// server does it: ErrNoServer where there is none.
var Reload = Op[None, Reloaded]{name: "reload"}

// Reloaded tells what came of a Reload. Where there are problems, nothing was
// changed.
type Reloaded struct {
	Changed  []string // settings that have another value now
	Waiting  []string // settings that have another value after a restart
	Problems []string // all that is wrong with the configuration
}
