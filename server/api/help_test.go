package api_test

import (
	"html"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/server/action"
	"pushbox/server/api"
	"pushbox/server/servertest"
)

var anchors = regexp.MustCompile(`href="#([^"]+)"`)

func TestTheHelpPageHasEveryEndpointOfTheAPI(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	page := a.Get("/help/api").Want(http.StatusOK)
	page.Says("/api/v2/openapi.json", "/api/v2/version", "/api/v2/pushes", "/api/v2/pushes/{url_token}/audit", "expire_after_days", "X-Push-Passphrase",
		`curl -s "`+a.URL+`/api/v2/version"`, "Authorization: Bearer $API_TOKEN", "Bounds: 1 to 90")
	for _, m := range anchors.FindAllStringSubmatch(page.Body, -1) {
		if strings.Count(page.Body, ` id="`+m[1]+`"`) != 1 {
			t.Errorf("#%s leads nowhere, or to two places", m[1])
		}
	}
	for _, row := range action.Served(new(api.Service).Routes(), false) {
		if !row.Has(action.IsPage) && !row.Has(action.IsV1) && strings.Count(page.Body, ` id="`+row.Name+`"`) != 1 {
			t.Errorf("the route %s is not there", row.Name)
		}
	}
	if strings.Contains(page.Body, "http-equiv") || strings.Contains(page.Body, " style=") {
		t.Error("something is inline")
	}
}

func TestTheHelpDescribesVersion1ApartAndOnlyWhereItIs(t *testing.T) {
	t.Parallel()
	const told = "API version 1, which Password Pusher calls deprecated"
	for _, on := range []bool{true, false} {
		a := servertest.New(t, func(c *config.Config) { c.EnableAPIv1 = on })
		page, document := a.Get("/help/api").Want(http.StatusOK), a.Get("/api/v2/openapi.json").Want(http.StatusOK)
		for _, text := range []string{
			"/api/v1/version", "POST <code>/p.json", "<code>password</code>", "<code>/f.json", "<code>file_push</code>", "<code>/r.json", "<code>url</code>",
			"/p/{url_token}.json", "/p/{url_token}/preview.json", "/p/{url_token}/audit.json", "/p/active.json", "/p/expired.json",
			`id="v1"`,
		} {
			if strings.Contains(page.Body, text) != on {
				t.Errorf("with version 1 %v: whether it has %s", on, text)
			}
		}
		if strings.Contains(document.Body, told) != on || strings.Contains(document.Body, "/p.json") || a.Get("/api/v1/openapi.json").Status == http.StatusOK != on {
			t.Errorf("with version 1 %v, the document says of it: %v", on, !on)
		}
	}
}

func TestTheHelpPageIsOpenToAllAndSaysItsLanguage(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, func(c *config.Config) { c.AllowAnonymous, c.BaseURL = false, "https://push.example.com" })
	page := a.Get("/help/api", http.Header{"Accept-Language": {"de"}}).Want(http.StatusOK)
	page.Says("https://push.example.com/api/v2/version", "callers with a valid API token").Lacks(a.URL)
	if strings.Count(page.Body, `lang="en"`) < 2 {
		t.Error("its prose does not say that it is English")
	}
	a.Do(http.MethodPost, "/help/api", "", http.Header{"Sec-Fetch-Site": {"same-origin"}}).Want(http.StatusMethodNotAllowed)
}

// Every command that the help page shows works as it is shown.
func TestTheHelpsCommandsWork(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("the help shows curl, and it is not installed here")
	}
	for _, name := range []string{"as it comes", "members only"} {
		a := servertest.New(t, settings[name], servertest.SendsMail)
		ann := a.AddTokenUser("ann@example.com")
		commands := helpCommands(a)
		maps.DeleteFunc(commands, func(id, _ string) bool { return isAdminCall(id) })
		if len(commands) != len(calls) {
			t.Errorf("%s: %d commands", name, len(commands))
		}
		for id, command := range commands {
			pushed := a.PushFiles("ann@example.com", []byte("hello"))
			cmd := exec.CommandContext(t.Context(), "sh", "-c", command+" -w '\n%{http_code}'")
			cmd.Dir = t.TempDir()
			cmd.Env = append(
				os.Environ(), "TOKEN="+pushed.Token.Reveal(), "GRANT="+pushed.Grant(),
				"API_TOKEN="+strings.TrimPrefix(ann.Get("Authorization"), "Bearer "),
			)
			want := "\n200"
			switch id {
			case "create", "notify_emails":
				want = "\n201"
			case "certificate": // the push is live
				want = "\n409"
			}
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.HasSuffix(string(out), want) {
				t.Errorf("%s: %s: %v: %s", name, command, err, out)
			}
		}
	}
}

// helpCommands returns the commands that the help page shows, by endpoint.
func helpCommands(a *servertest.Server) map[string]string {
	commands := make(map[string]string)
	page := a.Get(action.HelpPath).Want(http.StatusOK).Body
	for _, found := range regexp.MustCompile(`id="(\w+)-command">([^<]*)</pre>`).FindAllStringSubmatch(page, -1) {
		commands[found[1]] = strings.ReplaceAll(html.UnescapeString(found[2]), "http://push.example.com", a.URL) // as the kit asks
	}
	return commands
}
