package servertest

import (
	"maps"
	"net/http"
)

// agent returns the headers of a program with that User-Agent.
func agent(name string, more ...http.Header) http.Header {
	h := http.Header{"User-Agent": {name}}
	for _, m := range more {
		maps.Copy(h, m)
	}
	return h
}

const chromium = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36"

// Navigation returns all headers of a browser in which a person opens a link.
func Navigation(more ...http.Header) http.Header {
	h := maps.Clone(Visit)
	h.Set("Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8")
	h.Set("Upgrade-Insecure-Requests", "1")
	for _, m := range more {
		maps.Copy(h, m)
	}
	return agent(chromium, h)
}

// Scanners are requests of programs that inspect links in messages, and of browsers
// that prefetch. No person sees the answers.
var Scanners = map[string]struct {
	Method string
	Header http.Header
}{
	"Slack unfurling":          {"GET", agent("Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)", http.Header{"Range": {"bytes=0-32768"}, "Accept": {"*/*"}})},
	"Slack images":             {"GET", agent("Slack-ImgProxy (+https://api.slack.com/robots)")},
	"Teams":                    {"GET", agent("Mozilla/5.0 (Windows NT 6.1; WOW64) SkypeUriPreview Preview/0.5 skype-url-preview@microsoft.com")},
	"Teams in another way":     {"GET", agent("Mozilla/5.0 (compatible; MicrosoftPreview/2.0; +https://aka.ms/MicrosoftPreview) Chrome/142.0.0.0 Safari/537.36", http.Header{"Accept": {"text/html"}})},
	"WhatsApp":                 {"GET", agent("WhatsApp/2.23.20.0", http.Header{"Accept": {"text/html"}, "Accept-Language": {"en"}})},
	"Outlook Safe Links":       {"GET", agent(chromium, http.Header{"Accept": {"text/html,*/*"}, "X-Forwarded-For": {"40.94.0.1"}})},
	"Outlook Safe Links, HEAD": {"HEAD", agent(chromium)},
	"Telegram":                 {"GET", agent("TelegramBot (like TwitterBot)")},
	"Facebook":                 {"GET", agent("facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)", http.Header{"Range": {"bytes=0-524287"}})},
	"Discord":                  {"GET", agent("Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)")},
	"Google":                   {"GET", agent("Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", http.Header{"From": {"googlebot(at)googlebot.com"}})},
	"curl":                     {"GET", agent("curl/8.14.1", http.Header{"Accept": {"*/*"}})},
	"curl -I":                  {"HEAD", agent("curl/8.14.1")},
	"OPTIONS":                  {"OPTIONS", agent("Microsoft Office Protocol Discovery")},
	"PROPFIND":                 {"PROPFIND", agent("Microsoft-WebDAV-MiniRedir/10.0.19045")},
	"nothing at all":           {"GET", agent("")},

	"Chromium prefetch":             {"GET", Navigation(http.Header{"Sec-Purpose": {"prefetch"}, "Purpose": {"prefetch"}})},
	"Chromium prefetch by proxy":    {"GET", Navigation(http.Header{"Sec-Purpose": {"prefetch;anonymous-client-ip"}})},
	"Chromium prerender":            {"GET", Navigation(http.Header{"Sec-Purpose": {"prefetch;prerender"}, "Purpose": {"prefetch"}})},
	"Chromium link prefetch":        {"GET", agent(chromium, http.Header{"Sec-Fetch-Mode": {"no-cors"}, "Sec-Fetch-Dest": {"empty"}, "Sec-Purpose": {"prefetch"}})},
	"prefetch by an old name":       {"GET", Navigation(http.Header{"Purpose": {"Prefetch"}})},
	"an old Firefox":                {"GET", Navigation(http.Header{"X-Moz": {"prefetch"}})},
	"Safari's top hit":              {"GET", Navigation(http.Header{"X-Purpose": {"preview"}})},
	"a frame":                       {"GET", Navigation(http.Header{"Sec-Fetch-Dest": {"iframe"}})},
	"an image":                      {"GET", agent(chromium, http.Header{"Sec-Fetch-Mode": {"no-cors"}, "Sec-Fetch-Dest": {"image"}})},
	"a script's fetch":              {"GET", agent(chromium, http.Header{"Sec-Fetch-Mode": {"cors"}, "Sec-Fetch-Dest": {"empty"}})},
	"a browser on plain HTTP":       {"GET", agent(chromium, http.Header{"Accept": {"text/html"}, "Upgrade-Insecure-Requests": {"1"}})},
	"HEAD that looks like a person": {"HEAD", Navigation()},
}
