package settings

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"pushbox/config"
)

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
		// One reason is enough: other settings of the same variables are left out because of the first.
		if from := c.flags[key].Name; !c.told[from] {
			c.decide(from, "was left out: in pushbox "+p.Key+" "+strings.ReplaceAll(p.Text, "(flag ", "("))
		}
		delete(c.flags, key)
		removed = true
	}
	return removed
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

func keyRules() []rule {
	return []rule{
		{
			from: []string{"PWPUSH_MASTER_KEY", "PWPUSH_MASTER_KEY_FILE", "PWPUSH_MASTER_KEY_PREVIOUS", "PWPUSH_MASTER_KEY_PREVIOUS_FILE"},
			says: "pushbox makes a master key of its own. Keep this one as long as you need the old data: it is encrypted with it",
		},
		{
			from: []string{"DATABASE_URL", "DB_POOL"},
			says: "pushbox keeps its data in a file in data_dir; several servers together need a PostgreSQL database of their own (database_url)",
		},
		{from: []string{"SECRET_KEY_BASE", "SECRET_KEY_BASE_FILE", "RAILS_MASTER_KEY"}, says: "sessions need no key; people sign in again after the move"},
	}
}

func lostRules() []rule {
	return []rule{
		{from: pwp("PW__ENABLE_BLUR", "PW__BLUR", "FILES__ENABLE_BLUR", "FILES__BLUR"), says: "the pages always hide a text until its reader shows it"},
		{
			from: pwp("GEN__HAS_NUMBERS", "GEN__TITLE_CASED", "GEN__USE_SEPARATORS", "GEN__CONSONANTS", "GEN__VOWELS", "GEN__SEPARATORS",
				"GEN__MAX_SYLLABLE_LENGTH", "GEN__MIN_SYLLABLE_LENGTH", "GEN__SYLLABLES_COUNT", "GEN__SYLLABLE_COUNT"),
			says: "senders choose the form of a generated password on the page",
		},
		{from: pwp("THEME", "THEME_MODE"), says: "there is one look, in light and dark as the browser asks"},
		{from: []string{"PWP_PRECOMPILE"}, says: "there is nothing to compile"},
		{from: pwp("BRAND__SHOW_FOOTER_MENU", "BRAND__SHOW_FOOTER", "SHOW_VERSION", "SHOW_GDPR_CONSENT_BANNER"), says: "the pages do not have this feature"},
		{from: pwp("NOINDEX"), says: "the pages always ask search engines to stay away"},
		{from: pwp("ENABLED_LANGUAGE_CODES", "TIMEZONE"), says: "the pages follow the browser, in twelve languages and with the time of its reader"},
		{from: pwp("SECURE_COOKIES"), says: "cookies are secure wherever HTTPS is used"},
		{from: append(pwp("LOG_TO_STDOUT"), "RAILS_LOG_TO_STDOUT"), says: "the log goes to standard error"},
		{from: append(pwp("NO_WORKER"), "PWP_WORKER", "JOB_CONCURRENCY", "WEB_CONCURRENCY", "RAILS_MAX_THREADS", "RAILS_MIN_THREADS"), says: "one process does everything, and uses all cores"},
		{from: []string{"RAILS_ENV", "RACK_ENV", "RAILS_SERVE_STATIC_FILES"}, says: "pushbox is always ready for production"},
		{from: []string{"GA_ACCOUNT", "PLAUSIBLE_DOMAIN", "ROLLBAR_ACCESS_TOKEN", "ROLLBAR_ENV"}, says: "pushbox tells no other service about its visitors or its errors"},
	}
}
