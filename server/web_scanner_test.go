package server_test

import (
	"maps"
	"net/http"
	"strings"
	"testing"
)

// agent are the headers of a program that names itself.
func agent(name string, more ...http.Header) http.Header {
	h := http.Header{"User-Agent": {name}}
	for _, m := range more {
		maps.Copy(h, m)
	}
	return h
}

const chromium = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36"

// navigation are the headers of a browser, as it sends them for a person.
func navigation(more ...http.Header) http.Header {
	h := maps.Clone(visit)
	h.Set("Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8")
	h.Set("Upgrade-Insecure-Requests", "1")
	for _, m := range more {
		maps.Copy(h, m)
	}
	return agent(chromium, h)
}

// scanners are requests of programs that look at links which people send, and of
// browsers that fetch ahead. Nobody sees what they are answered.
var scanners = map[string]struct {
	method string
	header http.Header
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

	"Chromium prefetch":             {"GET", navigation(http.Header{"Sec-Purpose": {"prefetch"}, "Purpose": {"prefetch"}})},
	"Chromium prefetch by proxy":    {"GET", navigation(http.Header{"Sec-Purpose": {"prefetch;anonymous-client-ip"}})},
	"Chromium prerender":            {"GET", navigation(http.Header{"Sec-Purpose": {"prefetch;prerender"}, "Purpose": {"prefetch"}})},
	"Chromium link prefetch":        {"GET", agent(chromium, http.Header{"Sec-Fetch-Mode": {"no-cors"}, "Sec-Fetch-Dest": {"empty"}, "Sec-Purpose": {"prefetch"}})},
	"an old name of it":             {"GET", navigation(http.Header{"Purpose": {"Prefetch"}})},
	"Firefox of old":                {"GET", navigation(http.Header{"X-Moz": {"prefetch"}})},
	"Safari's top hit":              {"GET", navigation(http.Header{"X-Purpose": {"preview"}})},
	"a frame":                       {"GET", navigation(http.Header{"Sec-Fetch-Dest": {"iframe"}})},
	"an image":                      {"GET", agent(chromium, http.Header{"Sec-Fetch-Mode": {"no-cors"}, "Sec-Fetch-Dest": {"image"}})},
	"a script's fetch":              {"GET", agent(chromium, http.Header{"Sec-Fetch-Mode": {"cors"}, "Sec-Fetch-Dest": {"empty"}})},
	"a browser on plain HTTP":       {"GET", agent(chromium, http.Header{"Accept": {"text/html"}, "Upgrade-Insecure-Requests": {"1"}})},
	"HEAD that looks like a person": {"HEAD", navigation()},
}

func TestWhoPressesNothingCountsNoView(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	for name, test := range scanners {
		for _, step := range []string{"true", "false"} {
			token := a.create(`"payload":"inside it","retrieval_step":` + step)
			before := a.trace(token)
			for _, path := range []string{"/p/" + token, "/p/" + token + "/r", "/f/" + token, "/p/" + token + "?utm_source=x"} {
				got := a.do(test.method, path, "", test.header)
				if got.status >= 500 || strings.Contains(got.body, "inside it") || got.header.Get("Set-Cookie") != "" {
					t.Errorf("%s: %d %v", name, got.status, got.header)
				}
			}
			if after := a.trace(token); after != before {
				t.Errorf("%s, with a step %s: %v became %v", name, step, before, after)
			}
		}
	}
}

func TestAPersonFollowsALinkFromAnywhere(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	for _, from := range []http.Header{
		{"Sec-Fetch-Site": {"cross-site"}},
		{"Sec-Fetch-Site": {"none"}},
		{"Sec-Fetch-Site": {"same-origin"}},
		{"Referer": {"https://teams.example/"}, "Cookie": {"other=1"}},
	} {
		token := a.create(`"payload":"inside it","retrieval_step":false`)
		a.get("/p/"+token+"?utm_source=chat", navigation(from)).want(http.StatusOK).page().has("inside it")
		if after := a.trace(token); after.views != 1 {
			t.Errorf("%v: %v", from, after)
		}
	}
}
