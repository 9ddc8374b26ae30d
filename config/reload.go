package config

import "reflect"

// A Change is what becomes of a configuration in force when its sources are read
// again.
type Change struct {
	Config  Config   // to go on with: what a reload applies as it was read, all else as it was
	Changed []string // the keys that a reload applies and that have another value now
	Waiting []string // the keys that have another value, which a restart would bring in force
}

// Reload reads a configuration again that another one is to be replaced with
// while a server runs, and tells what that changes. Nothing is to be changed if
// there is an error: a *ProblemsError with all that is wrong with the new
// configuration, or with that part of it which could be in force without a
// restart.
func Reload(running Config, src Source) (Change, error) {
	l, next, err := load(src)
	if err != nil {
		return Change{}, err
	}
	c := Change{Config: next}
	for _, s := range l.settings {
		was, is := field(&running, s), field(&c.Config, s)
		if reflect.DeepEqual(was.Interface(), is.Interface()) {
			continue
		}
		if s.live {
			c.Changed = append(c.Changed, s.key)
			continue
		}
		c.Waiting = append(c.Waiting, s.key)
		is.Set(was)
		l.given[s.key] = given{place: "as it is until a restart"}
	}
	if l.check(c.Config); len(l.problems) > 0 {
		return Change{}, &ProblemsError{l.problems}
	}
	return c, nil
}

// Path is the file that a configuration is read from; empty if there is none.
func (src Source) Path() string { return newLoader(src.Environ).fileName(src.File) }

// field is where a configuration has a setting.
func field(c *Config, s setting) reflect.Value {
	return reflect.ValueOf(c).Elem().FieldByIndex(s.index)
}
