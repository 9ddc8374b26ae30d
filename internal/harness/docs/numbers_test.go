package docs

import (
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pushbox/config"
	"pushbox/internal/humanize"
	"pushbox/internal/lang"
	"pushbox/internal/limit"
	"pushbox/internal/proctest"
	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/record"
)

// thousands writes a number as the documents do.
func thousands[N int | int64](n N) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}

// word writes a small number as the documents do.
func word[N int | int64 | time.Duration](n N) string {
	words := []string{
		"no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
		"thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty",
	}
	if int(n) >= len(words) {
		return fmt.Sprint(int(n))
	}
	return words[n]
}

// part writes one part in n as the documents do.
func part(n int64) string {
	return map[int64]string{2: "half", 3: "a third", 4: "a quarter", 8: "an eighth"}[n]
}

const day = 24 * time.Hour

// one writes a length of time that is one unit as the documents do.
func one(d time.Duration) string {
	return map[time.Duration]string{
		time.Second: "a second", time.Minute: "a minute", time.Hour: "an hour", day: "a day", 7 * day: "a week", 365 * day: "a year",
	}[d]
}

// Documents say numbers where readers need them. Each that the code knows has a row here; a
// sentence that has several may have several rows.
func TestTheNumbersInDocumentsAreThoseOfTheCode(t *testing.T) {
	t.Parallel()
	n, file, f := constants(t), inFile(t), fmt.Sprintf
	span := func(dir, name string) time.Duration { return time.Duration(n(dir, name)) }
	kib := func(dir, name string) int64 { return n(dir, name) >> 10 }
	mib := func(dir, name string) int64 { return n(dir, name) >> 20 }
	c := config.Default()
	limits, window := c.Limits, int(c.Files.DownloadWindow/time.Minute)
	languages, tags := word(len(lang.Tags())), "`"+strings.Join(lang.Tags(), "`, `")+"`"
	kept := thousands(store.MaxMinorEntries) + " entries"
	attempt := span("store/postgres", "defaultAttempt") / time.Second
	patience := time.Duration(n("store/postgres", "patience"))
	text, note := humanize.Size(store.MaxText), humanize.Size(store.MaxNote)
	anonymous := humanize.Size(int64(limits.AnonymousBytes))
	journal := func(field string) int { return number(t, file("store/bolt/journal.go", field+`: +(\d+)`)) }
	stop := number(t, file("deploy/systemd/pushbox.service", `TimeoutStopSec=(\d+)`))
	bits := func(maker string) int {
		return 8 * number(t, file("store/seal/grant.go", `func `+maker+`\(\)[^}]*randomText\((\d+)\)`))
	}
	hours := func(d time.Duration) int { return int(d / time.Hour) }
	minutes := func(d time.Duration) int { return int(d / time.Minute) }
	seconds := func(d time.Duration) int { return int(d / time.Second) }
	days := func(d time.Duration) int { return int(d / day) }

	for document, sentences := range map[string][]string{
		"README.md": {
			f("lists %s steps for a new server", word(strings.Count(section(t, "docs/operating.md", "## The first hour"), ". **"))),
			f("With Go %s or later", file("go.mod", `(?m)^go (\d+\.\d+)`)),
		},
		"ARCHITECTURE.md": {
			f("in its own transaction: %d random bits", bits("NewGrantToken")),
			f("a jump ahead of more than %s", one(span("store/clock", "BelievedJump"))),
			f("in chunks of %d KiB", kib("store/seal", "ChunkSize")),
			f("Up to %s chunks are one operation", word(n("store", "maxStep"))),
			f("All uploads together may have %s operations under way", word(n("store", "maxInFlight"))),
			f("at least %d KiB of chunks", kib("store/bolt", "minBulkBytes")),
			f("in doubt for %s minutes", word(minutes(span("store/clock", "doubtLasts")))),
		},
		"SECURITY.md": {
			f("API tokens have %d random bits", bits("NewAPIToken")),
			f("The code has %d random bits", bits("NewReceiptCode")),
			f("or %s pushes are", map[int64]string{1000: "a thousand"}[n("store/bolt", "maxAside")]),
			f("longer while a download runs, %s at most", one(span("store", "longestGrant"))),
			f("for %d minutes after the retrieval", window),
			f("a url_token has %d random bits", 5*n("store", "tokenLength")-n("store", "timeBits")),
			f("stopped after %d unknown links a minute", limits.UnknownTokensPerMinute),
			f("Argon2id (%s MiB, %s passes;", file("store/seal/argon.go", `memory: (\d+) << 10`), file("store/seal/argon.go", `passes: (\d+)`)),
			f("The log keeps the newest %s events", thousands(record.MaxAdminEvents)),
			f("a clean stop waits up to %s seconds for it", word(seconds(span("store/bolt", "restWindow")))),
			f("removes the file of an upgrade after %s days", word(days(record.CopiesStay))),
			f("Sessions have %d random bits", 8*n("store", "sessionSize")),
			f("freeze a push** with %d wrong passphrases", limits.PassphrasesPerLife),
		},
		"config.example.yaml": {
			f("Wrong passphrases per push in %s minutes", word(minutes(span("store", "passphrasesPerPushWindow")))),
			f("the time doubles, up to %s hours", word(hours(span("store", "passphrasesPerPushWindow")<<n("store", "doublings")))),
			f("Wrong sign-ins by one client in %d seconds", seconds(span("store", "signInsPerClientWindow"))),
			f("per account in %s, from browsers", one(span("store", "signInsPerAccountWindow"))),
			f("a /48 of IPv6) may have %s of them", part(n("store", "queueShare"))),
			f("Progress is %d KiB of an upload, or %d KiB of a download", kib("server/deadline", "progressStep"), kib("internal/httpd", "unsent")),
			f("download extends it, up to %d hours in total", hours(span("store", "longestGrant"))),
		},
		"docs/api.md": {
			f("while a download runs, up to %d hours", hours(span("store", "longestGrant"))),
			f("text: at most %s. qr: at most %s characters", text, thousands(store.MaxQR)),
			f("required for each retrieval; at most %s bytes", thousands(store.MaxPassphrase)),
			f("| whole days | %d |", c.PW.ExpireAfterDaysDefault),
			f("| views | %d |", c.PW.ExpireAfterViewsDefault),
			f("at most %d bytes and %s", store.MaxName, note),
			f("more than %d levels", n("internal/strictjson", "MaxDepth")),
			f("after %s wrong passphrases in a minute", word(limits.PassphrasesPerClient)),
			f("After %d in all a push is frozen", limits.PassphrasesPerLife),
			f("Newest first, %d a page, pages 1 to %d", store.PageSize, n("server/action", "MaxPage")),
			f("oldest first, %d a page", store.PageSize),
			f("the account's requests, %d a page", store.PageSize),
			f("accounts, newest first, %d a page", store.PageSize),
			f("(events.md), newest first, %d a page", store.PageSize),
			f("in its place, %d characters long", n("store", "handleLength")),
			"at most " + kept + " are kept",
			f("(%d minutes by default), longer while", window),
			f("| %s characters |", thousands(record.MaxAsked)),
			f("| 1 to %d | 1 |", record.MaxAnswers),
			f("| %d to %d days, or %d minutes and more | %d days |", store.RequestDays.Min, store.RequestDays.Max, minutes(span("store", "minRequestTime")), store.RequestDays.Default),
			f("An account may have %d live requests", record.MaxRequests),
			f("which looks again after %s seconds", word(seconds(span("server/manage", "keepFindings")))),
		},
		"docs/limits.md": {
			f("such a queue, %d at a time", n("store", "maxElsewhere")),
			f("one at a time; %d wait", n("store", "maxSearches")),
			f("by their address, for %s", one(span("store", "remembers"))),
			f("%d a minute per client, then 429", limits.UnknownTokensPerMinute),
			f("%d a minute per push", limits.PassphrasesPerClient),
			f("%d in %s minutes per push", limits.PassphrasesPerPush, word(minutes(span("store", "passphrasesPerPushWindow")))),
			f("Each time that a push had %d, the time doubles, up to %s hours", limits.PassphrasesPerPush, word(hours(span("store", "passphrasesPerPushWindow")<<n("store", "doublings")))),
			f("%d per push, counted in the database", limits.PassphrasesPerLife),
			f("%d wrong ones in %d seconds per client; %d right ones", limits.SignInsPerClient, seconds(span("store", "signInsPerClientWindow")), limits.SignInsPerClient),
			f("%d an hour per account", limits.SignInsPerAccount),
			f("%d an hour for each browser", limits.SignInsPerAccount),
			f("has a queue of %d, a network %s of it", limits.PassphraseQueue, part(n("store", "queueShare"))),
			f("%d a minute per client, %s per API token or account", limits.AnonymousPerMinute, thousands(limits.TokenPerMinute)),
			f("%d per client, and %s in all", limits.ConnectionsPerClient, thousands(limits.Connections)),
			f("| %d in all, %s of them per client", limits.Downloads, part(n("internal/limit", "part"))),
			f("one for each %d KiB of the memory below, which makes %d: %s of them per client", kib("server/body", "UploadMemory"), int64(limits.BodyMemory)/n("server/body", "UploadMemory"), part(n("internal/limit", "part"))),
			f("%d MiB for bodies of requests", limits.BodyMemory>>20),
			f("must send %d KiB in %s seconds", kib("server/body", "paceStep"), word(int64(limits.StallTimeout/time.Second)/n("server/deadline", "textStall"))),
			f("must take %d KiB in %s seconds", kib("server", "chunkSize"), word(int64(limits.StallTimeout/time.Second)/n("server/deadline", "textStall"))),
			f("must move %d KiB a second on average, and may stall for %s", kib("server/deadline", "leastRate"), one(limits.StallTimeout)),
			f("%s per client, of %s", thousands(limits.AnonymousPushes), anonymous),
			f("all together %s of the space", part(int64(100/limits.AnonymousShare))),
			f("%d live ones per account, each with at most %d answers", record.MaxRequests, record.MaxAnswers),
			f("may have live, %s, and counts", anonymous),
			f("%d per account, %s in all, %d to one address", c.Mail.DailyLimit, thousands(c.Mail.DailyLimitTotal), c.Mail.RecipientPerDay),
			f("one %s and %s a day per account; %s tries for each", one(span("store", "codesApart")), word(n("store/record", "CodesPerDay")), word(n("store/record", "CodeTries"))),
		},
		"docs/operating.md": {
			f("`purge_after`, %s by default", one(c.PurgeAfter)),
			f("Pushes of anonymous senders go %s after", one(span("store", "anonymousStay"))),
			f("within about %s, if there is space", one(span("store", "tidyRest"))),
			f("If the clock jumps ahead by more than %s", one(span("store/clock", "BelievedJump"))),
			f("for %s days (upgrading.md)", word(days(record.CopiesStay))),
			f("have up to %d lines a minute", n("server", "LinesPerClient")),
			f("The instance log keeps %s events", thousands(record.MaxAdminEvents)),
			f("always %d days ahead", n("server", "contactFor")),
			f("live at once (%s), of `limits.anonymous_bytes` together (%s", thousands(limits.AnonymousPushes), anonymous),
			f("percent of the space (%d)", limits.AnonymousShare),
			f("at least %d MiB are unused, the server compacts", mib("store", "leastGap")),
			f("While more than %d MiB are unused", n("store/bolt", "maxListedPages")*4>>10),
			f("consistent for %s minutes", word(minutes(span("store/clock", "doubtLasts")))),
			f("destroys them after those %s minutes", word(minutes(span("store/clock", "doubtLasts")))),
			f("| %d | the command or the settings are wrong |", n("internal/cli", "exitUsage")),
			f("| %d | `check` or `doctor` found problems;", n("internal/cli", "exitProblems")),
			f("| %d | another process uses the database;", n("internal/cli", "exitInUse")),
		},
		"docs/accounts.md": {
			f("A link works once, for %s", one(span("store", "ResetLasts"))),
			f("lock an account, and for %s at most", one(span("store", "signInsPerAccountWindow"))),
			f("An account has at most %d tokens", record.MaxTokens),
			f("charts of the last %d days", n("server/manage", "ActivityDays")),
			f("none of the %s languages", languages),
			f("up to %d passkeys", n("store/record", "MaxPasskeys")),
			f("A challenge is valid for %s minutes", word(minutes(span("store", "passkeyLasts")))),
		},
		"docs/keys.md": {
			f("the key as %s lines", word(n("store/seal", "PaperLines"))),
		},
		"docs/events.md": {
			f("The log keeps %s events", thousands(record.MaxAdminEvents)),
			f("up to %d an hour for a client and %d an hour in all", store.RefusalEventsPerClient, store.RefusalEvents),
			f("can make %d API tokens an hour, and %d times", n("store", "TokensPerAccount"), n("store", "ChangesPerAccount")),
		},
		"docs/mail.md": {
			f("It works once, for %s", one(span("store", "ResetLasts"))),
			f("tries again after %s seconds, then at longer intervals up to %s minutes", file("internal/mail/mailer.go", `server: retry.Policy{First: (\d+) \* time.Second`), file("internal/mail/mailer.go", `server: .* Most: (\d+) \* time.Minute`)),
			f("a code of %s digits", word(n("store", "codeDigits"))),
			f("valid for %d minutes and %s tries", minutes(span("store", "CodeLasts")), word(n("store/record", "CodeTries"))),
			f("once a minute, and %s times a day", word(n("store/record", "CodesPerDay"))),
			f("the same as those of the pages: %s.", tags),
			f("(%d by default; 0: no limit)", c.Mail.RecipientPerDay),
		},
		"docs/webhooks.md": {
			f("a failed message after %s seconds", file("internal/webhook/dispatch.go", `retry.Policy{First: (\d+) \* time.Second`)),
			f("the last %d tries of each webhook", record.MaxDeliveries),
			f("An account may have %d webhooks", record.MaxHooks),
			f("within %d seconds", seconds(span("internal/webhook", "sendTimeout"))),
			"when the audit log is full (" + kept + ")",
		},
		"docs/tls.md": {
			f("for the next %d days (`tls.hsts`", days(c.TLS.HSTS)),
			f("within %s seconds of a change", word(seconds(span("internal/certs", "pairEvery")))),
			f("says so within %s seconds", word(2*seconds(span("internal/certs", "pairEvery")))),
			f("when %s of its lifetime is left, or %d days if that is less", part(n("internal/certs", "renewAtThird")), days(span("internal/certs", "renewAtMost"))),
			f("valid for a day; pushbox renews them after %d hours", 24-24/n("internal/certs", "renewAtThird")),
			f("tries again after %d minutes", minutes(span("internal/certs", "firstRetry"))),
		},
		"docs/files.md": {
			f("and for %d hours at most", hours(span("store", "longestGrant"))),
			f("%d KiB of an upload, or %d KiB of a download", kib("server/deadline", "progressStep"), kib("internal/httpd", "unsent")),
			f("(%d minutes by default)", window),
		},
		"docs/upgrading.md": {
			f("removes it %s days after the upgrade", word(days(record.CopiesStay))),
			f("%v times what the database holds, plus %d MiB", 1+1/float64(n("store/bolt", "upgradeGrowth")), mib("store/bolt", "copyReserve")),
			f("| %d | The database can hold", n("store/bolt", "namedSchema")),
			f("| %d | the first schema |", n("store/bolt", "oldestSchema")),
		},
		"docs/scaling.md": {
			f("more than %s seconds from the database's", word(seconds(span("store/postgres", "MaxClockDifference")))),
			f("after it has tried for %s seconds", word(patience*attempt)),
			f("requests wait for %s seconds", word(patience*attempt)),
			f("wait for %s seconds, then another host", word(attempt)),
			f("`limits.request_timeout` and %s seconds", word((patience+1)*attempt)),
			f("when they start and every %s seconds", word(n("store/postgres", "surveyLooks"))),
			f("keeps up to %d connections", n("store/postgres", "defaultConns")),
			f("takes up to %d connections", n("store/postgres", "defaultConns")),
			f("more than %d times the servers", n("store/postgres", "defaultConns")),
			f("at most %d creates share one", n("store/postgres", "batchSize")),
			f("rows of %d KiB", kib("store/seal", "ChunkSize")),
			f("HAProxy and Caddy ask each server every %s seconds", word(number(t, file("deploy/scaling/haproxy.cfg", `check inter (\d+)s`)))),
			f("HAProxy and Caddy ask each server every %s seconds", word(number(t, file("deploy/scaling/Caddyfile.upstream", `health_interval (\d+)s`)))),
			f("for %s seconds the others get all", word(number(t, file("deploy/scaling/nginx-upstream.conf", `fail_timeout=(\d+)s`)))),
			f("`limits.stop_delay` of at least %s seconds", word(number(t, file("deploy/scaling/compose.yaml", `STOP_DELAY: (\d+)s`)))),
		},
		"docs/sign-in.md": {
			f("Clocks may differ by %s", one(span("internal/openid", "skew"))),
			f("up to %d levels", n("internal/directory", "maxDepth")),
			f("`check_every`, %s minutes at first", word(minutes(c.LDAP.CheckEvery))),
			f("more than %s, are missing at once", word(n("internal/daemon", "fewPeople"))),
			f("a check %s minutes later or more", word(minutes(span("internal/daemon", "goneFor")))),
			f("no answer for %s people in a row", word(n("internal/daemon", "mostFails"))),
			f("that began it, for %s minutes", word(minutes(span("internal/openid", "FlowLasts")))),
			f("for %s seconds at most", word(seconds(span("internal/openid", "patience")))),
			f("once in %s seconds at most", word(seconds(span("internal/openid", "keysRest")))),
			f("a sign-in of the last %s minutes", word(minutes(span("store", "freshFor")))),
		},
		"docs/monitoring.md": {
			f("answers within %s seconds", word(seconds(span("internal/cli", "healthWait")))),
			f("up to %d webhooks that fail", n("internal/daemon", "mostReceivers")),
			f("takes up to %s seconds while", word(attempt)),
			f("after %s seconds without a request", word(journal("idle"))),
		},
		"docs/install.md": {
			f("more than %ds in total | `TimeoutStopSec=`, %d seconds longer than that total", stop-20, 20),
			f("After %s other failed starts", word(number(t, file("deploy/systemd/pushbox.service", `StartLimitBurst=(\d+)`)))),
			f("failed starts in %s minutes", word(number(t, file("deploy/systemd/pushbox.service", `StartLimitIntervalSec=(\d+)min`)))),
			f("GOTOOLCHAIN=%s ", file("go.mod", `(?m)^toolchain (\S+)`)),
		},
		"docs/recipes.md": {
			f("tries %s wrong passwords or codes", word(number(t, file("deploy/fail2ban/jail.conf", `maxretry = (\d+)`)))),
			f("codes in %s minutes", word(number(t, file("deploy/fail2ban/jail.conf", `findtime = (\d+)m`)))),
		},
		"docs/proxies.md": {
			f("without progress: %s seconds", file("deploy/nginx.conf", `proxy_read_timeout (\d+)s`)),
		},
		"docs/client.md": {
			f("A table has at most %s rows and %d MiB", thousands(n("internal/cli", "maxRows")), mib("internal/cli", "maxTable")),
			f("as long as the server asks, up to %d minutes", minutes(span("internal/cli", "longestWait"))),
		},
		"docs/end-to-end.md": {
			f("at most %s, as every text, so the text has at most %d KiB", text, kib("internal/endtoend", "MaxText")),
		},
		"docs/differences.md": {
			f("There are %d languages", len(lang.Tags())),
			f("one client may have %s live pushes, of %s together", thousands(limits.AnonymousPushes), anonymous),
			f("[a handle](api.md#own-pushes) of %d characters", n("store", "handleLength")),
			f("| there are %s |", languages),
			f("for %d minutes after a view", window),
			f("a secret that works for %d minutes", window),
			f("A name has at most %d bytes, a note %s, a text %s", store.MaxName, note, text),
			"it keeps " + kept,
			f("deeper than %d levels", n("internal/strictjson", "MaxDepth")),
			f("| %d characters, upper and lower case", n("store", "tokenLength")),
			f("| %d wrong passphrases |", limits.PassphrasesPerLife),
		},
		"docs/moving.md": {
			f("longer than pushbox allows (%s; %s characters of a QR code), or its passphrase is (%s bytes)", text, thousands(store.MaxQR), thousands(store.MaxPassphrase)),
			f("a name of more than %d bytes, and a note of more than %s, are cut", store.MaxName, note),
			f("where pushbox's default is %s", thousands(limits.AnonymousPushes)),
		},
		"docs/performance.md": {
			f("%d KiB for each small operation, but at least %d KiB; %d KiB if there is", kib("store/bolt", "bulkPerOp"), kib("store/bolt", "minBulkBytes"), kib("store/bolt", "maxBulkBytes")/2),
			f("and %d MiB after %s such commits", mib("store/bolt", "maxBulkBytes"), word(n("store/bolt", "calmCommits"))),
		},
		"e2e/README.md": {
			f("They need Node %s or later", file("e2e/package.json", `"node": ">=([\d.]+)"`)),
			f("needs Go and Node %s and", file("e2e/openapi/package.json", `"node": ">=([\d.]+)"`)),
			f("%s files run at the same time", word(number(t, file("e2e/package.json", `--test-concurrency=(\d+)`)))),
			f("a deadline of %s seconds", file("e2e/lib/journal.js", `patience = (\d+)_000`)),
		},
		"internal/harness/kill/doc.go": {
			f("the load of %d clients", n("internal/proctest", "Clients")),
			f("has %d clients send and download files", n("internal/harness/kill", "fileClients")),
		},
		"internal/harness/disk/doc.go": {
			f("disks of %d to %d MiB", mib("internal/harness/disk", "smallestDisk"), mib("internal/harness/disk", "largestDisk")),
			f("files of %s clients", word(n("internal/harness/disk", "fillers"))),
		},
		"internal/harness/scale/doc.go": {
			f("to %d readers", n("internal/harness/scale", "readers")),
			f("longer than %s minutes", word(int(proctest.Patience/time.Minute))),
		},
		"internal/harness/soak/doc.go": {
			f("creates %d pushes a second", n("internal/harness/soak", "soakRate")),
			f("From %d on the server must", seconds(span("internal/harness/soak", "soakTwice"))),
			f("shows from %d on", seconds(span("internal/harness/soak", "soakLong"))),
		},
		"store/harness/damage/doc.go": {
			f("%s damages each", thousands(n("store/harness/damage", "damagesPerProcess"))),
		},
		"store/bolt/doc.go": {
			f("After %s rows", thousands(journal("gather"))),
			f("has come for %s seconds", word(journal("idle"))),
			f("from %s rows on", thousands(journal("most"))),
			f("%d of its %d bits", n("store", "timeBits"), 5*n("store", "tokenLength")),
			f("Chunks of files are rows of %d KiB", kib("store/seal", "ChunkSize")),
		},
	} {
		text := string(readFile(t, document))
		if !strings.HasSuffix(document, ".md") {
			text = regexp.MustCompile(`(?m)^\s*(//|#)`).ReplaceAllString(text, "") // it is in comments
		}
		text = strings.Join(strings.Fields(text), " ")
		for _, s := range sentences {
			if !regexp.MustCompile(`(^|[^\d,])` + regexp.QuoteMeta(s) + `(\D|$)`).MatchString(text) { // no part of a longer number
				t.Errorf("%s does not say %q", document, s)
			}
		}
	}
}

// docs/limits.md says how much more than a client each network around it may do.
func TestTheTableOfNetworksIsThatOfTheLimits(t *testing.T) {
	t.Parallel()
	text := string(readFile(t, "docs/limits.md"))
	for client, family := range map[string]string{"192.0.2.7": "IPv4", "2001:db8::/64": "IPv6"} {
		for _, s := range limit.Steps(client)[1:] {
			_, bits, _ := strings.Cut(s.Key, "/")
			if row := fmt.Sprintf("| %s /%s | %d |\n", family, bits, s.Times); !strings.Contains(text, row) {
				t.Errorf("the table does not have %q", row)
			}
		}
	}
}

// Each document that names a file of a release names that of the next one.
func TestTheDocumentsNameTheFilesOfTheRelease(t *testing.T) {
	t.Parallel()
	release, found := inFile(t)("internal/cli/version.go", `release = "([\d.]+)"`), 0
	manuals := env.Must(filepath.Glob(absolute(t, "docs/*.md")))(t)
	for _, document := range append(manuals, absolute(t, "README.md")) {
		for _, m := range regexp.MustCompile(`pushbox[-_:](\d+\.\d+\.\d+)`).FindAllStringSubmatch(string(readFile(t, document)), -1) {
			if found++; m[1] != release {
				t.Errorf("%s has %s, and the release is %s", document, m[0], release)
			}
		}
	}
	if found < 10 {
		t.Errorf("only %d files are named", found)
	}
}

// docs/operating.md names the variable of each setting that is a secret.
func TestTheManualNamesEachSecretOfTheEnvironment(t *testing.T) {
	t.Parallel()
	_, text, _ := strings.Cut(string(readFile(t, "docs/operating.md")), "Secrets can be values of variables")
	text, _, _ = strings.Cut(text, "\n\n")
	got := regexp.MustCompile("`(PUSHBOX_\\w+)`").FindAllString(text, -1)
	var want []string
	for _, key := range secrets(reflect.TypeFor[config.Config](), "") {
		want = append(want, "`PUSHBOX_"+strings.ToUpper(strings.ReplaceAll(key, ".", "_"))+"`")
	}
	slices.Sort(got)
	if slices.Sort(want); !slices.Equal(got, want) {
		t.Errorf("the manual names %q, and the settings have %q", got, want)
	}
}

// secrets are the keys of the settings below a type that are secrets, or lists of entries that
// have one.
func secrets(of reflect.Type, prefix string) (keys []string) {
	for _, f := range reflect.VisibleFields(of) {
		key, section := prefix+f.Tag.Get("mapstructure"), f.Type.PkgPath() == of.PkgPath() && f.Type.Kind() == reflect.Struct
		switch {
		case f.Type == reflect.TypeFor[secret.Text]():
			keys = append(keys, key)
		case section && !f.Anonymous:
			keys = append(keys, secrets(f.Type, key+".")...)
		case f.Type.Kind() == reflect.Slice && f.Type.Elem().PkgPath() == of.PkgPath() && len(secrets(f.Type.Elem(), "")) > 0:
			keys = append(keys, key)
		}
	}
	return keys
}

// docs/webhooks.md describes each event that a webhook can ask for, and the test message.
func TestTheTableOfEventsHasEveryEvent(t *testing.T) {
	t.Parallel()
	var want []string
	for _, e := range append(record.Events(), record.EventTest) {
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

// docs/events.md says of each event of the instance log what the store says of it.
func TestTheInstanceLogHasTheEventsOfItsTable(t *testing.T) {
	t.Parallel()
	var got, want []string
	for _, row := range eventRows(t, "docs/events.md", "What it says") {
		got = append(got, row[1]+": "+row[2])
	}
	for _, k := range record.AdminKinds() {
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
	text := readFile(t, file)
	_, table, _ := strings.Cut(string(text), "| `event` | "+title+" |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	return regexp.MustCompile("(?m)^\\| `([a-z_.]+)` \\| (.*) \\|$").FindAllStringSubmatch(table, -1)
}

// A language is a file of messages, a language of the catalog, and a word that the setting
// default_locale allows.
func TestLanguagesAreTheSameEverywhere(t *testing.T) {
	t.Parallel()
	files := env.Must(filepath.Glob(absolute(t, "internal/lang/messages/*.json")))(t)
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
