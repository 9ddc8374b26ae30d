package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"pushbox/store"
)

func TestEditingLimits(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	_, by := a.signIn("ann@example.com")
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
			p := a.mine(by)
			path := "/p/" + p.Token.Reveal()
			a.get(pushes + path[2:]).want(200)
			a.store.Clock.Advance(2 * day)
			ann := a.signInAgain("ann@example.com")
			got := a.sendOwn(path+"/edit", map[string]string{"days": test.days, "views": test.views}, ann).want(test.status).says(test.says...)
			if at := got.header.Get("Location"); test.status == 303 && at != path+"/audit" {
				t.Errorf("sent to %q", at)
			}
			if strings.Contains(got.body, "<script>") {
				t.Error("what was typed is alive")
			}
			h, err := a.store.History(ctx, by, p.Token, 1)
			if err != nil || h.Push.Days != test.wantDays || h.ViewLimit != test.wantViews || h.ExpiresAt.Sub(h.CreatedAt) != time.Duration(test.wantDays)*day {
				t.Errorf("%d days, %d views, ends after %v, %v", h.Push.Days, h.ViewLimit, h.ExpiresAt.Sub(h.CreatedAt), err)
			}
		})
	}
}

func TestEditingWhatIsLessThanDaysOrHasEnded(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	ann, by := a.signIn("ann@example.com")
	p := a.mine(by, func(in *store.NewPush) { in.Lifetime = time.Hour })
	path := "/p/" + p.Token.Reveal()
	a.get(path+"/audit", ann).says("Leave this empty", `max="90" value=""`)
	a.sendOwn(path+"/edit", map[string]string{"days": "", "views": "9"}, ann).want(303)
	a.get(path+"/audit", ann).says("0 of 9", "60 minutes", "Limits changed")
	a.sendOwn(path+"/edit", map[string]string{"days": "1", "views": "9"}, ann).want(303)
	a.get(path+"/audit", ann).says("24 hours").lacks("Leave this empty")
	a.store.Clock.Advance(day)
	ann = a.signInAgain("ann@example.com")
	a.sendOwn(path+"/edit", map[string]string{"days": "9"}, ann).want(303)
	a.get(path+"/audit", ann).says("Time is over").lacks(`name="days"`)
	a.sendOwn(path+"/edit", map[string]string{"days": "x"}, ann).want(303)
	if got := a.do(http.MethodPost, path+"/edit", `{"days":3}`, ann, http.Header{"Sec-Fetch-Site": {"same-origin"}}); got.status != 415 {
		t.Errorf("JSON: %d", got.status)
	}
	a.do(http.MethodPost, path+"/edit", "days=1&days=2", ann, http.Header{"Sec-Fetch-Site": {"same-origin"}, "Content-Type": {"application/x-www-form-urlencoded"}}).want(400)
}

func TestEditsAndViewsRace(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	ann, by := a.signIn("ann@example.com")
	p := a.mine(by, func(in *store.NewPush) { in.Views = new(40) })
	path := "/p/" + p.Token.Reveal()
	var all sync.WaitGroup
	for i := range 64 {
		all.Go(func() {
			if i%2 == 0 {
				if got, err := a.try("GET", pushes+path[2:], ""); err != nil || got.status != 200 {
					t.Errorf("%d %v", got.status, err)
				}
				return
			}
			form := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "Sec-Fetch-Site": {"same-origin"}}
			if got, err := a.try("POST", path+"/edit", fmt.Sprintf("views=%d", 1+i%16), form, ann); err != nil || got.status != 303 && got.status != 422 {
				t.Errorf("%d %v", got.status, err)
			}
		})
	}
	all.Wait() // and the check of the file at the end compares views and entries
	h, err := a.store.History(ctx, by, p.Token, 1)
	if err != nil || h.PushInfo.Views > h.ViewLimit || h.Live() != (h.PushInfo.Views < h.ViewLimit) {
		t.Errorf("%d views of %d, live: %t, %v", h.PushInfo.Views, h.ViewLimit, h.Live(), err)
	}
}
