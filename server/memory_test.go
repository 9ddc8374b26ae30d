package server_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pushbox/config"
	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/server/body"
	"pushbox/server/servertest"
	"pushbox/store"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

// memoryOf bounds the memory of bodies and that of opened pushes.
func memoryOf(size config.Size) func(*config.Config) {
	return func(c *config.Config) { c.Limits.BodyMemory, c.Limits.MaxBody = size, 8<<20 }
}

var quotes = strings.Repeat(`"`, store.MaxText)

// The memory for pages and for answers of the API is bounded, and small ones need none.
func TestWhatIsNotReadTakesBoundedMemory(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		method, path string
		header       http.Header
		reads        int
		holds        int64 // times the longest text
		length       int   // of an answer, in such times
	}{
		"pages":              {"POST", "/p/", servertest.Urlencoded, 2, 10, 5},
		"answers of the API": {"GET", pushes + "/", nil, 4, 8, 2},
	} {
		a := servertest.New(t, memoryOf(16<<20))
		long := a.Create(`"expire_after_views":10,"payload":` + servertest.Quoted(quotes))
		small := a.Create(`"payload":"x"`)
		var reads []func() *httptest.ResponseRecorder
		for range c.reads {
			reads = append(reads, a.SendUnread(c.method, c.path+long, "", c.header))
		}
		if held := a.Handler.Stats().AnswerMemory; held < c.holds*store.MaxText || held > (c.holds+1)*store.MaxText {
			t.Errorf("%d %s hold %d bytes", c.reads, name, held)
		}
		before := a.Trace(long)
		got := a.Do(c.method, c.path+long, "", c.header).Want(http.StatusServiceUnavailable)
		if got.Header.Get("Retry-After") == "" {
			t.Errorf("%s: it does not say when to try again", name)
		}
		if after := a.Trace(long); after != before {
			t.Errorf("%s: a view was counted: %+v, %+v", name, before, after)
		}
		a.Do(c.method, c.path+small, "", c.header).Want(http.StatusOK) // and does not wait for the others
		a.SendForm(servertest.Typed(nil)).Want(http.StatusOK)          // what opens pushes is apart from what makes them
		for _, read := range reads {
			if w := read(); w.Code != http.StatusOK || w.Body.Len() < c.length*store.MaxText {
				t.Errorf("%s: %d, %d bytes", name, w.Code, w.Body.Len())
			}
		}
		a.Settle()
		if bodies, reveals := a.Handler.Stats().RequestMemory, a.Handler.Stats().AnswerMemory; bodies != 0 || reveals != 0 {
			t.Errorf("%s: %d and %d bytes stay held", name, bodies, reveals)
		}
	}
}

// Lists, logs and documents take their part of the memory, too.
func TestListsThatAreNotReadTakeBoundedMemory(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, memoryOf(16<<20))
	session, bearer := a.AddSessionUser("ann@example.com"), a.AddToken("ann@example.com")
	var last string
	for range store.PageSize {
		last = a.Create(`"payload":"x","note":`+servertest.Quoted(strings.Repeat("\x01", store.MaxNote)), bearer)
	}
	said := strings.Repeat(`"`, 255) // two bytes each in JSON and in CSV
	for range 100 {
		h := http.Header{"User-Agent": {said}, "Referer": {said}}
		a.Do("GET", pushes+"/"+last+"?passphrase=x", "", bearer, h)
	}
	for path, by := range map[string]http.Header{pushes + "/active": bearer, "/p/" + last + "/audit.csv": session, "/api/v2/openapi.json": {}} {
		read := a.SendUnread("GET", path, "", by)
		held := a.Handler.Stats().RequestMemory
		w := read()
		if size := w.Body.Len(); w.Code != http.StatusOK || size < 100_000 || held < int64(size)/2 {
			t.Errorf("%s: %d, an answer of %d bytes holds %d", path, w.Code, size, held)
		}
		a.Settle()
		if held := a.Handler.Stats().RequestMemory; held != 0 {
			t.Errorf("%s: %d bytes stay held", path, held)
		}
	}
}

// A listerByID is a Lister that calls read before pushes are read by their IDs, too.
type listerByID struct{ servertest.Lister }

func (e listerByID) PushesByID(ctx context.Context, ids []record.ID) ([]record.Push, error) {
	e.Read()
	return e.Engine.PushesByID(ctx, ids)
}

// Nor is a list read before there is memory for its names and notes.
func TestAListIsReadIntoMemoryThatIsReserved(t *testing.T) {
	t.Parallel()
	var a *servertest.Server
	held := int64(-1)
	a = servertest.On(t, func(s *storetest.Setup) {
		s.Wrap = func(e record.Engine) record.Engine {
			return listerByID{servertest.NewLister(e, func() { held = a.Handler.Stats().RequestMemory })}
		}
	}, servertest.TakesRequests)
	session, bearer := a.AddSessionUser("ann@example.com"), a.AddToken("ann@example.com")
	q, err := a.Store.CreateRequest(t.Context(), a.Actor("ann@example.com"), store.NewRequest{Text: secret.New("x")})
	env.OK(t, err)
	for path, by := range map[string]http.Header{
		"/api/v2/requests/" + q.ID.String(): bearer, "/requests/" + q.ID.String(): session,
		pushes + "/active": bearer, pushes + "/expired": bearer, "/p/active.json": bearer, "/p/expired.json": bearer,
		"/api/v2/requests": bearer, "/p": session, "/requests": session,
	} {
		held = -1
		if a.Get(path, by).Want(http.StatusOK); held < store.PageSize*store.MaxNote {
			t.Errorf("%s: %d bytes are reserved", path, held)
		}
		a.Settle()
		if left := a.Handler.Stats().RequestMemory; left != 0 {
			t.Errorf("%s: %d bytes stay reserved", path, left)
		}
	}
}

// A small text that is being shown takes none of the memory.
func TestSmallPagesThatAreNotReadTakeNoMemoryFromOthers(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, memoryOf(8<<20))
	for _, members := range []string{`"payload":"x"`, `"payload":"x","kind":"qr"`, `"payload":"https://example.com","kind":"url"`} {
		token := a.Create(members)
		for range 4 {
			defer a.SendUnread("POST", "/p/"+token, "", servertest.Urlencoded)()
		}
		if held := a.Handler.Stats().AnswerMemory; held != 0 {
			t.Errorf("%s: %d bytes", members, held)
		}
	}
}

func TestThePagesOfLongAddressesFitTheirReservation(t *testing.T) {
	t.Parallel()
	env.NeedLong(t, "it sends many forms of 1 MiB and more")
	a := servertest.New(t)
	for _, fill := range []string{`"`, "&", "\u200b"} {
		for _, begin := range []string{"https://example.com/", "https://"} {
			address := begin + strings.Repeat(fill, (store.MaxText-len(begin))/len(fill))
			got := a.Do("POST", pushes, `{"push":{"kind":"url","payload":`+servertest.Quoted(address)+`}}`)
			if got.Status != http.StatusOK {
				continue // no such address is taken
			}
			if page := a.Send("/p/"+got.Text("url_token"), nil).Want(http.StatusOK); len(page.Body) > 16<<20 {
				t.Errorf("%.30q: %d bytes", address, len(page.Body))
			}
		}
	}
	if text := a.Send("/p/"+a.Create(`"payload":`+servertest.Quoted(quotes[1:]+"\x00")), nil).Want(http.StatusOK); len(text.Body) > 7<<20 {
		t.Errorf("%d bytes", len(text.Body))
	}
	code := strings.Repeat("7", store.MaxQR)
	if qr := a.Send("/p/"+a.Create(`"kind":"qr","payload":`+servertest.Quoted(code)), nil).Want(http.StatusOK); len(qr.Body) > 384<<10 {
		t.Errorf("%d bytes", len(qr.Body))
	}
}

func TestFormsThatAreShownAgainTakeBoundedMemory(t *testing.T) {
	t.Parallel()
	env.NeedLong(t, "it sends many forms of 1 MiB and more")
	a := servertest.New(t, memoryOf(12<<20))
	form := "push[kind]=text&push[expire_after_days]=x&push[payload]="
	tooLong := a.SendUnread("POST", "/", form+strings.Repeat(`"`, 7<<20), servertest.Urlencoded)
	if held := a.Handler.Stats().RequestMemory; held != 0 {
		t.Errorf("a form whose text is too long holds %d bytes", held)
	}
	longest := a.SendUnread("POST", "/", form+quotes, servertest.Urlencoded)
	if held := a.Handler.Stats().RequestMemory; held < 5*store.MaxText || held > 6*store.MaxText {
		t.Errorf("the longest form holds %d bytes", held)
	}
	again := a.SendUnread("POST", "/", form+quotes[:store.MaxText/2], servertest.Urlencoded)
	a.Do("POST", "/", form+quotes, servertest.Urlencoded).Want(http.StatusServiceUnavailable)
	a.SendForm(servertest.Typed(nil)).Want(http.StatusOK)
	for _, read := range []func() *httptest.ResponseRecorder{tooLong, longest, again} {
		if w := read(); w.Code != http.StatusUnprocessableEntity {
			t.Errorf("%d", w.Code)
		}
	}
	a.Settle()
	if bodies, reveals := a.Handler.Stats().RequestMemory, a.Handler.Stats().AnswerMemory; bodies != 0 || reveals != 0 {
		t.Errorf("%d and %d bytes stay held", bodies, reveals)
	}
}

// serve answers a request of the client Far(n).
func serve(a *servertest.Server, n int, method, path string, content io.Reader) *httptest.ResponseRecorder {
	w, hr := httptest.NewRecorder(), httptest.NewRequest(method, path, content)
	hr.RemoteAddr, hr.Header = "127.0.0.1:1", servertest.Far(n)
	hr.Header.Set("Content-Type", body.TypeJSON)
	a.Handler.ServeHTTP(w, hr)
	return w
}

// A client that reads nothing has its share of the memory. Others do not wait for it.
func TestAClientThatReadsNothingTakesNoMemoryFromOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := servertest.InMemory(t)
		long := pushes + "/" + a.Create(`"expire_after_views":100,"payload":`+servertest.Quoted(strings.Repeat("\x01", 1_000_000)))
		read := a.SendUnread("GET", long, "", servertest.Far(1)) // its answer is 6 MB long, of a share of 8 MiB
		begun := time.Now()
		got := make(chan int, 9)
		for range cap(got) {
			go func() { got <- serve(a, 1, "GET", long, nil).Code }()
		}
		synctest.Wait()
		for n := range 4 {
			if w := serve(a, 2+n, "GET", long, nil); w.Code != http.StatusOK {
				t.Errorf("for others: %d", w.Code)
			}
		}
		if waited := time.Since(begun); waited > 0 {
			t.Errorf("others waited %v", waited)
		}
		for range cap(got) {
			if status := <-got; status != http.StatusServiceUnavailable {
				t.Errorf("more for the client itself: %d", status)
			}
		}
		if w := read(); w.Code != http.StatusOK || w.Body.Len() < 6_000_000 {
			t.Errorf("what it had: %d, %d bytes", w.Code, w.Body.Len())
		}
	})
}

// Nor do other clients that create pushes wait for a client whose bodies never end.
func TestBodiesThatNeverEndTakeNoMemoryFromOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := servertest.InMemory(t)
		begun := time.Now()
		var all sync.WaitGroup
		begin, text := `{"push":{"payload":"`, strings.Repeat("x", 275_000)
		never, end := io.Pipe()
		for range 20 {
			all.Go(func() { serve(a, 1, "POST", pushes, io.MultiReader(strings.NewReader(begin+text), never)) })
		}
		synctest.Wait()
		if held := a.Handler.Stats().RequestMemory; held < 7<<20 || held > 8<<20 {
			t.Errorf("they hold %d bytes of their share", held)
		}
		if w := serve(a, 2, "POST", pushes, strings.NewReader(begin+text+`"}}`)); w.Code != http.StatusCreated {
			t.Errorf("of another: %d", w.Code)
		}
		if waited := time.Since(begun); waited > 0 {
			t.Errorf("it waited %v", waited)
		}
		_ = end.Close()
		all.Wait()
	})
}

// stall is the stall timeout of tests in a bubble, and textStall that of long texts.
const (
	stall     = time.Minute
	textStall = 10 * time.Second
)

func TestAnAnswerThatIsNotReadIsCut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := servertest.InMemory(t, func(c *config.Config) { c.Limits.StallTimeout = stall })
		_, res := a.Begin(pushes + "/" + a.Create(`"payload":`+servertest.Quoted(quotes)))
		for range 3 { // slow, and not too slow
			time.Sleep(textStall - time.Second)
			if _, err := io.CopyN(io.Discard, res.Body, 32<<10); err != nil {
				t.Fatal(err)
			}
		}
		stalled := time.Now()
		for a.Handler.Stats().AnswerMemory > 0 && time.Since(stalled) < stall {
			time.Sleep(time.Second)
		}
		if waited := time.Since(stalled); waited > textStall+time.Second {
			t.Errorf("it is cut after %v", waited)
		}
	})
}

func TestATextThatStallsIsCut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := servertest.InMemory(t, func(c *config.Config) { c.Limits.StallTimeout = stall })
		l := a.Dial(servertest.Declared(body.TypeJSON, 1_000_000, nil), `{"push":{"payload":"`+strings.Repeat("x", 80_000))
		for range 3 { // slow, and not too slow
			time.Sleep(textStall - time.Second)
			if _, err := io.WriteString(l, strings.Repeat("x", 16<<10)); err != nil {
				t.Fatal(err)
			}
		}
		stalled := time.Now()
		if l.Want(http.StatusBadRequest); time.Since(stalled) != textStall {
			t.Errorf("it is cut after %v", time.Since(stalled))
		}
	})
}

// What clients of one account hold together leaves half for others, whatever they ask for.
func TestAnAccountHoldsAtMostHalfOfTheMemory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := servertest.InMemory(t, memoryOf(16<<20))
		ann, bob := a.AddSessionUser(servertest.AnnEmail), a.AddSessionUser("bob@example.com")
		bearer := a.AddToken(servertest.AnnEmail)
		long := a.Create(`"payload":"x"`, bearer)
		said := strings.Repeat(`"`, 255)
		for range 500 {
			a.Do("GET", pushes+"/"+long+"?passphrase=x", "", bearer, http.Header{"User-Agent": {said}, "Referer": {said}})
		}
		var reads []func() *httptest.ResponseRecorder
		for n := range 40 {
			from := ann.Clone()
			from.Set("X-Forwarded-For", fmt.Sprintf("192.0.%d.1", n))
			reads = append(reads, a.SendUnread(http.MethodGet, "/p/"+long+"/audit.csv", "", from))
		}
		if held := a.Handler.Stats().RequestMemory; held < 6<<20 || held > 8<<20 {
			t.Errorf("the account holds %d bytes", held)
		}
		a.Get("/p", bob).Want(http.StatusOK)
		for _, read := range reads {
			read()
		}
	})
}
