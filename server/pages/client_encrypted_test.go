package pages_test

import (
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/internal/endtoend"
	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/server/servertest"
	"pushbox/store"
)

// The page of a push that its sender encrypted tells the sizes of what the files hold. Their
// names are not known here.
func TestThePageTellsTheSizesOfEncryptedFiles(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	sealed, err := io.ReadAll(endtoend.NewKey().Encrypt(1, strings.NewReader(strings.Repeat("x", 20))))
	env.OK(t, err)
	for payload, want := range map[string][2]string{servertest.Envelope(t, "x"): {"Encrypted file 20 B", "43 B"}, "in clear": {"1.bin 43 B", "Encrypted"}} {
		p := a.PushNamed("ann@example.com", func(in *store.NewPush, u *store.Upload) {
			in.Payload = secret.New(payload)
			u.Describe("1.bin", "")
		}, sealed)
		page := a.Send("/p/"+p.Token.Reveal(), nil).Want(http.StatusOK).Page()
		page.Has(want[0]).Lacks(want[1])
		if links := page.Find(func(n servertest.Node) bool { return servertest.Attr(n, "data-size") == "43" }); len(links) != 1 {
			t.Errorf("%s: the script learns no length of the download", want[0])
		}
	}
}

// A sender knows the text, and not how long its envelope is.
func TestTheLimitOfAnEncryptedTextIsToldForTheTextItself(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	longest := servertest.Envelope(t, strings.Repeat("x", endtoend.MaxText))
	a.SendForm(servertest.Typed(map[string]string{"payload": longest})).PushToken()
	longer := a.SendForm(servertest.Typed(map[string]string{"payload": servertest.Envelope(t, strings.Repeat("x", endtoend.MaxText+1024))}))
	if told := strings.Join(longer.Problems(), ""); !strings.Contains(told, "at most 767\u00a0KiB") {
		t.Error(told)
	}
}

func TestThePageEncryptsAsItsSettingSays(t *testing.T) {
	t.Parallel()
	for setting, want := range map[string][]string{
		"off":      nil,
		"offered":  {`id="encrypt"`},
		"default":  {`id="encrypt"`, ` checked><span>`},
		"required": {`id="encrypt"`, ` checked disabled><span>`, "only if your browser encrypts them"},
	} {
		a := servertest.New(t, func(c *config.Config) { c.ClientEncryption = setting })
		page := a.Get("/").Want(http.StatusOK).Body
		for _, text := range want {
			if !strings.Contains(page, text) {
				t.Errorf("%s: the page has no %s", setting, text)
			}
		}
		if setting == "off" && strings.Contains(page, "endtoend") {
			t.Error("off: the page loads the script")
		}
		for payload, most := range map[string]int{"in clear": http.StatusUnprocessableEntity, servertest.Envelope(t, "x"): http.StatusSeeOther} {
			status := http.StatusSeeOther
			if setting == "required" {
				status = most
			}
			form := url.Values{"push[kind]": {"text"}, "push[payload]": {payload}, "push[expire_after_days]": {"7"}, "push[expire_after_views]": {"5"}}
			a.Do("POST", "/", form.Encode(), http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}).Want(status)
		}
		a.Do("POST", pushes, `{"push":{"payload":"in clear"}}`).Want(http.StatusCreated)
	}
}

func TestAPushThatItsSenderEncryptedWaitsForAKey(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	token := a.Create(`"payload":"` + servertest.Envelope(t, "x") + `","retrieval_step":false`)
	visit := http.Header{"Sec-Fetch-Mode": {"navigate"}, "Sec-Fetch-Dest": {"document"}}
	page := a.Get("/p/"+token, visit).Want(http.StatusOK).Body
	for _, text := range []string{`id="open" hidden`, "No view was used.", "encrypted."} {
		if !strings.Contains(page, text) {
			t.Errorf("the page has no %s", text)
		}
	}
	if strings.Contains(a.Get("/p/"+token+"/preview").Want(http.StatusOK).Body, "<svg class=\"qr\"") {
		t.Error("there is a QR code of a link without its key")
	}
	a.Get(pushes + "/" + token).Want(http.StatusOK).Has(map[string]string{"views_remaining": "4"})
}

func TestTheOwnerIsGivenNoLinkWithoutItsKey(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	session := a.AddSessionUser("ann@example.com")
	create := func(payload string) string {
		made := a.Send("/", map[string]string{
			"push[kind]": "text", "push[payload]": payload, "push[name]": "x", "push[retrieval_step]": "on",
			"push[expire_after_days]": "7", "push[expire_after_views]": "5",
		}, session).Want(http.StatusSeeOther)
		return regexp.MustCompile(`[a-z2-7]{34}`).FindString(made.Header.Get("Location"))
	}
	plain, sealed := create("x"), create(servertest.Envelope(t, "x"))
	list := a.Get("/p", session).Want(http.StatusOK).Body
	for token, want := range map[string]bool{plain: true, sealed: false} {
		link := "/p/" + token + "/r<"
		if got := strings.Contains(list, link); got != want {
			t.Errorf("the list has the link: %v", got)
		}
		if got := strings.Contains(a.Get("/p/"+token+"/audit", session).Want(http.StatusOK).Body, `id="link"`); got != want {
			t.Errorf("the page of the push has the link: %v", got)
		}
	}
}
