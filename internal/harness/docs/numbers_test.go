package docs

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/internal/humanize"
	"pushbox/internal/lang"
	"pushbox/store"
)

// thousands writes a number as the documents do.
func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}

// The documents name limits that are constants or defaults of settings.
func TestTheDocumentsNameTheLimitsThatAreInForce(t *testing.T) {
	t.Parallel()
	limits := config.Default().Limits
	words := map[int]string{3: "three", 4: "four", 5: "five", 6: "six", 10: "ten"}
	kept := thousands(store.MaxMinorEntries) + " entries"
	for _, d := range []struct{ file, sentence string }{
		{"docs/api.md", "after " + words[limits.PassphrasesPerClient] + " wrong passphrases in a minute"},
		{"docs/api.md", fmt.Sprintf("After %d in all a push of an account is frozen", limits.PassphrasesPerLife)},
		{"docs/limits.md", fmt.Sprintf("%d per push, counted in the database", limits.PassphrasesPerLife)},
		{"docs/limits.md", fmt.Sprintf("%d in ten minutes per push", limits.PassphrasesPerPush)},
		{"docs/limits.md", fmt.Sprintf("%d an hour per account", limits.SignInsPerAccount)},
		{"docs/limits.md", fmt.Sprintf("has a queue of %d", limits.PassphraseQueue)},
		{"docs/limits.md", fmt.Sprintf("%d per client, and %s in all", limits.ConnectionsPerClient, thousands(limits.Connections))},
		{"docs/limits.md", fmt.Sprintf("%d per client, of %s together", limits.AnonymousPushes, humanize.Size(int64(limits.AnonymousBytes)))},
		{"SECURITY.md", fmt.Sprintf("freeze a push** of an account with %d wrong passphrases", limits.PassphrasesPerLife)},
		{"docs/api.md", "at most " + kept + " are kept"},
		{"docs/differences.md", "it keeps " + kept},
		{"docs/webhooks.md", "when the audit log is full (" + kept + ")"},
		{"docs/operating.md", "The log keeps " + thousands(store.MaxAdminEvents) + " events"},
		{"docs/operating.md", fmt.Sprintf("up to %d an hour for a client and %d an hour in all", store.RefusalEventsPerClient, store.RefusalEvents)},
		{"SECURITY.md", fmt.Sprintf("stopped after %d unknown links a minute", limits.UnknownTokensPerMinute)},
	} {
		text, err := os.ReadFile(d.file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(strings.Join(strings.Fields(string(text)), " "), d.sentence) {
			t.Errorf("%s does not say %q", d.file, d.sentence)
		}
	}
}

// docs/webhooks.md describes each event that a webhook can ask for, and the test message.
func TestTheTableOfEventsHasEveryEvent(t *testing.T) {
	t.Parallel()
	var want []string
	for _, e := range append(store.Events(), store.EventTest) {
		want = append(want, e.String())
	}
	var got []string
	for _, row := range eventRows(t, "docs/webhooks.md", "When") {
		got = append(got, row[1])
	}
	if !slices.Equal(got, want) {
		t.Errorf("the table has %q, the store %q", got, want)
	}
}

// docs/operating.md says of each event of the instance log what the store says of it.
func TestTheInstanceLogHasTheEventsOfItsTable(t *testing.T) {
	t.Parallel()
	var got, want []string
	for _, row := range eventRows(t, "docs/operating.md", "What it says") {
		got = append(got, row[1]+": "+row[2])
	}
	for _, k := range store.AdminKinds() {
		says := k.Says()
		want = append(want, k.String()+": "+strings.ToUpper(says[:1])+says[1:])
	}
	if !slices.Equal(got, want) {
		t.Errorf("the table has\n%s\nthe store\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// eventRows returns the names and the texts in a table of events, whose second column has
// that title.
func eventRows(t *testing.T, file, title string) [][]string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "| `event` | "+title+" |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	return regexp.MustCompile("(?m)^\\| `([a-z_.]+)` \\| (.*) \\|$").FindAllStringSubmatch(table, -1)
}

// A language is a file of messages, a language of the catalog, and a word that the setting
// default_locale allows.
func TestLanguagesAreTheSameEverywhere(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("internal/lang/messages/*.json")
	if err != nil {
		t.Fatal(err)
	}
	have := make(map[string]bool)
	for _, f := range files {
		have[strings.TrimSuffix(filepath.Base(f), ".json")] = true
	}
	want := slices.Sorted(maps.Keys(have))
	field, _ := reflect.TypeFor[config.Config]().FieldByName("DefaultLocale")
	if got := slices.Sorted(slices.Values(strings.Fields(field.Tag.Get("oneof")))); !slices.Equal(got, want) {
		t.Errorf("default_locale allows %q, and there are messages in %q", got, want)
	}
	if got := slices.Sorted(slices.Values(lang.Tags())); !slices.Equal(got, want) {
		t.Errorf("the catalog has %q, and there are messages in %q", got, want)
	}
}
