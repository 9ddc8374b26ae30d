// Package settings makes a settings file of pushbox from the environment variables of a
// Password Pusher server (its open source edition, versions 1.30 to 2.11).
//
// The names, defaults and meanings of the variables are those of config/defaults/settings.yml,
// docker-compose.yml and the initializers in Password Pusher's source. rules() is the table
// of all of them.
//
// No secret of the variables reaches what this package writes.
package settings

import (
	"maps"
	"slices"
	"strings"

	"pushbox/config"
)

// A Conversion is the result of converting variables.
type Conversion struct {
	Settings []Setting
	Remarks  []Remark // variables without a counterpart, with remarks
	Others   int      // variables that are none of Password Pusher's
}

// A Setting is a setting of pushbox, with the variable it comes from.
type Setting struct {
	Key   string
	Value string // as YAML
	From  string // a variable, or several; or what else decides the value
	Note  string // a remark; may be empty
}

// A Remark says what pushbox does in place of a variable.
type Remark struct {
	From   string
	Text   string
	Decide bool // the server may behave otherwise than before until an administrator acts
}

// Convert returns the settings that make pushbox behave as a Password Pusher server with these
// variables. They load together with pushbox's defaults for all others.
func Convert(vars []Variable) (Conversion, error) {
	c := converter{given: make(given), flags: make(map[string]config.Flag), notes: make(map[string]string), told: make(map[string]bool)}
	c.take(vars)
	for _, r := range rules() {
		c.apply(r)
	}
	loaded, err := c.load()
	if err != nil {
		return Conversion{}, err
	}
	for _, v := range loaded.Values {
		if f, ok := c.flags[v.Key]; ok {
			c.out.Settings = append(c.out.Settings, Setting{Key: v.Key, Value: v.Value, From: f.Name, Note: c.notes[v.Key]})
		}
	}
	return c.out, nil
}

type converter struct {
	given given // values of variables that are not empty
	flags map[string]config.Flag
	notes map[string]string // by setting
	told  map[string]bool   // the variables of which it is said why they were left out
	out   Conversion
}

// take stores the variables that rules can use, and records the others. An empty variable counts as
// not given; of a name that is there twice, the last value counts. The case of letters does not
// matter in names of Password Pusher's settings.
func (c *converter) take(vars []Variable) {
	last := make(map[string]Variable, len(vars))
	for _, v := range vars {
		if upper := strings.ToUpper(v.Name); strings.HasPrefix(upper, "PWP__") {
			v.Name = upper
		}
		last[v.Name] = v
	}
	known := known()
	for _, name := range slices.Sorted(maps.Keys(last)) {
		v := last[name]
		switch {
		case !known[name] && !strings.HasPrefix(name, "PWP"):
			c.out.Others++
		case isIcon(name):
			c.out.Remarks = append(c.out.Remarks, Remark{From: name, Text: "the icons are part of the program"})
		case !known[name]:
			c.decide(name, "is not a variable of Password Pusher 1.30 to 2.11, and was ignored")
		case v.Refers && byHand(name) != "" && name != mailPassword:
			c.decide(name, "takes its value from a place outside this file: "+byHand(name))
		case v.Value != "" || v.Refers:
			c.given[name] = v.Value
		}
	}
}

func (c *converter) apply(r rule) {
	first := slices.IndexFunc(r.from, func(name string) bool { _, ok := c.given[name]; return ok })
	if first < 0 && r.initial == "" {
		return
	}
	from := "Password Pusher's default"
	if first >= 0 {
		from = strings.Join(slices.DeleteFunc(slices.Clone(r.from), func(name string) bool { _, ok := c.given[name]; return !ok }), ", ")
	}
	if r.key == "" {
		if text := r.text(c.given); text != "" {
			c.out.Remarks = append(c.out.Remarks, Remark{From: from, Text: text, Decide: r.decide})
		}
		return
	}
	value, err := r.value(c.given)
	switch {
	case err != nil:
		c.decide(from, err.Error())
	case value != "":
		c.flags[r.key] = config.Flag{Name: from, Value: value}
		c.notes[r.key] = r.text(c.given)
	}
}

func (c *converter) decide(from, text string) {
	c.told[from] = true
	c.out.Remarks = append(c.out.Remarks, Remark{From: from, Text: text, Decide: true})
}

// load has the package config check all settings together. It leaves out those that config
// refuses, with a remark, until none is refused.
func (c *converter) load() (*config.Loaded, error) {
	for {
		loaded, err := config.Load(config.Source{Flags: c.flags})
		if err == nil {
			return loaded, nil
		}
		if !c.leaveOut(err) {
			return nil, err
		}
	}
}
