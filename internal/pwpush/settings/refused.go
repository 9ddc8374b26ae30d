package settings

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"pushbox/config"
)

// leaveOut removes the settings that an error of config names, and reports whether there
// was one.
func (c *converter) leaveOut(err error) (removed bool) {
	var all *config.ProblemsError
	if !errors.As(err, &all) {
		return false
	}
	for _, p := range all.Problems {
		key, ok := c.blamed(p)
		if !ok {
			continue
		}
		c.refuse(c.flags[key].Name, "was left out: in pushbox "+p.Key+" "+strings.ReplaceAll(p.Text, "(flag ", "("))
		delete(c.flags, key)
		removed = true
	}
	return removed
}

// refuse notes why variables were left out. One reason is enough: other settings of the same
// variables are left out because of the first one.
func (c *converter) refuse(from, text string) {
	if !c.told[from] {
		c.decide(from, text)
	}
}

// blamed returns the setting to leave out because of a problem: the one that has it, or,
// where that has its default, another one that the problem names.
func (c *converter) blamed(p config.Problem) (key string, ok bool) {
	if _, ok := c.flags[p.Key]; ok {
		return p.Key, true
	}
	for _, key := range slices.Sorted(maps.Keys(c.flags)) {
		if strings.Contains(p.Text, key+" ") {
			return key, true
		}
	}
	return "", false
}
