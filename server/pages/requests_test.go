package pages_test

import (
	"encoding/base64"
	"errors"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pushbox/config"
	"pushbox/internal/endtoend"
	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/wraptest"
	"pushbox/server/action"
	"pushbox/server/body"
	"pushbox/server/pages"
	"pushbox/server/servertest"
	"pushbox/store"
	"pushbox/store/record"
)

// answersOn returns the paths to which the forms lead that open answers on a page.
func answersOn(page servertest.Page) (paths []string) {
	for _, action := range page.Forms() {
		if token, ok := strings.CutPrefix(action, "post /p/"); ok && !strings.Contains(token, "/") {
			paths = append(paths, "/p/"+token)
		}
	}
	return paths
}

func TestAPersonWithoutAnAccountAnswersARequest(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t, servertest.TakesRequests)
	ann := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	ann.Get("/requests").Want(http.StatusOK).Says("No requests yet")
	own, link := ann.AskFor("text", "The password of web-03\r\n<b>and</b> the codes", "max_answers", "2")
	ann.Get(own).Page().Has("The password of web-03 <b>and</b> the codes", "No answer yet.", "or after 2 more answers")

	a.Get(link).Want(http.StatusOK).Page().
		Has("ann@example.com asks you for a secret", "<b>and</b> the codes", "Only ann@example.com gets what you send.").
		Lacks("My secrets", "Sign in")
	sent := a.AnswerRequest(link, "hunter2\r\n")
	sent.To("/q/sent")
	if sent.Body != "" || len(sent.Cookies()) > 0 {
		t.Errorf("the sender gets %q and %v", sent.Body, sent.Cookies())
	}
	a.Get("/q/sent").Want(http.StatusOK).Page().Has("Sent", "Only the person who asked for it gets it.").Lacks("ann@example.com")
	a.Store.Clock.Advance(time.Minute)
	a.AnswerRequest(link, "", servertest.File{Name: "codes.txt", Content: []byte("file-marker")}).To("/q/sent")

	page := ann.Get(own).Want(http.StatusOK).Page().Has("All answers received")
	answers := answersOn(page)
	if len(answers) != 2 {
		t.Fatalf("the page leads to %v", answers)
	}
	ann.Get(answers[0]+"/r").Want(http.StatusOK).Page().Has("This is an answer to your request.").Lacks("Someone has sent you", "your own secret")
	ann.Post(answers[0]).Want(http.StatusOK).Says("hunter2", "No view was used.", "Back to the request", own).Lacks("your own secret")
	ann.Post(answers[1]).Want(http.StatusOK).Says("codes.txt")
	ann.Get("/requests").Page().Has("The password of web-03", "2 of 2", "All answers received")
	ann.Get("/p").Says("The password of web-03")
	for _, n := range page.Elements("a") {
		if servertest.TextOf(n) == "Details and activity" {
			ann.Get(servertest.Attr(n, "href")).Want(http.StatusOK).Says("127.0.0.1")
		}
	}

	a.Get(link).Want(http.StatusNotFound).Says("This request is closed")
	a.AnswerRequest(link, "too late").Want(http.StatusNotFound)
	for _, path := range append(answers, link) {
		token := strings.Split(path, "/")[2]
		if strings.Contains(a.Log.String(), token) {
			t.Error("a link is in the log")
		}
	}
}

// An answer is shown to its owner as one: whether it was read, and what it answers. It opens
// with one click, which counts no view.
func TestAnAnswerIsShownAsOne(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t, servertest.TakesRequests)
	ann := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	own, link := ann.AskFor("max_answers", "3")
	for _, text := range []string{"hunter2", "hunter3"} {
		a.AnswerRequest(link, text).To("/q/sent")
		a.Store.Clock.Advance(time.Minute)
	}
	ann.Get("/requests").Says("2 new answers")
	opens := answersOn(ann.Get("/p").Says("Answer", "Not read yet", own).Lacks("Read on", ">Not opened yet</span>").Page())
	if len(opens) != 2 {
		t.Fatalf("the list opens %v", opens)
	}
	audit := opens[0] + "/audit"
	details := ann.Get(audit).Says(own).Page().
		Has("Answer to your request: The password of web-03", "Sent as an answer to your request", "Not read yet",
			"Active 0 of 5 views used", "(7 days left) or after 5 views, whichever comes first.", "Text Passphrase: none “Open” button first").Lacks("Not opened yet", "End-to-end encrypted")
	if got := answersOn(details); !slices.Equal(got, opens[:1]) {
		t.Errorf("the page of the answer opens %v", got)
	}
	ann.Post(opens[0]).Want(http.StatusOK).Says("hunter3")
	ann.Get(audit).Page().Has("Read on 2026-01-01 00:02 UTC", "0 of 5").Lacks("Not read yet")
	ann.Get("/p").Page().Has("Not read yet", "Read on 2026-01-01 00:02 UTC")
	ann.Get("/p?news=unopened").Says("1 found")
	ann.Get("/requests").Says("1 new answer").Lacks("1 new answers")
	page := ann.Get(own).Page().Has("Received on 2026-01-01 00:00 UTC", "Read on 2026-01-01 00:02 UTC", "Not read yet").Words()
	if question, shared, came := strings.Index(page, "The password of web-03"), strings.Index(page, "Link to pass on"), strings.Index(page, "Received on"); question > shared || shared > came {
		t.Errorf("the page of the request has question, link and answers at %d, %d and %d", question, shared, came)
	}
	id := strings.TrimPrefix(own, "/requests/")
	if csv := ann.Get(audit + ".csv").Body; !strings.Contains(csv, "request_id,recipient_email\r\n") || !strings.Contains(csv, ","+id+",\r\n") {
		t.Errorf("the log as CSV: %s", csv)
	}
	log := a.Get("/api/v2/pushes"+strings.TrimPrefix(audit, "/p"), a.AddToken(servertest.AnnEmail)).Body
	if strings.Count(log, "request_id") != 1 || !strings.Contains(log, `"request_id":"`+id+`"`) {
		t.Errorf("the log of the API: %s", log)
	}
}

func joined(a, b http.Header) http.Header {
	h := a.Clone()
	maps.Copy(h, b)
	return h
}

// holdUpload begins to send a file to a path and does not end it. It returns when the upload
// runs, or with the status of its answer.
func holdUpload(a *servertest.Server, path string, header http.Header) (status int, end func()) {
	a.T.Helper()
	running := a.Handler.Stats().Uploads
	content, w := io.Pipe()
	req, err := http.NewRequest("POST", a.URL+path, content)
	env.OK(a.T, err)
	req.Header = joined(header, servertest.Multi)
	answered := make(chan int, 1)
	go func() {
		res, err := a.Client.RoundTrip(req)
		if err != nil {
			a.T.Error(err)
			answered <- 0
			return
		}
		_ = res.Body.Close()
		answered <- res.StatusCode
	}()
	_, err = io.WriteString(w, servertest.FilePart(servertest.File{Name: "f", Content: servertest.BytesOf(64 << 10)}))
	if err != nil && !errors.Is(err, io.ErrClosedPipe) { // a refusal may come before all of it is sent
		a.T.Fatal(err)
	}
	for a.Handler.Stats().Uploads == running {
		select {
		case status := <-answered:
			_ = w.Close()
			return status, func() {}
		case <-time.After(time.Millisecond):
		}
	}
	return 0, func() {
		_ = w.Close()
		<-answered
	}
}

// Whatever is sent to one request, or by one client, leaves room for files of others.
func TestUploadsHaveTheirShareOfTheSlots(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t, servertest.TakesRequests, func(c *config.Config) { c.Limits.BodyMemory = 20 * body.UploadMemory })
	ann := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	_, link := ann.AskFor("max_answers", "100")
	_, other := ann.AskFor()
	hold := func(name, path string, header http.Header, want int) {
		t.Helper()
		status, end := holdUpload(a, path, header)
		t.Cleanup(end)
		if status != want {
			t.Errorf("%s: status %d, not %d", name, status, want)
		}
	}
	for n := range 4 { // of 20
		hold("to the request", link, servertest.Far(n), 0)
	}
	hold("more to the request", link, servertest.Far(100), http.StatusServiceUnavailable)
	hold("to another request", other, servertest.Far(101), 0)
	bob := a.AddTokenUser("bob@example.com")
	for range 2 {
		hold("of a client", pushes, joined(bob, http.Header{"X-Forwarded-For": {"198.51.100.1"}}), 0)
	}
	hold("more of the client", pushes, joined(bob, http.Header{"X-Forwarded-For": {"198.51.100.1"}}), http.StatusServiceUnavailable)
	hold("of another client", pushes, joined(bob, http.Header{"X-Forwarded-For": {"198.51.100.2"}}), 0)
}

func TestARequestIsItsOwnersAlone(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t, servertest.TakesRequests)
	a.AddAccount("bob@example.com", servertest.AnnPassword)
	ann, bob := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword), a.SignedIn("bob@example.com", servertest.AnnPassword)
	own, link := ann.AskFor()
	for _, path := range []string{"/requests", "/requests/new", own} {
		a.Get(path).To("/users/sign_in")
	}
	a.Send("/requests/new", map[string]string{"text": "x"}).To("/users/sign_in")
	a.Send(own+"/end", nil).To("/users/sign_in")
	bob.Get(own).Want(http.StatusNotFound)
	bob.Post(own + "/end").Want(http.StatusNotFound)
	bob.Get("/requests").Says("No requests yet")
	foreign := http.Header{"Sec-Fetch-Site": {"cross-site"}, "Content-Type": {"application/x-www-form-urlencoded"}}
	for _, path := range []string{own + "/end", link, "/requests/new"} {
		ann.Do(http.MethodPost, path, "push%5Bpayload%5D=x", foreign.Clone()).Want(http.StatusForbidden)
	}
	a.Get(link).Want(http.StatusOK)

	ann.Post(own + "/end").To(own)
	ann.Get(own).Says("The request has ended.", "No answer came.").Lacks(link)
	ann.Post(own + "/end").To(own)
	a.Get(link).Want(http.StatusNotFound)
	a.AnswerRequest(link, "x").Want(http.StatusNotFound)
	a.Get("/q/sent").Want(http.StatusOK)
	for _, row := range new(pages.Set).Routes() {
		if row.Has(action.ForRequests) && !strings.Contains(a.Log.String(), `"route":"`+row.Name+`"`) {
			t.Errorf("nothing asks the route %s", row.Name)
		}
	}
}

func TestLinksOfRequestsAndOfPushesShareNothing(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t, servertest.TakesRequests)
	ann := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	own, link := ann.AskFor()
	token, push := strings.TrimPrefix(link, "/q/"), a.Create(`"payload":"x"`)
	unknown := "/q/" + store.NewToken(a.Store.Clock.Now()).Reveal()
	want := a.Get(unknown).Want(http.StatusNotFound).Body
	for _, path := range []string{"/q/" + push, "/q/x", "/q/" + strings.TrimPrefix(own, "/requests/")} {
		if got := a.Get(path).Want(http.StatusNotFound); got.Body != want {
			t.Errorf("%s differs from an unknown one: %s", path, got.Body)
		}
		a.AnswerRequest(path, "x").Want(http.StatusNotFound)
	}
	a.Get("/q/" + strings.ToUpper(token)).Want(http.StatusOK)
	for _, path := range []string{"/p/" + token, "/p/" + token + "/r", "/api/v2/pushes/" + token, "/requests/" + token, "/requests/" + push} {
		if got := ann.Get(path); got.Status != http.StatusNotFound {
			t.Errorf("%s: %d", path, got.Status)
		}
	}
}

func TestTriesOfUnknownLinksOfRequestsAreLimited(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t, servertest.TakesRequests)
	ann := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	own, ended := ann.AskFor()
	ann.Post(own + "/end").To(own)
	for range 30 { // one that was there counts for nothing
		a.Get(ended).Want(http.StatusNotFound).Says("This request is closed")
	}
	for range 20 {
		a.Get("/q/" + store.NewToken(a.Store.Clock.Now()).Reveal()).Want(http.StatusNotFound)
	}
	a.Get("/q/" + store.NewToken(a.Store.Clock.Now()).Reveal()).Want(http.StatusTooManyRequests)
}

func TestWithoutRequestsTheirPagesAreUnknownPaths(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t)
	ann := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	token := store.NewToken(a.Store.Clock.Now()).Reveal()
	for _, method := range []string{"GET", "POST", "DELETE"} {
		want := ann.Do(method, "/nothing/here", "", http.Header{})
		for _, path := range []string{"/requests", "/requests/new", "/requests/x", "/requests/x/end", "/q/" + token, "/q/sent"} {
			got := ann.Do(method, path, "", http.Header{})
			if got.Status != http.StatusNotFound || got.Body != want.Body {
				t.Errorf("%s %s: %d", method, path, got.Status)
			}
		}
	}
	ann.Get("/").Lacks("Requests")
}

func TestRecipientsHaveAnEntryForAnswersAlone(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t, servertest.TakesRequests)
	own, link := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword).AskFor()
	outer := a.Recipients()
	for path, want := range map[string]int{link: 200, "/q/sent": 200, own: 404, "/requests": 404, "/requests/new": 404} {
		if got := outer.Get(path); got.Status != want {
			t.Errorf("%s: %d", path, got.Status)
		}
	}
}

func TestTheFormForARequestSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t, servertest.TakesRequests)
	ann := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	for name, test := range map[string]struct {
		changes []string
		want    string
	}{
		"no text":             {[]string{"text", " \r\n"}, "Say what you need."},
		"a long text":         {[]string{"text", strings.Repeat("é", 2001)}, "at most 2000 characters"},
		"a very long text":    {[]string{"text", strings.Repeat("x", 20_000)}, "at most 2000 characters"},
		"a time of no code":   {[]string{"expire_after_duration", "18"}, "Choose one of the times listed."},
		"a time in words":     {[]string{"expire_after_duration", "soon"}, "Choose one of the times listed."},
		"no answers":          {[]string{"max_answers", "0"}, "from 1 to 100"},
		"answers in words":    {[]string{"max_answers", "many"}, "from 1 to 100"},
		"too many answers":    {[]string{"max_answers", "101"}, "from 1 to 100"},
		"a strange keep":      {[]string{"answer_expire_after_duration", "-1"}, "Choose one of the times listed."},
		"a key that is none":  {[]string{"public_key_p256", "AAAA"}, "only if your browser encrypts them"},
		"a key in other text": {[]string{"public_key_p256", "!"}, "only if your browser encrypts them"},
		"another account":     {[]string{"by", "bob@example.com"}, "has changed"},
	} {
		got := ann.Post("/requests/new", servertest.TypedRequest(test.changes...)...)
		if problems := got.Problems(); len(problems) != 1 || !strings.Contains(problems[0], test.want) {
			t.Errorf("%s: %q", name, problems)
		}
		if text := test.changes[1]; test.changes[0] == "text" && len(text) < 9000 && strings.TrimSpace(text) != strings.TrimSpace(got.TypedInto("text")) {
			t.Errorf("%s: the text is lost", name)
		}
	}
	ann.Get("/requests").Says("No requests yet")
	for range record.MaxRequests {
		ann.AskFor()
	}
	if got := ann.Post("/requests/new", servertest.TypedRequest()...).Problems(); !strings.Contains(got[0], "100 active requests") {
		t.Errorf("one too many: %q", got)
	}
	ann.Get("/requests").Want(http.StatusOK).Says("Page 1")
	ann.Get("/requests?page=2").Want(http.StatusOK).Says("The password of web-03")
	ann.Get("/requests?page=3").Want(http.StatusOK).Says("There is nothing on this page")
}

func TestTheFormForAnAnswerSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t, servertest.TakesRequests, servertest.FileLimits(2, 1000))
	ann := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	_, both := ann.AskFor("kinds", "text,file")
	_, texts := ann.AskFor("kinds", "text")
	_, files := ann.AskFor("kinds", "file")
	file := servertest.File{Name: "a.txt", Content: []byte("x")}
	for name, test := range map[string]struct {
		link, text string
		files      []servertest.File
		want       string
	}{
		"nothing":               {both, " ", nil, "Type a text or choose a file first."},
		"no text":               {texts, "", nil, "Type or paste your secret first."},
		"no file":               {files, "", nil, "Choose at least one file."},
		"a text in their place": {files, "x", nil, "Choose at least one file."},
		"files for a text":      {texts, "kept & shown", []servertest.File{file}, ""},
		"too many files":        {both, "kept & shown", []servertest.File{file, file, file}, "Too many files: at most 2."},
		"a long text":           {both, strings.Repeat("x", store.MaxText+1), nil, "The text is too long"},
	} {
		got := a.AnswerRequest(test.link, test.text, test.files...)
		if problems := got.Problems(); len(problems) != 1 || !strings.Contains(problems[0], test.want) {
			t.Errorf("%s: %q", name, problems)
		}
		if strings.Contains(test.text, "kept") && got.TypedInto("payload") != test.text {
			t.Errorf("%s: the text is lost", name)
		}
	}
	a.AnswerRequest(both, "", servertest.File{Name: "large", Content: make([]byte, 1001)}).Want(http.StatusRequestEntityTooLarge)
	if got := a.Get(texts).Page(); got.ID("files") != nil || got.ID("payload") == nil {
		t.Error("a request for a text has another form")
	}
	if got := a.Get(files).Page(); got.ID("files") == nil || got.ID("payload") != nil {
		t.Error("a request for files has another form")
	}
	a.AnswerRequest(both, "still taken").To("/q/sent")
	ann.Get("/p").Says("Active", "The password of web-03")
}

// Fields of a new push that the form of an answer does not have change nothing.
func TestAnAnswerDecidesNothingButItsContent(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t, servertest.TakesRequests)
	ann := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	own, link := ann.AskFor("answer_expire_after_duration", "6")
	a.Send(link, map[string]string{
		"push[payload]": "https://example.com", "push[kind]": "url", "push[expire_after_days]": "90", "push[expire_after_views]": "1",
		"push[passphrase]": "locked out", "push[name]": "name-marker", "push[note]": "note-marker", "push[notify_emails_to]": "eve@example.com",
		"push[deletable_by_viewer]": "on",
	}, servertest.Far(9)).To("/q/sent")
	open := answersOn(ann.Get(own).Page())
	ann.Get(open[0] + "/r").Want(http.StatusOK).Lacks("Passphrase")
	ann.Get("/p").Says("The password of web-03", "24 hours").Lacks("name-marker")
	ann.Get(open[0]+"/audit").Says("203.0.113.9").Lacks("note-marker", "eve@example.com")
}

func TestAnEncryptedRequestTakesEncryptedAnswersAlone(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t, servertest.TakesRequests)
	ann := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	p256, x25519 := "BGPGzhXeLpR0VKd-qRlSHz7R34Zur1LkFA-O_uvxvuy5AouxGBPaO9QwJ95btpM0vXhEFqZgn9JzHxMwbwFVvRI", "o2VekVr7pc1yXJBXvO6-wiJzid4ALUMWcNmdKfTu0yA"
	own, link := ann.AskFor("public_key_p256", p256, "public_key_x25519", x25519)
	form := a.Get(link).Want(http.StatusOK)
	for _, key := range []string{`data-p256="` + p256 + `"`, `data-x25519="` + x25519 + `"`} {
		if !strings.Contains(form.Body, key) {
			t.Fatalf("the form lacks %s", key)
		}
	}
	form.Says("That needs scripts", "It is encrypted in your browser before it is sent")

	key := endtoend.NewKey()
	envelope, err := key.Seal(endtoend.Content{Text: secret.New("hunter2")})
	env.OK(t, err)
	public, err := base64.RawURLEncoding.DecodeString(x25519)
	env.OK(t, err)
	wrapped := wraptest.Wrap(t, key.Fragment(), public, wraptest.Ephemeral(t, public))
	encoded := base64.RawURLEncoding.EncodeToString(wrapped)
	send := func(payload, wrapped string) servertest.Answer {
		return a.Send(link, map[string]string{"push[payload]": payload, "push[wrapped_key]": wrapped})
	}
	for name, got := range map[string]servertest.Answer{
		"a plain text":           send("hunter2", ""),
		"a text with a key":      send("hunter2", encoded),
		"no key":                 send(envelope.Reveal(), ""),
		"a key of another form":  send(envelope.Reveal(), encoded[4:]),
		"no base64url":           send(envelope.Reveal(), "!"),
		"a key that is too long": send(envelope.Reveal(), strings.Repeat("B", 201)),
	} {
		if problems := got.Problems(); len(problems) != 1 {
			t.Errorf("%s: %q", name, problems)
		}
	}
	send(envelope.Reveal(), encoded).To("/q/sent")
	page := ann.Get(own).Page()
	found := page.Find(func(n servertest.Node) bool { return servertest.Attr(n, "data-wrapped") != "" })
	if len(found) != 1 || servertest.Attr(found[0], "data-wrapped") != encoded {
		t.Fatalf("the page of the request has %d wrapped keys", len(found))
	}

	_, plain := ann.AskFor()
	for _, key := range []string{"Bw", strings.Repeat("B", 200), strings.Repeat("B", 1<<20)} {
		if got := a.Send(plain, map[string]string{"push[payload]": "hunter2", "push[wrapped_key]": key}); got.Status != http.StatusUnprocessableEntity {
			t.Errorf("a plain answer came with a key of %d characters: %d", len(key), got.Status)
		}
	}
	if got := a.Send(plain, map[string]string{"push[payload]": envelope.Reveal(), "push[wrapped_key]": encoded}); got.Status != http.StatusUnprocessableEntity {
		t.Errorf("a request without keys took an encrypted answer: %d", got.Status)
	}
}

func TestClientEncryptionDecidesHowRequestsAreEncrypted(t *testing.T) {
	t.Parallel()
	const key = "BGPGzhXeLpR0VKd-qRlSHz7R34Zur1LkFA-O_uvxvuy5AouxGBPaO9QwJ95btpM0vXhEFqZgn9JzHxMwbwFVvRI"
	for mode, want := range map[string]struct{ without, with []string }{
		"off":      {nil, nil},
		"offered":  {nil, []string{key}},
		"default":  {nil, []string{key}},
		"required": {[]string{"refused"}, []string{key}},
	} {
		a := servertest.NewSite(t, servertest.TakesRequests, func(c *config.Config) { c.ClientEncryption = mode })
		ann := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
		made := func(keys ...string) (got []string) {
			r := ann.Post("/requests/new", servertest.TypedRequest(keys...)...)
			if r.Status == http.StatusUnprocessableEntity {
				return []string{"refused"}
			}
			_, path, _ := strings.Cut(ann.Get(r.Header.Get("Location")).Link(), "/q/")
			for _, n := range a.Get("/q/" + path).Page().Elements("form") {
				if p256 := servertest.Attr(n, "data-p256"); p256 != "" {
					got = append(got, p256)
				}
			}
			return got
		}
		if got := made(); !slices.Equal(got, want.without) {
			t.Errorf("%s, without keys: %v", mode, got)
		}
		if got := made("public_key_p256", key); !slices.Equal(got, want.with) {
			t.Errorf("%s, with a key: %v", mode, got)
		}
		got := a.Do("POST", "/api/v2/requests", `{"request":{"text":"x"}}`, a.AddToken(servertest.AnnEmail))
		if refused := got.Status == http.StatusUnprocessableEntity; refused != (mode == "required") || refused && !strings.Contains(got.Body, "public_key_p256") {
			t.Errorf("%s, by the API: %d %s", mode, got.Status, got.Body)
		}
		if box := ann.Get("/requests/new").Page().ID("encrypt"); (box == nil) != (mode == "off") {
			t.Errorf("%s: the form has the wrong choice", mode)
		}
	}
}

var encryptChosen = regexp.MustCompile(`id="encrypt"[^>]* checked`)

// A form with errors keeps the choice: the answers would otherwise come in clear.
func TestAFormWithErrorsStaysEncrypted(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t, servertest.TakesRequests)
	ann := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	for key, want := range map[string]bool{"": false, "AAAA": true} {
		page := ann.Post("/requests/new", servertest.TypedRequest("text", "  ", "public_key_p256", key)...).Want(http.StatusUnprocessableEntity)
		if got := encryptChosen.MatchString(page.Body); got != want {
			t.Errorf("with a key %v, encryption is chosen %v", want, got)
		}
	}
}

// What senders read says that the address asks, so it must be one that was confirmed.
func TestAnAccountThatIsNotConfirmedAsksForNothing(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t, func(c *config.Config) { c.EnableRequests, c.EnableSignups = true, true })
	b := a.Browser()
	b.Post("/users/sign_up", "email", "it-support@bank.example", "password", servertest.AnnPassword).To("/users/sign_in")
	b.SignIn("it-support@bank.example", servertest.AnnPassword).To("/")
	b.Get("/requests/new").Want(http.StatusOK).Says("Confirm your address first: people who get a request see it.").Lacks(`id="ask"`)
	b.Post("/requests/new", "text", "Your PIN, please", "expire_after_duration", "6", "max_answers", "1").Want(http.StatusForbidden).Says("Confirm your address first")
	got := a.Do("POST", "/api/v2/requests", `{"request":{"text":"Your PIN, please"}}`, a.AddToken("it-support@bank.example")).Want(http.StatusForbidden)
	if got.Problem() != "unconfirmed" {
		t.Errorf("it is %s", got.Body)
	}
}
