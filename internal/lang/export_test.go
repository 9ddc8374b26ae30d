package lang

import (
	"maps"
	"slices"

	"golang.org/x/text/feature/plural"
)

// Messages are the texts of a language by key and plural category.
func (l *Locale) Messages() map[string]map[string]string {
	all := make(map[string]map[string]string)
	for key, m := range l.messages() {
		all[key] = m
	}
	return all
}

// Categories are the plural categories that whole numbers of the language have.
func (l *Locale) Categories() []string {
	seen := map[string]bool{other: true}
	for n := range 201 {
		seen[categories[plural.Cardinal.MatchPlural(l.tag, n, 0, 0, 0, 0)]] = true
	}
	return slices.Sorted(maps.Keys(seen))
}
