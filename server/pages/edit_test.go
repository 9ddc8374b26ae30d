package pages_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"pushbox/server/servertest"
	"pushbox/store"
)

func TestEditingLimits(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	a.AddSessionUser("ann@example.com")
	by := a.Actor("ann@example.com")
	for name, test := range map[string]struct {
		days, views string
		status      int
		wantDays    int
		wantViews   int
		says        []string
	}{
		"longer":                {"90", "100", 303, 90, 100, nil},
		"shorter":               {"3", "2", 303, 3, 2, nil},
		"as it was":             {"7", "5", 303, 7, 5, nil},
		"nothing":               {"", " ", 303, 7, 5, nil},
		"days alone":            {" 8 ", "", 303, 8, 5, nil},
		"too long":              {"91", "5", 422, 7, 5, []string{"Days must be a whole number from 3 to 90.", `value="91"`}},
		"too many views":        {"7", "101", 422, 7, 5, []string{"Views must be a whole number from 2 to 100.", `value="101"`}},
		"over already":          {"2", "5", 422, 7, 5, []string{"Days must be a whole number"}},
		"viewed as often":       {"8", "1", 422, 7, 5, []string{"Views must be a whole number"}},
		"no number":             {"<script>", "x\"", 422, 7, 5, []string{"Days must be", "Views must be", `aria-invalid="true"`}},
		"a fraction":            {"7.5", "5", 422, 7, 5, []string{"Days must be"}},
		"more than a number is": {"99999999999999999999", "2147483648", 422, 7, 5, []string{"Days must be", "Views must be"}},
		"more than time lasts":  {"9223372036854775807", "", 422, 7, 5, []string{"Days must be"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := a.Mine(by)
			path := "/p/" + p.Token.Reveal()
			a.Get(pushes + path[2:]).Want(200)
			a.Store.Clock.Advance(2 * day)
			ann := a.SignInAgain("ann@example.com")
			got := a.SendOwn(path+"/edit", map[string]string{"days": test.days, "views": test.views}, ann).Want(test.status).Says(test.says...)
			if at := got.Header.Get("Location"); test.status == 303 && at != path+"/audit" {
				t.Errorf("sent to %q", at)
			}
			if strings.Contains(got.Body, "<script>") {
				t.Error("what was typed is alive")
			}
			h, err := a.Store.History(ctx, by, p.Token, 1)
			if err != nil || h.Push.Days != test.wantDays || h.ViewLimit != test.wantViews || h.ExpiresAt.Sub(h.CreatedAt) != time.Duration(test.wantDays)*day {
				t.Errorf("%d days, %d views, ends after %v, %v", h.Push.Days, h.ViewLimit, h.ExpiresAt.Sub(h.CreatedAt), err)
			}
		})
	}
}

func TestEditingAPushWithATimeInHoursOrAnEndedOne(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ann, by := a.AddSessionUser("ann@example.com"), a.Actor("ann@example.com")
	p := a.Mine(by, func(in *store.NewPush) { in.Lifetime = time.Hour })
	path := "/p/" + p.Token.Reveal()
	a.Get(path+"/audit", ann).Says("Leave this empty", `max="90" value=""`)
	a.SendOwn(path+"/edit", map[string]string{"days": "", "views": "9"}, ann).Want(303)
	a.Get(path+"/audit", ann).Says("0 of 9", "60 minutes", "Name or limits changed")
	a.SendOwn(path+"/edit", map[string]string{"days": "1", "views": "9"}, ann).Want(303)
	a.Get(path+"/audit", ann).Says("24 hours").Lacks("Leave this empty")
	a.Store.Clock.Advance(day)
	ann = a.SignInAgain("ann@example.com")
	a.SendOwn(path+"/edit", map[string]string{"days": "9"}, ann).Want(303)
	a.Get(path+"/audit", ann).Says("Expired").Lacks(`name="days"`)
	a.SendOwn(path+"/edit", map[string]string{"days": "x"}, ann).Want(303)
	if got := a.Do(http.MethodPost, path+"/edit", `{"days":3}`, ann, http.Header{"Sec-Fetch-Site": {"same-origin"}}); got.Status != 415 {
		t.Errorf("JSON: %d", got.Status)
	}
	a.Do(http.MethodPost, path+"/edit", "days=1&days=2", ann, http.Header{"Sec-Fetch-Site": {"same-origin"}, "Content-Type": {"application/x-www-form-urlencoded"}}).Want(400)
}

// The owner names a push on its receipt or on its page. No other reader of the receipt can.
func TestANameIsGivenAfterwards(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ann := a.AddSessionUser("ann@example.com")
	receipt := a.NewReceipt(ann)
	path := strings.Split(receipt, "/receipt/")[0]
	code := strings.TrimPrefix(receipt, path+"/receipt/")
	a.Get(receipt, ann).Says("Add a name", `action="`+path+`/edit"`)
	a.Get(receipt).Lacks("Name it", "See it in my pushes")
	saved := a.SendOwn(path+"/edit", map[string]string{"name": "root <of> web-03", "note": "first\r\nsecond", "receipt": code}, ann).Want(303)
	if at := saved.Header.Get("Location"); at != receipt {
		t.Errorf("it leads to %s", at)
	}
	a.Get(receipt, ann).Says("root <of> web-03", "first\nsecond")
	a.Get(receipt).Lacks("root <of> web-03", "first\nsecond")
	a.Get("/p", ann).Says("root <of> web-03")
	a.SendOwn(path+"/edit", map[string]string{"views": "9"}, ann).To(path + "/audit")
	a.Get(path+"/audit", ann).Says("root <of> web-03", "first\nsecond", "Name or limits changed")
	a.SendOwn(path+"/edit", map[string]string{"name": strings.Repeat("é", 128), "note": strings.Repeat("x", store.MaxNote+1), "days": "9"}, ann).
		Want(422).Says("Nothing was changed", "The name is too long: at most 255 bytes.", "The note is too long: at most 10 KiB.")
	a.SendOwn(path+"/edit", map[string]string{"name": " ", "note": ""}, ann).To(path + "/audit")
	a.Get(path+"/audit", ann).Says("7 days").Lacks("root <of> web-03", "second")
	a.Send(path+"/edit", map[string]string{"name": "of another", "receipt": code}).To("/users/sign_in")
}
