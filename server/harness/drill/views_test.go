package drill_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pushbox/server/servertest"
	"pushbox/store/record"
)

// atOnce does something in n goroutines that begin together, and waits for them.
func atOnce(n int, do func(i int)) {
	var wg sync.WaitGroup
	begin := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-begin
			do(i)
		})
	}
	close(begin)
	wg.Wait()
}

// GHSA-6q3c-57pp-wvpp, Password Pusher before 2.11.1: whether there are views left
// was asked first and the view counted later, so that all who asked meanwhile got
// the secret.
func drillRacedViews(t *testing.T) {
	const clients = 24
	a := servertest.New(t)
	for _, limit := range []int{1, 2, 1, 3} {
		a.Store.Clock.Advance(time.Minute) // to a page, what is gone was never there, and that is limited
		token := a.Create(`"payload":"inside it","expire_after_views":` + string(rune('0'+limit)))
		var delivered atomic.Int32
		atOnce(clients, func(i int) {
			method, path := "GET", pushes+"/"+token
			if i%2 == 1 {
				method, path = "POST", "/p/"+token
			}
			got, err := a.Try(method, path, "", servertest.Urlencoded)
			if err != nil {
				t.Error(err)
			}
			if strings.Contains(got.Body, "inside it") {
				delivered.Add(1)
			}
		})
		if got := a.Trace(token); int(delivered.Load()) > limit || got.Views != limit || got.State != record.Expired {
			t.Errorf("%d of %d were delivered: %v", delivered.Load(), limit, got)
		}
	}
}

// jhaals/yopass#2652: between the reading of a secret and its deletion others
// could read it, too (its maintainer holds that they could not). Here only one of
// all gets what opens the files.
func drillRacedDownloads(t *testing.T) {
	a := servertest.New(t)
	owner := a.AddTokenUser("ann@example.com")
	for range 4 {
		media, body := servertest.FilePush{Before: map[string]string{"expire_after_views": "1"}, Files: []servertest.File{{Name: "f", Media: "text/plain", Content: []byte("inside it")}}}.JSON()
		token := a.Post(media, body, owner).Want(http.StatusCreated).Text("url_token")
		var mu sync.Mutex
		grants := make(map[string]bool)
		atOnce(16, func(int) {
			got, err := a.Try("GET", pushes+"/"+token, "")
			var shown struct{ Files []struct{ URL string } }
			if err != nil || json.Unmarshal([]byte(got.Body), &shown) != nil {
				t.Error(err, got.Status)
			}
			mu.Lock()
			defer mu.Unlock()
			for _, f := range shown.Files {
				grants[f.URL] = true
			}
		})
		if len(grants) != 1 || a.Trace(token).Views != 1 {
			t.Errorf("%d got the file", len(grants))
		}
		for address := range grants {
			if got := a.Get(strings.TrimPrefix(address, a.URL)).Want(http.StatusOK); got.Body != "inside it" {
				t.Errorf("the file is %q", got.Body)
			}
		}
	}
}

// jhaals/yopass#2154: a scanner of mail that follows every link got the secret,
// and its reader found none.
func drillScanners(t *testing.T) {
	a := servertest.New(t)
	for name, scanner := range servertest.Scanners {
		token := a.Create(`"payload":"inside it","expire_after_views":1,"retrieval_step":false`)
		before := a.Trace(token)
		for _, path := range []string{"/p/" + token, "/p/" + token + "/r", "/p/" + token + "?utm_source=x", "/f/" + token, "/r/" + token, pushes + "/" + token + "/preview"} {
			if got := a.Do(scanner.Method, path, "", scanner.Header); strings.Contains(got.Body, "inside it") {
				t.Errorf("%s gets it at %s", name, path)
			}
		}
		if after := a.Trace(token); after != before {
			t.Errorf("%s: %v became %v", name, before, after)
		}
		a.Get("/p/"+token, servertest.Navigation()).Want(http.StatusOK).Page().Has("inside it")
	}
}

// GHSA-h5fq-653g-gxrm, ots before 1.21.5: a negative time to live was taken for
// none at all, and what was to vanish stayed for good.
func drillNegativeTime(t *testing.T) {
	a := servertest.New(t)
	for _, field := range []string{"expire_after_days", "expire_after_views", "expire_after_duration"} {
		for _, value := range []string{"-1", `"-1"`, "-0.5", "1e9", "9223372036854775808", "-9223372036854775808", "18446744073709551615", `"18446744073709551617"`, "2147483648", "4294967297", `"null"`, `"undefined"`, "[1]", "true", "0x7"} {
			for _, body := range []string{`{"push":{"payload":"x","` + field + `":` + value + `}}`, `{"push":{"` + field + `":` + value + `,"payload":"x","expire_after_days_":7}}`} {
				if got := a.Do("POST", pushes, body); got.Status != http.StatusUnprocessableEntity && got.Status != http.StatusBadRequest {
					t.Errorf("%s is answered with %d: %s", body, got.Status, got.Body)
				}
			}
			if got := a.SendForm(servertest.Typed(map[string]string{"expire_after_days": "", field: strings.Trim(value, `"`) + "-"})); got.Status != http.StatusUnprocessableEntity {
				t.Errorf("the form takes %s=%s-: %d", field, value, got.Status)
			}
		}
	}
	token := a.Create(`"payload":"x"`) // none given is not for ever
	a.Store.Clock.Advance(7 * day)
	a.Get(pushes + "/" + token).Want(http.StatusOK).Has(map[string]string{"expired": "true", "payload": "null"})
}
