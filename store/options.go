package store

// Configure brings other options in force, for what begins from now on. What was
// counted of guesses and sign-ins stays counted, under the new limits. The clock
// stays as it is, and so does how many clients are remembered: both are what they
// were at Open.
func (s *Store) Configure(o Options) {
	o.Clock, o.Guessing.Clients = s.opts.Load().Clock, s.opts.Load().Guessing.Clients
	s.guess.bound(o.Guessing, o.SignIns)
	s.engine.SetRoom(o.Room)
	s.opts.Store(&o)
}

// Pinned returns the same store under the options in force now, whatever
// Configure does later; for requests that must not see two of them. Limits of
// guessing and of room are always those in force.
func (s *Store) Pinned() *Store { return &Store{shared: s.shared, pinned: s.opts.Load()} }

// options are those that hold for s. Nobody changes them.
func (s *Store) options() *Options {
	if s.pinned != nil {
		return s.pinned
	}
	return s.opts.Load()
}

// Room bounds what may be put into a store. Where there is none left, creates and
// uploads are refused with ErrFull; views, expiry and deletes go on.
type Room struct {
	MaxSize int64 // bytes in use; 0: no limit
	MinFree int64 // bytes to leave free on the file system; 0: not looked at
}
