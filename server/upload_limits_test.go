package server_test

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pushbox/config"
)

func TestHowManyFilesAndHowLarge(t *testing.T) {
	t.Parallel()
	const count, size = 3, 100_000
	a := newAPI(t, fileLimits(count, size))
	ann := a.user("ann@example.com")
	for kind, encode := range fileKinds {
		for _, c := range []struct {
			count, size int
			want        int
		}{{count, 10, 201}, {count + 1, 10, 422}, {1, size, 201}, {2, size + 1, 413}, {1, size + 1, 413}, {1, 2 * size, 413}} {
			contentType, body := encode(filePush{files: slices.Repeat([]file{{"f", "", bytesOf(c.size)}}, c.count)})
			got := a.post(contentType, body, ann).want(c.want)
			switch c.want {
			case http.StatusCreated:
				a.do("DELETE", pushes+"/"+got.text("url_token"), "", ann).want(http.StatusOK)
			case http.StatusUnprocessableEntity:
				if got.body != `{"files":["are too many (maximum is 3)"]}`+"\n" {
					t.Errorf("%s: %s", kind, got.body)
				}
			default:
				if got.problem() != "payload-too-large" {
					t.Errorf("%s: %s", kind, got.body)
				}
			}
		}
	}
	a.store.SweepAll()
	a.wantNothing(ann)
}

func TestADeclaredLengthIsBelievedWhenItIsTooMuch(t *testing.T) {
	t.Parallel()
	const text, count, size = 64 << 10, 2, 100_000
	a := newAPI(t, fileLimits(count, size), func(c *config.Config) { c.Limits.MaxBody = text })
	ann := a.user("ann@example.com")
	for _, c := range []struct {
		contentType string
		caller      http.Header
		length      int64
	}{
		{multi.Get("Content-Type"), ann, text + count*size},
		{"application/json", ann, text + count*size*3/2},
		{"application/x-www-form-urlencoded", ann, text},
		{"application/x-www-form-urlencoded", nil, text},
	} {
		for extra, want := range map[int64]string{0: "HTTP/1.1 100 ", 1: "HTTP/1.1 413 "} {
			header := declared(c.contentType, c.length+extra, c.caller)
			header.Set("Expect", "100-continue")
			l := a.dial(header, "")
			first := make([]byte, len(want))
			if _, err := l.Read(first); err != nil || string(first) != want {
				t.Errorf("%s of %d bytes: %q, %v", c.contentType, c.length+extra, first, err)
			}
			_ = l.Close()
		}
	}
	part := func(declared string) string {
		return part("Content-Disposition: form-data; name=\"push[files][]\"; filename=f\r\nContent-Length: "+declared, "hi") + "--b--"
	}
	for length, want := range map[string]int{strconv.Itoa(size): 201, strconv.Itoa(size + 1): 413, "-1": 201, "x": 201, "99999999999999999999": 413} {
		a.do("POST", pushes, part(length), multi, ann).want(want)
	}
}

func TestTheTextOfABodyIsBoundedWhereverItStands(t *testing.T) {
	t.Parallel()
	const limit = 128 << 10
	a := newAPI(t, func(c *config.Config) { c.Limits.MaxBody = limit })
	ann := a.user("ann@example.com")
	f := file{"f", "a/b", bytesOf(200_000)}
	files := []file{f, {"g", "a/b", nil}, f, {"h", "a/b", []byte("x")}}
	content := map[string]int{
		"multipart": 2*len(f.content) + 1,
		"JSON":      2*base64.StdEncoding.EncodedLen(len(f.content)) + 4 + len(files), // with the closing quotes
	}
	for kind, encode := range fileKinds {
		for _, before := range []bool{true, false} {
			fill := func(n int) (string, string) {
				fields := map[string]string{"payload": strings.Repeat("x", n)}
				if before {
					return encode(filePush{files: files, before: fields})
				}
				return encode(filePush{files: files, after: fields})
			}
			_, least := fill(0)
			room := limit - (len(least) - content[kind])
			for extra, want := range map[int]int{0: 201, 1: 413, 100_000: 413} {
				contentType, body := fill(room + extra)
				got := a.post(contentType, body, ann)
				if got.status != want || want == 413 && got.problem() != "payload-too-large" {
					t.Errorf("%s, before %v, %d bytes over: %d %.200s", kind, before, extra, got.status, got.body)
				}
			}
		}
	}
	if n := a.store.Orphans(); n > 0 {
		t.Errorf("chunks of %d uploads are there", n)
	}
}

func TestTheHeaderOfAPartIsBounded(t *testing.T) {
	t.Parallel()
	const limit = 16 << 10
	a := newAPI(t)
	ann := a.user("ann@example.com")
	head := `Content-Disposition: form-data; name="push[files][]"; filename="f"` + "\r\nX: "
	for extra, want := range map[int]int{0: 201, 1: 400, 20_000: 400, 8 << 20: 400} {
		fill := strings.Repeat("x", limit-len(head)-len("\r\n")+extra)
		for _, first := range []string{"", filePart(file{"g", "a/b", bytesOf(100_000)})} {
			got := a.do("POST", pushes, first+part(head+fill, "x")+"--b--", multi, ann)
			if got.status != want || want == 400 && got.problem() != "bad-request" {
				t.Errorf("%d bytes over: %d %s", extra, got.status, got.body)
			}
		}
	}
}
