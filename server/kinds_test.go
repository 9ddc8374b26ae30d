package server_test

import (
	"encoding/base64"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/internal/instance"
	"pushbox/internal/lang"
	"pushbox/internal/metrics"
	"pushbox/internal/testkit/env"
	"pushbox/server/servertest"
	"pushbox/store/record"
)

// samples are the members of a push of each kind, and what its page shows.
var samples = map[record.Kind]struct{ members, shown string }{
	record.Text: {`"payload":"kind sample"`, "kind sample"},
	record.File: {`"files":[{"filename":"kind-sample.txt","content":"` + base64.StdEncoding.EncodeToString([]byte("x")) + `"}]`, "kind-sample.txt"},
	record.URL:  {`"payload":"https://kind-sample.example/"`, "kind-sample.example"},
	record.QR:   {`"payload":"kind sample"`, "kind sample"},
}

// This test names every place that must know a new kind.
func TestEachKindHasEverythingAKindNeeds(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, servertest.AllKinds)
	ann := a.AddTokenUser("ann@example.com")
	browser := a.AddSessionUser("bob@example.com")
	form := a.Get("/", browser).Want(http.StatusOK).Body
	document := a.Get("/api/v2/openapi.json").Want(http.StatusOK).Body
	m := metrics.New("3.0.0")
	_, scraped, err := m.Expose()
	env.OK(t, err)
	cfg := config.Default()
	servertest.AllKinds(&cfg)
	terms := instance.StoreOptions(cfg).Terms
	style, err := os.ReadFile("web/static/style.css")
	env.OK(t, err)
	manual, err := os.ReadFile("../docs/api.md")
	env.OK(t, err)
	words := lang.New()
	for _, k := range record.Kinds() {
		name := k.String()
		lacks := func(what, where string) { t.Errorf("kind %s lacks %s: see %s", name, what, where) }
		if got := terms[k]; !got.Enabled || got.Days.Max == 0 || got.Views.Max == 0 {
			lacks("settings and terms", "config/config.go and internal/instance/options.go")
		}
		for _, tag := range lang.Tags() {
			for _, prefix := range []string{"create_kind_", "create_payload_", "list_kind_", "step_kind_"} {
				if key := prefix + name; words.Choose(tag, "", tag).Text(key) == key {
					lacks("the message "+key, "internal/lang/messages/"+tag+".json")
				}
			}
		}
		if !strings.Contains(string(style), "[value="+name+"]:checked) .for:not(."+name+")") {
			lacks("a rule that hides the fields of other kinds", "server/web/static/style.css")
		}
		if !strings.Contains(form, `id="kind-`+name+`"`) {
			lacks("a choice in the form", "server/pages/create_kinds.go and server/web/templates/create.html")
		}
		if !strings.Contains(document, `{"kind":{"enum":["`+name+`"]}`) {
			lacks("a rule in the OpenAPI document", "server/openapi/api.yaml")
		}
		if !strings.Contains(string(scraped), `pushbox_creates_total{kind="`+name+`"} 0`) {
			lacks("a label", "internal/metrics/pushes.go")
		}
		if !slices.ContainsFunc(strings.Split(string(manual), "\n"), func(line string) bool {
			return strings.HasPrefix(line, "| `kind` |") && strings.Contains(line, "`"+name+"`")
		}) {
			lacks("a word in the table of fields", "docs/api.md")
		}
		sample, ok := samples[k]
		if !ok {
			lacks("a sample", "samples above")
			continue
		}
		token := a.Create(`"kind":"`+name+`",`+sample.members, ann)
		if opened := a.Send("/p/"+token, nil).Want(http.StatusOK); !strings.Contains(opened.Body, sample.shown) {
			lacks("a page that shows it", "server/pages/reveal.go and server/web/templates/reveal.html")
		}
	}
}
