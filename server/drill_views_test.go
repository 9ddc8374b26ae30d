package server_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pushbox/store"
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
	a := newAPI(t)
	for _, limit := range []int{1, 2, 1, 3} {
		a.store.Clock.Advance(time.Minute) // to a page, what is gone was never there, and that is limited
		token := a.create(`"payload":"inside it","expire_after_views":` + string(rune('0'+limit)))
		var delivered atomic.Int32
		atOnce(clients, func(i int) {
			method, path := "GET", pushes+"/"+token
			if i%2 == 1 {
				method, path = "POST", "/p/"+token
			}
			got, err := a.try(method, path, "", urlencoded)
			if err != nil {
				t.Error(err)
			}
			if strings.Contains(got.body, "inside it") {
				delivered.Add(1)
			}
		})
		if got := a.trace(token); int(delivered.Load()) > limit || got.views != limit || got.state != store.Expired {
			t.Errorf("%d of %d were delivered: %v", delivered.Load(), limit, got)
		}
	}
}

// jhaals/yopass#2652: between the reading of a secret and its deletion others
// could read it, too (its maintainer holds that they could not). Here only one of
// all gets what opens the files.
func drillRacedDownloads(t *testing.T) {
	a := newAPI(t)
	owner := a.user("ann@example.com")
	for range 4 {
		media, body := filePush{before: map[string]string{"expire_after_views": "1"}, files: []file{{"f", "text/plain", []byte("inside it")}}}.json()
		token := a.post(media, body, owner).want(http.StatusCreated).text("url_token")
		var mu sync.Mutex
		grants := make(map[string]bool)
		atOnce(16, func(int) {
			got, err := a.try("GET", pushes+"/"+token, "")
			var shown struct{ Files []struct{ URL string } }
			if err != nil || json.Unmarshal([]byte(got.body), &shown) != nil {
				t.Error(err, got.status)
			}
			mu.Lock()
			defer mu.Unlock()
			for _, f := range shown.Files {
				grants[f.URL] = true
			}
		})
		if len(grants) != 1 || a.trace(token).views != 1 {
			t.Errorf("%d got the file", len(grants))
		}
		for address := range grants {
			if got := a.get(strings.TrimPrefix(address, a.url)).want(http.StatusOK); got.body != "inside it" {
				t.Errorf("the file is %q", got.body)
			}
		}
	}
}

// jhaals/yopass#2154: a scanner of mail that follows every link got the secret,
// and its reader found none.
func drillScanners(t *testing.T) {
	a := newAPI(t)
	for name, scanner := range scanners {
		token := a.create(`"payload":"inside it","expire_after_views":1,"retrieval_step":false`)
		for _, path := range []string{"/p/" + token, "/p/" + token + "/r", "/f/" + token, "/r/" + token, pushes + "/" + token + "/preview"} {
			if got := a.do(scanner.method, path, "", scanner.header); strings.Contains(got.body, "inside it") {
				t.Errorf("%s gets it at %s", name, path)
			}
		}
		a.get("/p/"+token, navigation()).want(http.StatusOK).page().has("inside it")
	}
}

// GHSA-h5fq-653g-gxrm, ots before 1.21.5: a negative time to live was taken for
// none at all, and what was to vanish stayed for good.
func drillNegativeTime(t *testing.T) {
	a := newAPI(t)
	for _, field := range []string{"expire_after_days", "expire_after_views", "expire_after_duration"} {
		for _, value := range []string{"-1", `"-1"`, "-0.5", "1e9", "9223372036854775808", "-9223372036854775808", "18446744073709551615", `"18446744073709551617"`, "2147483648", "4294967297", "null", `""`, "[1]", "true", "0x7"} {
			for _, body := range []string{`{"push":{"payload":"x","` + field + `":` + value + `}}`, `{"push":{"` + field + `":` + value + `,"payload":"x","expire_after_days_":7}}`} {
				if got := a.do("POST", pushes, body); got.status != http.StatusUnprocessableEntity && got.status != http.StatusBadRequest {
					t.Errorf("%s is answered with %d: %s", body, got.status, got.body)
				}
			}
			if got := a.sendForm(typed(map[string]string{"expire_after_days": "", field: strings.Trim(value, `"`) + "-"})); got.status != http.StatusUnprocessableEntity {
				t.Errorf("the form takes %s=%s-: %d", field, value, got.status)
			}
		}
	}
	token := a.create(`"payload":"x"`) // none given is not for ever
	a.store.Clock.Advance(7 * day)
	a.get(pushes + "/" + token).want(http.StatusOK).has(map[string]string{"expired": "true", "payload": "null"})
}
