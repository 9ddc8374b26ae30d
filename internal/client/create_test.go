package client

import (
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
)

const madeBody = `{"url_token":"` + aToken + `","html_url":"https://push.example.com/p/` + aToken + `/r","expire_after_days":7,"expire_after_views":5}`

func everything() NewPush {
	yes, no := true, false
	return NewPush{
		Payload: secret.New("a\u2028<b>\"\n"), Kind: "text", Days: 7, Views: 3, Passphrase: secret.New("p"),
		Name: secret.New("n"), Note: secret.New("no"), RetrievalStep: &yes, Deletable: &no,
	}
}

func TestATextIsPushedAsJSON(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		in   NewPush
		want string
	}{
		{"only what is given", NewPush{Payload: secret.New("x")}, `{"push":{"payload":"x"}}`},
		{
			"everything", everything(),
			`{"push":{"payload":"a\u2028<b>\"\n","kind":"text","expire_after_days":7,"expire_after_duration":12,"expire_after_views":3,"passphrase":"p",` +
				`"name":"n","note":"no","retrieval_step":true,"deletable_by_viewer":false}}`,
		},
		{"days without a code", NewPush{Payload: secret.New("x"), Days: 8}, `{"push":{"payload":"x","expire_after_days":8}}`},
	} {
		var body []byte
		f := serving(t, func(w http.ResponseWriter, r *http.Request) {
			body, _ = io.ReadAll(r.Body)
			says(http.StatusCreated, madeBody)(w, r)
		})
		p, err := f.client().Create(t.Context(), test.in, nil)
		if err != nil || p.Link.Reveal() != "https://push.example.com/p/"+aToken+"/r" || p.Days != 7 || p.Views != 5 {
			t.Errorf("%s: %+v, %v", test.name, p, err)
		}
		var got, want any
		if err := errors.Join(json.Unmarshal(body, &got), json.Unmarshal([]byte(test.want), &want)); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: sent %s, %v", test.name, body, err)
		}
		r := f.requests()[0]
		if r.Method != http.MethodPost || r.URL.Path != "/api/v2/pushes" || r.Header.Get("Content-Type") != "application/json" ||
			r.Header.Get("Authorization") != "Bearer "+apiKey || r.ContentLength != int64(len(body)) {
			t.Errorf("%s: %s %s %v", test.name, r.Method, r.URL.Path, r.Header)
		}
	}
}

// A part is a field or a file of a form, in the order in which they came.
type part struct{ name, file, text string }

// takesForms answers requests with forms, and stores the parts of each in got.
func takesForms(t *testing.T, got *[]part) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		form, err := r.MultipartReader()
		if err != nil {
			t.Error(err)
			return
		}
		for {
			p, err := form.NextPart()
			if err != nil {
				break
			}
			text, _ := io.ReadAll(p)
			name := strings.TrimPrefix(strings.TrimSuffix(p.FormName(), "]"), "push[")
			*got = append(*got, part{name, fileNameOf(p), string(text)})
		}
		says(http.StatusCreated, madeBody)(w, r)
	}
}

// fileNameOf is the name as it was sent; FileName cuts it.
func fileNameOf(p *multipart.Part) string {
	_, name, _ := strings.Cut(p.Header.Get("Content-Disposition"), `filename="`)
	return strings.TrimSuffix(name, `"`)
}

func TestFieldsOfAFormComeBeforeItsFiles(t *testing.T) {
	t.Parallel()
	var got []part
	f := serving(t, takesForms(t, &got))
	in := everything()
	in.Kind, in.Files = "file", []Upload{upload("a.txt", "first"), upload(`q"u\o`+"\r\nX: y", ""), upload("ä 報.bin", strings.Repeat("x", 100000))}
	in.Files[1].Size = 0
	env.Must(f.client().Create(t.Context(), in, nil))(t)
	want := []part{
		{"payload", "", "a\u2028<b>\"\n"},
		{"kind", "", "file"},
		{"expire_after_days", "", "7"},
		{"expire_after_duration", "", "12"},
		{"expire_after_views", "", "3"},
		{"passphrase", "", "p"},
		{"name", "", "n"},
		{"note", "", "no"},
		{"retrieval_step", "", "true"},
		{"deletable_by_viewer", "", "false"},
		{"files][", "a.txt", "first"},
		{"files][", `q%22u\o%0D%0AX: y`, ""},
		{"files][", "ä 報.bin", strings.Repeat("x", 100000)},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q", got)
	}
	if r := f.requests()[0]; r.ContentLength < 100000 || len(r.TransferEncoding) != 0 {
		t.Errorf("the length was %d", r.ContentLength)
	}
}

func TestAFileOfUnknownLengthIsSentInChunks(t *testing.T) {
	t.Parallel()
	var got []part
	f := serving(t, takesForms(t, &got))
	odd := upload("pipe", "from a pipe")
	odd.Size = -1
	var totals []int64
	_, err := f.client().Create(t.Context(), NewPush{Files: []Upload{upload("a", "1"), odd, upload("b", "2")}}, func(_, total int64) { totals = append(totals, total) })
	if err != nil || len(got) != 3 || got[1].text != "from a pipe" || got[2].text != "2" || totals[0] != -1 {
		t.Errorf("%v, %q, %v", err, got, totals)
	}
}

func TestAFileMustStayAsItIs(t *testing.T) {
	t.Parallel()
	for name, size := range map[string]int64{"shorter": 5, "longer": 3} {
		f := serving(t, takesForms(t, new([]part)))
		changed := upload("a", "four")
		changed.Size = size
		_, err := f.client().Create(t.Context(), NewPush{Files: []Upload{changed}}, nil)
		env.ErrorIs(t, name, err, ErrChanged)
	}
}

func TestAFileThatCannotBeReadIsAnError(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	f := serving(t, takesForms(t, new([]part)))
	in := NewPush{Files: []Upload{{"a", 9, io.NopCloser(iotest.ErrReader(broken))}}}
	_, err := f.client().Create(t.Context(), in, nil)
	env.ErrorIs(t, "it", err, broken)
}

// A closer counts how often it was closed.
type closer struct {
	io.Reader
	closed *atomic.Int32
}

func (c closer) Close() error { c.closed.Add(1); return nil }

func TestARefusalComesBeforeTheFilesAreSentAndClosesThem(t *testing.T) {
	t.Parallel()
	var closed, read atomic.Int32
	source := iotest.DataErrReader(readerFunc(func(p []byte) (int, error) { read.Add(1); return len(p), nil }))
	f := serving(t, says(http.StatusUnauthorized, `{"error":"unauthorized","message":"This needs an API token."}`))
	in := NewPush{Files: []Upload{{"big", 1 << 40, closer{source, &closed}}}}
	_, err := f.client().Create(t.Context(), in, nil)
	refused := (*StatusError)(nil)
	if !errors.As(err, &refused) || refused.Status != http.StatusUnauthorized {
		t.Errorf("got %v", err)
	}
	if closed.Load() != 1 || read.Load() != 0 {
		t.Errorf("the file was closed %d times and read %d times", closed.Load(), read.Load())
	}
	env.Equal(t, "Expect is", f.requests()[0].Header.Get("Expect"), "100-continue")
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestWithoutAServerNothingIsPushed(t *testing.T) {
	t.Parallel()
	var closed atomic.Int32
	in := NewPush{Files: []Upload{{"a", 1, closer{strings.NewReader("x"), &closed}}}}
	if _, err := New(Options{Stall: time.Minute}).Create(t.Context(), in, nil); !errors.Is(err, errHome) || closed.Load() != 1 {
		t.Errorf("%v, closed %d times", err, closed.Load())
	}
}

func TestAnUploadThatNoServerReadsIsGivenUp(t *testing.T) {
	t.Parallel()
	over := make(chan struct{})
	f := serving(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadFull(r.Body, make([]byte, 1))
		<-over
	})
	defer close(over) // before the server is closed, which waits
	c := New(Options{Home: f.server(), Stall: 50 * time.Millisecond})
	zeros := readerFunc(func(p []byte) (int, error) { clear(p); return len(p), nil })
	in := NewPush{Files: []Upload{{"a", 1 << 40, io.NopCloser(zeros)}}}
	_, err := c.Create(t.Context(), in, nil)
	env.ErrorIs(t, "it", err, ErrStalled)
}

func TestTheProgressOfAnUploadEndsAtItsTotal(t *testing.T) {
	t.Parallel()
	f := serving(t, takesForms(t, new([]part)))
	var seen [][2]int64
	_, err := f.client().Create(t.Context(), NewPush{Files: []Upload{upload("a", strings.Repeat("x", 1<<20))}}, func(done, total int64) {
		seen = append(seen, [2]int64{done, total})
	})
	if err != nil || len(seen) < 3 {
		t.Fatalf("%v, %d calls", err, len(seen))
	}
	last := seen[len(seen)-1]
	if last[0] != last[1] || strconv.FormatInt(last[1], 10) != f.requests()[0].Header.Get("Content-Length") {
		t.Errorf("it ended at %d of %d", last[0], last[1])
	}
	for i := 1; i < len(seen); i++ {
		if seen[i][0] <= seen[i-1][0] {
			t.Errorf("it went from %d to %d", seen[i-1][0], seen[i][0])
		}
	}
}

// Over HTTP/2 nothing waits for a 100 Continue, which proxies do not send there.
func TestOverHTTP2FilesAreSentWithoutAsking(t *testing.T) {
	t.Parallel()
	expected := make(chan string, 1)
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		expected <- r.Proto + " " + r.Header.Get("Expect")
		w.WriteHeader(http.StatusUnauthorized)
	}))
	srv.EnableHTTP2 = true
	srv.StartTLS()
	defer srv.Close()
	home := env.Must(ParseServer(srv.URL))(t)
	roots := x509.NewCertPool()
	roots.AddCert(srv.Certificate())
	c := New(Options{Home: home, Roots: roots, Agent: "pushbox/test", Stall: env.Patience})
	in := NewPush{Files: []Upload{{Name: "a", Size: 1 << 20, Content: io.NopCloser(strings.NewReader(strings.Repeat("a", 1<<20)))}}}
	refused := (*StatusError)(nil)
	if _, err := c.Create(t.Context(), in, nil); !errors.As(err, &refused) || refused.Status != http.StatusUnauthorized {
		t.Errorf("refused: %v", err)
	}
	if got := <-expected; got != "HTTP/2.0 " {
		t.Errorf("the server got %q", got)
	}
}
