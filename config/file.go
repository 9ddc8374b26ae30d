package config

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A configFile is a settings file that is being read.
type configFile struct {
	*loader
	origin   string
	sections []string
}

// readFile takes the settings of a YAML file. It walks the nodes itself, because a
// decoder loses what problems are made of: lines, duplicates, letter case, null, and
// whether a value was a number.
func (l *loader) readFile(name string) {
	if name == "" {
		return
	}
	f := configFile{loader: l, origin: "file " + oneLine(name)}
	for _, s := range l.settings {
		if section := sectionOf(s.key); section != "" && !slices.Contains(f.sections, section) {
			f.sections = append(f.sections, section)
		}
	}
	root, err := parseFile(name)
	switch {
	case err != nil:
		l.problem("", f.origin, "%v", err)
		l.complete = false
		if errors.Is(err, errUnread) {
			l.unread = err
		}
	case root.Kind != yaml.MappingNode:
		l.problem("", f.origin, "must hold keys with values, such as allow_anonymous: true")
		l.complete = false
	default:
		f.mapping(root, "")
	}
}

// mapping takes the keys of a section, or of the file itself.
func (f configFile) mapping(n *yaml.Node, prefix string) {
	lines := make(map[string]int)
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		place := fmt.Sprintf("%s, line %d", f.origin, k.Line)
		first, again := lines[k.Value]
		switch {
		case k.Kind != yaml.ScalarNode:
			f.problem("", place, "a key must be a word")
		case again:
			f.problem(shown(prefix+k.Value), place, "was given in line %d already", first)
		case strings.Contains(k.Value, "."):
			f.problem(shown(prefix+k.Value), place, "is not a setting: a section and its keys are written on lines of their own")
		default:
			lines[k.Value] = k.Line
			f.entry(prefix+k.Value, aliased(n.Content[i+1]), place)
		}
	}
}

// entry takes the value of a key, which is preceded by its sections.
func (f configFile) entry(key string, n *yaml.Node, place string) {
	s, isSetting := f.byKey[key]
	isSection := slices.Contains(f.sections, key)
	switch {
	case !isSetting && !isSection:
		f.unknown(key, place)
	case n.ShortTag() == tagNull:
		f.problem(key, place, "is empty")
	case isSetting:
		f.leaf(s, n, place)
	case n.Kind != yaml.MappingNode:
		f.problem(key, place, "must be a section with keys of its own")
	default:
		f.mapping(n, key+".")
	}
}

// unknown notes a key that is not a setting, with a similar one of the same section
// if there is one.
func (f configFile) unknown(key, place string) {
	var known []string
	for _, section := range f.sections {
		if sectionOf(section) == sectionOf(key) {
			known = append(known, section)
		}
	}
	for _, s := range f.settings {
		if sectionOf(s.key) == sectionOf(key) {
			known = append(known, s.key)
		}
	}
	f.problem(shown(key), place, "is not a setting%s", didYouMean(key, known))
}

var keyLike = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)

// shown returns a key as messages may show it. A text that does not look like a key
// is not shown: in {master_key:X} the key contains a secret.
func shown(key string) string {
	if keyLike.MatchString(key) {
		return key
	}
	return "a key"
}

// leaf takes the value of a setting.
func (f configFile) leaf(s setting, n *yaml.Node, place string) {
	text, ok := scalar(n, s.tags)
	if len(s.tags) == 0 {
		text, ok = list(n)
	}
	if s.nested {
		text, ok = yamlText(n)
	}
	if !ok {
		f.problem(s.key, place, "must be %s", s.what)
		return
	}
	f.accept(s, text, f.origin, place)
}
