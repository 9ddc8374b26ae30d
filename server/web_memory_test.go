package server_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"pushbox/config"
	"pushbox/store"
)

// A reader is a client that takes nothing of an answer until it may.
type reader struct {
	*httptest.ResponseRecorder
	began chan struct{}
	may   chan struct{}
	first bool
}

func (r *reader) Write(b []byte) (int, error) {
	if !r.first {
		r.first = true
		close(r.began)
	}
	<-r.may
	return r.ResponseRecorder.Write(b)
}

// unread sends a request whose answer is not read until read was called, which then
// returns it.
func (a *api) unread(method, path, body string, header http.Header) (read func() *httptest.ResponseRecorder) {
	w := &reader{ResponseRecorder: httptest.NewRecorder(), began: make(chan struct{}), may: make(chan struct{})}
	hr := httptest.NewRequest(method, path, strings.NewReader(body))
	hr.Header = header.Clone()
	done := make(chan struct{})
	go func() {
		defer close(done)
		a.handler.ServeHTTP(w, hr)
	}()
	<-w.began
	return func() *httptest.ResponseRecorder {
		close(w.may)
		<-done
		return w.ResponseRecorder
	}
}

// memoryOf bounds the memory of bodies and that of opened pushes, and waits no longer
// than a second.
func memoryOf(size config.Size) func(*config.Config) {
	return func(c *config.Config) {
		c.Limits.BodyMemory, c.Limits.RequestTimeout = size, time.Second
		c.Limits.MaxBody = 8 << 20
	}
}

var quotes = strings.Repeat(`"`, store.MaxText)

func TestPagesThatNobodyReadsTakeBoundedMemory(t *testing.T) {
	t.Parallel()
	a := newAPI(t, memoryOf(16<<20))
	long := a.create(`"payload":` + quoted(quotes))
	small := a.create(`"payload":"x"`)
	var reads []func() *httptest.ResponseRecorder
	for range 2 {
		reads = append(reads, a.unread("POST", "/p/"+long, "", urlencoded))
	}
	if _, held := a.handler.Held(); held < 10*store.MaxText || held > 11*store.MaxText {
		t.Errorf("two pages hold %d bytes", held)
	}
	before := a.trace(long)
	got := a.send("/p/"+long, nil).want(http.StatusServiceUnavailable)
	if got.header.Get("Retry-After") == "" {
		t.Error("it does not say when to try again")
	}
	if after := a.trace(long); after != before {
		t.Errorf("a view was counted: %+v, %+v", before, after)
	}
	a.send("/p/"+small, nil).want(http.StatusOK)    // and does not wait for the others
	a.sendForm(typed(nil)).want(http.StatusCreated) // what opens pushes is apart from what makes them
	for _, read := range reads {
		if w := read(); w.Code != http.StatusOK || w.Body.Len() < 5*store.MaxText {
			t.Errorf("%d, %d bytes", w.Code, w.Body.Len())
		}
	}
	if bodies, reveals := a.handler.Held(); bodies != 0 || reveals != 0 {
		t.Errorf("%d and %d bytes stay held", bodies, reveals)
	}
}

// What an answer of the API takes is bounded, too, and small ones go on.
func TestAnswersThatNobodyReadsTakeBoundedMemory(t *testing.T) {
	t.Parallel()
	a := newAPI(t, memoryOf(16<<20))
	long, small := pushes+"/"+a.create(`"payload":`+quoted(quotes)), pushes+"/"+a.create(`"payload":"x"`)
	var reads []func() *httptest.ResponseRecorder
	for range 2 {
		reads = append(reads, a.unread("GET", long, "", nil))
	}
	if _, held := a.handler.Held(); held < 6*store.MaxText || held > 10*store.MaxText {
		t.Errorf("two answers hold %d bytes", held)
	}
	a.do("GET", long, "").want(http.StatusServiceUnavailable)
	a.do("GET", small, "").want(http.StatusOK)
	for _, read := range reads {
		if w := read(); w.Code != http.StatusOK || w.Body.Len() < 2*store.MaxText {
			t.Errorf("%d, %d bytes", w.Code, w.Body.Len())
		}
	}
	if _, held := a.handler.Held(); held != 0 {
		t.Errorf("%d bytes stay held", held)
	}
	if got := a.do("GET", long, "").want(http.StatusOK); !strings.Contains(string(got.body), `"views_remaining":2,`) {
		t.Error("what was refused counted a view")
	}
}

// While a small text is shown, it takes none of the memory.
func TestSmallPagesThatNobodyReadsLeaveTheMemoryToOthers(t *testing.T) {
	t.Parallel()
	a := newAPI(t, memoryOf(8<<20))
	for _, members := range []string{`"payload":"x"`, `"payload":"x","kind":"qr"`, `"payload":"https://example.com","kind":"url"`} {
		token := a.create(members)
		for range 4 {
			defer a.unread("POST", "/p/"+token, "", urlencoded)()
		}
		if _, held := a.handler.Held(); held != 0 {
			t.Errorf("%s: %d bytes", members, held)
		}
	}
}

func TestLongAddressesAreShownWithinWhatTheyMayTake(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("what it measures is measured at the ordinary length, and not by the race detector")
	}
	a := newAPI(t)
	for _, fill := range []string{`"`, "&", "\u200b"} {
		for _, begin := range []string{"https://example.com/", "https://"} {
			address := begin + strings.Repeat(fill, (store.MaxText-len(begin))/len(fill))
			got := a.do("POST", pushes, `{"push":{"kind":"url","payload":`+quoted(address)+`}}`)
			if got.status != http.StatusCreated {
				continue // no such address is taken
			}
			if page := a.send("/p/"+got.text("url_token"), nil).want(http.StatusOK); len(page.body) > 16<<20 {
				t.Errorf("%.30q: %d bytes", address, len(page.body))
			}
		}
	}
	if text := a.send("/p/"+a.create(`"payload":`+quoted(quotes[1:]+"\x00")), nil).want(http.StatusOK); len(text.body) > 7<<20 {
		t.Errorf("%d bytes", len(text.body))
	}
	code := strings.Repeat("7", store.MaxQR)
	if qr := a.send("/p/"+a.create(`"kind":"qr","payload":`+quoted(code)), nil).want(http.StatusOK); len(qr.body) > 384<<10 {
		t.Errorf("%d bytes", len(qr.body))
	}
}

func TestFormsThatComeBackTakeBoundedMemory(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("what it measures is measured at the ordinary length, and not by the race detector")
	}
	a := newAPI(t, memoryOf(12<<20))
	form := "push[kind]=text&push[expire_after_days]=x&push[payload]="
	tooLong := a.unread("POST", "/", form+strings.Repeat(`"`, 7<<20), urlencoded)
	if held, _ := a.handler.Held(); held != 0 {
		t.Errorf("a form whose text is too long holds %d bytes", held)
	}
	longest := a.unread("POST", "/", form+quotes, urlencoded)
	if held, _ := a.handler.Held(); held < 5*store.MaxText || held > 6*store.MaxText {
		t.Errorf("the longest form holds %d bytes", held)
	}
	again := a.unread("POST", "/", form+quotes[:store.MaxText/2], urlencoded)
	a.do("POST", "/", form+quotes, urlencoded).want(http.StatusServiceUnavailable)
	a.sendForm(typed(nil)).want(http.StatusCreated)
	for _, read := range []func() *httptest.ResponseRecorder{tooLong, longest, again} {
		if w := read(); w.Code != http.StatusUnprocessableEntity {
			t.Errorf("%d", w.Code)
		}
	}
	if bodies, reveals := a.handler.Held(); bodies != 0 || reveals != 0 {
		t.Errorf("%d and %d bytes stay held", bodies, reveals)
	}
}
