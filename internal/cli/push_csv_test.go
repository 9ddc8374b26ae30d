package cli

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"pushbox/internal/endtoend"
	"pushbox/internal/testkit/env"
	"pushbox/store"
)

// A pushServer makes pushes, whose links have their numbers.
type pushServer struct {
	*httptest.Server
	answer func(n int, w http.ResponseWriter) bool // of the nth request, from 1; true: it was answered. nil: it is not

	mu     sync.Mutex
	asked  int
	pushes []map[string]any
}

func newPushServer(t *testing.T) *pushServer {
	t.Helper()
	f := &pushServer{}
	f.Server = httptest.NewServer(f)
	t.Cleanup(f.Close)
	return f
}

func (f *pushServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked++
	var body struct{ Push map[string]any }
	_ = json.NewDecoder(r.Body).Decode(&body)
	if f.answer != nil && f.answer(f.asked, w) {
		return
	}
	f.pushes = append(f.pushes, body.Push)
	w.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(w).Encode(map[string]any{
		"html_url": f.link(len(f.pushes)), "expire_after_days": body.Push["expire_after_days"], "expire_after_views": 5, "notify_emails_to": body.Push["notify_emails_to"], "recipient_email": body.Push["recipient_email"],
	})
}

func (f *pushServer) link(n int) string {
	return fmt.Sprintf("%s/p/%s%02d/r", f.URL, linkToken[:32], n)
}

// texts are those of the pushes that were made.
func (f *pushServer) texts() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []string
	for _, p := range f.pushes {
		all = append(all, fmt.Sprint(p["payload"]))
	}
	return strings.Join(all, "|")
}

func refuse(status int, header ...string) func(http.ResponseWriter) bool {
	return func(w http.ResponseWriter) bool {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `{"message":"The server's own words."}`)
		return true
	}
}

func TestATableIsPushedRowByRow(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]string{
		"as it is":      "text,name,mail,passphrase,days,views\n" + `"two` + "\n" + `lines, a ""marker""",Ann,ann@example.com,pass-marker,3,` + "\n" + `b-marker,=1+1,,,,2` + "\n",
		"a spreadsheet": "\ufeffText;NAME;mail;passphrase; days ;views\r\n" + `"two` + "\r\n" + `lines, a ""marker""";Ann; ann@example.com ;pass-marker;3;` + "\r\n;;;;;\r\n" + `b-marker;=1+1;;;; 2 ` + "\r\n;;;;;",
		"tabs":          "text\tname\tmail\tpassphrase\tdays\tviews\n" + `"two` + "\n" + `lines, a ""marker""` + "\"\tAnn\tann@example.com\tpass-marker\t3\t\nb-marker\t=1+1\t\t\t\t2",
	} {
		f := newPushServer(t)
		args := []string{"push", "--url", f.URL, "--views", "5", "--note", "all", "--csv"}
		for _, in := range []string{inFile(t, "people.csv", test), standard} {
			f.pushes = nil
			got := act(t, test, nil, append(args, in)...).want(t, exitDone, "pushed 2 rows; 2 of 2 have their links", "did not apply the limits of 1 row").discreet(t)
			want := fmt.Sprintf("name,mail,link\nAnn,ann@example.com,%s\n'=1+1,,%s\n", f.link(1), f.link(2))
			pushes, _ := json.Marshal(f.pushes) // texts and numbers
			const sent = `[{"expire_after_days":3,"expire_after_duration":8,"expire_after_views":5,"name":"Ann","note":"all","notify_emails_to":"ann@example.com","passphrase":"pass-marker","payload":"two\nlines, a \"marker\""},` +
				`{"expire_after_views":2,"name":"=1+1","note":"all","payload":"b-marker"}]`
			if got.stdout != want || string(pushes) != sent || strings.Contains(got.stderr, "mail") {
				t.Errorf("%s: printed\n%s sent\n%s\n%s", name, got.stdout, pushes, got.stderr)
			}
		}
	}
}

func TestATableCanBeEncrypted(t *testing.T) {
	t.Parallel()
	f := newPushServer(t)
	got := act(t, "text\nfirst-marker\nsecond-marker\n", nil, "push", "--end-to-end", "--url", f.URL, "--csv", "-").want(t, exitDone).discreet(t)
	rows := env.Must(csv.NewReader(strings.NewReader(got.stdout)).ReadAll())(t)
	keys := make(map[string]bool)
	for i, text := range []string{"first-marker", "second-marker"} {
		_, fragment, _ := strings.Cut(rows[i+1][2], "#")
		key := env.Must(endtoend.ParseFragment(fragment))(t)
		p := newFake(t)
		p.fields["payload"] = fmt.Sprint(f.pushes[i]["payload"])
		if out := act(t, "", nil, "get", p.link()+"#"+fragment).want(t, exitDone); out.stdout != text || key.IsZero() || keys[fragment] {
			t.Errorf("row %d opens as %q", i, out.stdout)
		}
		keys[fragment] = true
	}
	if strings.Contains(f.texts(), "marker") {
		t.Error("the server was sent a text")
	}
}

func TestARowHasItsNetworksElseThoseOfTheFlags(t *testing.T) {
	t.Parallel()
	f := newPushServer(t)
	act(t, "text,networks\na,\"10.0.0.0/8, ::1\"\nb,\n", nil, "push", "--url", f.URL, "--network", "192.0.2.7", "--csv", "-").want(t, exitDone, "did not apply the limits of 2 rows")
	if len(f.pushes) != 2 || f.pushes[0]["networks"] != "10.0.0.0/8, ::1" || f.pushes[1]["networks"] != "192.0.2.7" {
		t.Errorf("sent %v", f.pushes)
	}
	act(t, "x", nil, "push", "--url", f.URL, "--network", "10.0.0.0/8", "--network", "office").want(t, exitUsage, "--network has no address or network as entry 2")
}

func TestAMistakeInATableIsNamedByItsLineBeforeAnythingIsPushed(t *testing.T) {
	t.Parallel()
	f := newPushServer(t)
	row := "text-marker\n"
	for name, test := range map[string]struct {
		table, want string
		flags       []string
	}{
		"nothing":          {"", "it is empty", nil},
		"no row":           {"text\n\n", "no row below", nil},
		"no text column":   {"name,mail\na,b\n", "line 1: the column text is missing", nil},
		"another column":   {"text,marker\na,b\n", "line 1: it must name the columns, which can be text, name, mail, passphrase, days, views, networks, recipient", nil},
		"a column twice":   {"text,Text\na,b\n", "line 1: the column text is there twice", nil},
		"no text":          {"text,name\n" + "a,b\n,marker\n", "line 3: it has no text", nil},
		"a cell more":      {"text,name\na,b\n\"x\ny\",b\nmarker,b,c\n", "line 5: wrong number of fields", nil},
		"an open quote":    {"text\n\"marker\n", "line 2: extraneous or missing \"", nil},
		"days":             {"text,days\na,1\na,1.5\n", "line 3: days must be a whole number of 1 or more", nil},
		"no days":          {"text,days\na,0\n", "line 2: days must be", nil},
		"views":            {"text,views\na,marker\n", "line 2: views must be", nil},
		"networks":         {"text,networks\na,10.0.0.0/8\na,\"10.0.0.0/8 marker\"\n", "line 3: networks has no address or network as entry 2", nil},
		"not UTF-8":        {"text\nä\n\xe4\n", "line 3: it is not text in UTF-8", nil},
		"UTF-16":           {"\xff\xfet\x00e\x00x\x00t\x00", "line 1: it is not text in UTF-8", nil},
		"too long a text":  {"text\n" + strings.Repeat("x", store.MaxText+1), "line 2: its text is longer than 1048576 bytes", nil},
		"too long for e2e": {"text\n" + strings.Repeat("x", endtoend.MaxText+1), "line 2: its text is longer than", []string{"--end-to-end"}},
		"mail of e2e":      {"text,mail\nx,ann@example.com\n", "line 2: it has a mail, but the server cannot mail", []string{"--end-to-end"}},
		"too many rows":    {"text\n" + strings.Repeat(row, maxRows+1), fmt.Sprintf("line %d: it has more than %d rows", maxRows+2, maxRows), nil},
		"too long":         {"text\n" + strings.Repeat("\n", maxTable-4), "it is longer than 32 MiB", nil},
	} {
		got := act(t, test.table, nil, append([]string{"push", "--url", f.URL, "--csv", "-"}, test.flags...)...).want(t, exitFailed, "the table: ", test.want, "hint: nothing was pushed").discreet(t)
		if got.stdout != "" {
			t.Errorf("%s: printed %q", name, got.stdout)
		}
	}
	file := inFile(t, "a", "x")
	for _, test := range []struct {
		want string
		args []string
	}{
		{"--csv takes no --name", []string{"--csv", file, "--name", "x"}},
		{"--csv takes no --passphrase", []string{"--csv", file, "--passphrase"}},
		{"--csv takes no --passphrase-file", []string{"--csv", file, "--passphrase-file", file}},
		{"--csv takes no FILE", []string{"--csv", file, file}},
		{"--resume works only with --csv", []string{"--resume", file}},
		{"--kind file needs a FILE", []string{"--csv", file, "--kind", "file"}},
	} {
		act(t, "x", nil, append([]string{"push", "--url", f.URL}, test.args...)...).want(t, exitUsage, test.want)
	}
	act(t, "", nil, "push", "--url", f.URL, "--csv", "nowhere").want(t, exitFailed, "the table: open nowhere", "hint: name a file")
	if got := typed(t, "x\r", "push", "--url", f.URL, "--csv", "-"); got.code != exitUsage || !strings.Contains(got.stderr, "is a terminal") {
		t.Errorf("at a terminal: %+v", got)
	}
	env.Equal(t, "requests", f.asked, 0)
	act(t, "text\n"+strings.Repeat("x", store.MaxText)+"\n"+strings.Repeat("\n", maxTable-store.MaxText-6), nil, "push", "--url", f.URL, "--csv", "-").want(t, exitDone, "pushed 1 row;")
}

func TestATableIsPushedOnWhereItStopped(t *testing.T) {
	t.Parallel()
	f := newPushServer(t)
	table := inFile(t, "people.csv", "text,name\na,=Ann\nb,Bob\nc,Bob\nd,Dan\n")
	f.answer = func(n int, w http.ResponseWriter) bool { return n == 3 && refuse(http.StatusUnprocessableEntity)(w) }
	got := act(t, "", nil, "push", "--url", f.URL, "--csv", table).want(t, exitFailed, "line 4: push to ", "The server's own words", "pushed 2 rows; 2 of 4 have their links").discreet(t)
	links := inFile(t, "links.csv", got.stdout)
	resume := func(code int, want ...string) {
		t.Helper()
		if out := act(t, "", nil, "push", "--url", f.URL, "--csv", table, "--resume", links).want(t, code, want...).discreet(t); out.stdout != "" {
			t.Errorf("printed %q", out.stdout)
		}
	}
	resume(exitDone, "pushed 2 rows; 4 of 4 have their links")
	resume(exitDone, "pushed 0 rows; 4 of 4 have their links")
	want := fmt.Sprintf("name,mail,link\n'=Ann,,%s\nBob,,%s\nBob,,%s\nDan,,%s\n", f.link(1), f.link(2), f.link(3), f.link(4))
	if f.texts() != "a|b|c|d" || contentOf(t, links) != want {
		t.Errorf("pushed %s, wrote\n%s", f.texts(), contentOf(t, links))
	}
	for text, why := range map[string]string{
		want[:len(want)-1]:                       "its last line is not complete",
		"name,mail,link\nBob,,x\n":               "row 1 has another name or mail than line 2 of the table",
		"name,mail,link\n'=Ann,a@b,x\n":          "row 1 has another name or mail than line 2 of the table",
		want + "Eve,,x\n":                        "it has 5 rows, and the table has 4",
		"name,link\n":                            "its first line is not name,mail,link",
		"name,mail,link\nx\n":                    "line 2: wrong number of fields",
		strings.Repeat("x", maxTable) + "\n":     "it is longer than 32 MiB",
		"name,mail,link\n'=Ann,,x\nBob,,\"y\n":   "line 3: extraneous or missing",
		"name;mail;link\n'=Ann;;x\nBob;;\"y\"\n": "line 3: bare \"",
	} {
		links = inFile(t, "links.csv", text)
		resume(exitFailed, "the file of links: "+why, "hint: nothing was pushed")
		env.Equal(t, "the file is as it was", contentOf(t, links) == text, true)
	}
	links = filepath.Join(t.TempDir(), "nowhere", "links.csv")
	resume(exitFailed, "the file of links: open ", "hint: name a file that you may write")
	env.Equal(t, "pushed", f.texts(), "a|b|c|d")
	links = filepath.Join(t.TempDir(), "links.csv") // which the first run makes
	resume(exitDone, "pushed 4 rows")
	if info, err := os.Stat(links); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", info, err)
	}
}

// The shell has emptied the file when the command starts: it must not push all again.
func TestTheFileOfLinksIsNotStandardOutput(t *testing.T) {
	t.Parallel()
	f := newPushServer(t)
	links := env.Must(os.Create(filepath.Join(t.TempDir(), "links.csv")))(t)
	defer links.Close()
	var stderr strings.Builder
	code := Main(t.Context(), []string{"push", "--url", f.URL, "--csv", "-", "--resume", links.Name()}, strings.NewReader("text\nx\n"), links, &stderr, nil)
	if code != exitFailed || !strings.Contains(stderr.String(), "standard output is the same file") || f.asked != 0 {
		t.Errorf("%d, %d requests\n%s", code, f.asked, stderr.String())
	}
}

// An interrupt comes while a push is made: its link is written, and no other push is made.
func TestAnInterruptLosesNoLink(t *testing.T) {
	t.Parallel()
	f := newPushServer(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	f.answer = func(n int, _ http.ResponseWriter) bool {
		if n == 2 {
			cancel()
		}
		return false
	}
	var stdout, stderr strings.Builder
	code := Main(ctx, []string{"push", "--url", f.URL, "--csv", "-"}, strings.NewReader("text\na\nb\nc\n"), &stdout, &stderr, nil)
	want := fmt.Sprintf("name,mail,link\n,,%s\n,,%s\n", f.link(1), f.link(2))
	if code != exitFailed || stdout.String() != want || f.texts() != "a|b" || !strings.Contains(stderr.String(), "pushed 2 rows; 2 of 3") || !strings.Contains(stderr.String(), "hint: run the command again, with --resume") {
		t.Errorf("%d\n%s%s", code, stdout.String(), stderr.String())
	}
}

// A sink remembers how many links it had when a push came, and takes no more than it has room for.
type sink struct {
	f    *pushServer
	room int
	text string
	late bool // a push was made before the link of the one before was written
}

func (s *sink) Write(p []byte) (int, error) {
	if s.late = s.late || len(s.f.pushes) > strings.Count(s.text, "\n"); len(p) > s.room {
		return 0, io.ErrShortWrite
	}
	s.room -= len(p)
	s.text += string(p)
	return len(p), nil
}

func TestEachLinkIsWrittenBeforeTheNextPush(t *testing.T) {
	t.Parallel()
	f := newPushServer(t)
	out := &sink{f: f, room: 200}
	var stderr strings.Builder
	code := Main(t.Context(), []string{"push", "--url", f.URL, "--csv", "-"}, strings.NewReader("text\na\nb\nc\nd\ne\n"), out, &stderr, nil)
	made, written := len(f.pushes), strings.Count(out.text, "\n")-1
	if code != exitFailed || out.late || made != written+1 || written < 1 || written > 4 || !strings.Contains(stderr.String(), "the push was made, but its link could not be written") {
		t.Errorf("%d: %d were made, %d written\n%s", code, made, written, stderr.String())
	}
	out.room, f.pushes = 0, nil
	if Main(t.Context(), []string{"push", "--url", f.URL, "--csv", "-"}, strings.NewReader("text\na\n"), out, &stderr, nil); len(f.pushes) > 0 {
		t.Error("a push was made whose link has no room")
	}
}

func TestATableWaitsWhileTheServerTakesNoPushes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		answer func(n int, w http.ResponseWriter) bool
		code   int
		waits  string
	}{
		{func(n int, w http.ResponseWriter) bool {
			return n == 2 && refuse(http.StatusTooManyRequests, "Retry-After", "900")(w)
		}, exitDone, "[15m0s]"},
		{func(n int, w http.ResponseWriter) bool { return n < 10 && refuse(http.StatusServiceUnavailable)(w) }, exitDone, "[1s 2s 4s 8s 16s 32s 1m0s 1m0s 1m0s]"},
		{func(n int, w http.ResponseWriter) bool {
			return n > maxWaits/2 && refuse(http.StatusTooManyRequests)(w)
		}, exitFailed, ""},
	} {
		f := newPushServer(t)
		f.answer = test.answer
		var waits []time.Duration
		var stdout, stderr strings.Builder
		a := newApp(strings.NewReader("text\n"+strings.Repeat("a\n", maxWaits/2+1)), &stdout, &stderr, nil)
		a.pause = func(_ context.Context, d time.Duration) error { waits = append(waits, d); return nil }
		code := a.run(t.Context(), []string{"push", "--url", f.URL, "--csv", "-"}, nil)
		if code != test.code || test.waits != "" && fmt.Sprint(waits) != test.waits || test.waits == "" && (len(waits) != maxWaits || f.asked != maxWaits/2+maxWaits) {
			t.Errorf("%d after %v and %d requests\n%s", code, waits, f.asked, stderr.String())
		}
	}
	f := newPushServer(t)
	f.answer = func(_ int, w http.ResponseWriter) bool {
		return refuse(http.StatusTooManyRequests, "Retry-After", "901")(w)
	}
	act(t, "text\na\n", nil, "push", "--url", f.URL, "--csv", "-").want(t, exitFailed, "line 2: push to ", "hint: run the command again in 15m1s")
}

func TestMailThatTheServerDoesNotConfirmIsTold(t *testing.T) {
	t.Parallel()
	f := newFake(t) // as a server without mail: it ignores the field
	act(t, "text,mail\na,ann@example.com\nb,\n", nil, "push", "--url", f.URL, "--csv", "-").want(t, exitDone, "warning: the server did not confirm the mail of 1 row")
}
