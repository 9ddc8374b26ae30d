package api_test

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/server/servertest"
)

func TestTheNumberAndSizeOfFilesAreLimited(t *testing.T) {
	t.Parallel()
	const count, size = 3, 100_000
	a := servertest.New(t, servertest.FileLimits(count, size))
	ann := a.AddTokenUser("ann@example.com")
	for kind, encode := range servertest.FileKinds {
		for _, c := range []struct {
			count, size int
			want        int
		}{{count, 10, 201}, {count + 1, 10, 422}, {1, size, 201}, {2, size + 1, 413}, {1, size + 1, 413}, {1, 2 * size, 413}} {
			contentType, body := encode(servertest.FilePush{Files: slices.Repeat([]servertest.File{{Name: "f", Media: "", Content: servertest.BytesOf(c.size)}}, c.count)})
			got := a.Post(contentType, body, ann).Want(c.want)
			switch c.want {
			case http.StatusCreated:
				a.Do("DELETE", pushes+"/"+got.Text("url_token"), "", ann).Want(http.StatusOK)
			case http.StatusUnprocessableEntity:
				if got.Body != `{"files":["are too many (maximum is 3)"]}`+"\n" {
					t.Errorf("%s: %s", kind, got.Body)
				}
			default:
				if got.Problem() != "payload-too-large" {
					t.Errorf("%s: %s", kind, got.Body)
				}
			}
		}
	}
	a.Store.SweepAll()
	a.WantNothing(ann)
}

func TestADeclaredLengthThatIsTooLargeIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	const text, count, size = 64 << 10, 2, 100_000
	a := servertest.New(t, servertest.FileLimits(count, size), func(c *config.Config) { c.Limits.MaxBody = text })
	ann := a.AddTokenUser("ann@example.com")
	for _, c := range []struct {
		contentType string
		caller      http.Header
		length      int64
	}{
		{servertest.Multi.Get("Content-Type"), ann, text + count*size},
		{"application/json", ann, text + count*size*3/2},
		{"application/x-www-form-urlencoded", ann, text},
		{"application/x-www-form-urlencoded", nil, text},
	} {
		for extra, want := range map[int64]string{0: "HTTP/1.1 100 ", 1: "HTTP/1.1 413 "} {
			header := servertest.Declared(c.contentType, c.length+extra, c.caller)
			header.Set("Expect", "100-continue")
			l := a.Dial(header, "")
			first := make([]byte, len(want))
			if _, err := l.Read(first); err != nil || string(first) != want {
				t.Errorf("%s of %d bytes: %q, %v", c.contentType, c.length+extra, first, err)
			}
			_ = l.Close()
		}
	}
	part := func(declared string) string {
		return servertest.Part("Content-Disposition: form-data; name=\"push[files][]\"; filename=f\r\nContent-Length: "+declared, "hi") + "--b--"
	}
	for length, want := range map[string]int{strconv.Itoa(size): 201, strconv.Itoa(size + 1): 413, "-1": 201, "x": 201, "99999999999999999999": 413} {
		a.Do("POST", pushes, part(length), servertest.Multi, ann).Want(want)
	}
}

func TestTheTextOfABodyIsBoundedAnywhereInIt(t *testing.T) {
	t.Parallel()
	const limit = 128 << 10
	a := servertest.New(t, func(c *config.Config) { c.Limits.MaxBody = limit })
	ann := a.AddTokenUser("ann@example.com")
	f := servertest.File{Name: "f", Media: "a/b", Content: servertest.BytesOf(200_000)}
	files := []servertest.File{f, {Name: "g", Media: "a/b", Content: nil}, f, {Name: "h", Media: "a/b", Content: []byte("x")}}
	content := map[string]int{
		"multipart": 2*len(f.Content) + 1,
		"JSON":      2*base64.StdEncoding.EncodedLen(len(f.Content)) + 4 + len(files), // with the closing quotes
	}
	for kind, encode := range servertest.FileKinds {
		for _, before := range []bool{true, false} {
			fill := func(n int) (string, string) {
				fields := map[string]string{"payload": strings.Repeat("x", n)}
				if before {
					return encode(servertest.FilePush{Files: files, Before: fields})
				}
				return encode(servertest.FilePush{Files: files, After: fields})
			}
			_, least := fill(0)
			room := limit - (len(least) - content[kind])
			for extra, want := range map[int]int{0: 201, 1: 413, 100_000: 413} {
				contentType, body := fill(room + extra)
				got := a.Post(contentType, body, ann)
				if got.Status != want || want == 413 && got.Problem() != "payload-too-large" {
					t.Errorf("%s, before %v, %d bytes over: %d %.200s", kind, before, extra, got.Status, got.Body)
				}
			}
		}
	}
	if n := a.Store.Orphans(); n > 0 {
		t.Errorf("chunks of %d uploads are there", n)
	}
}

func TestTheHeaderOfAPartIsBounded(t *testing.T) {
	t.Parallel()
	const limit = 16 << 10
	a := servertest.New(t)
	ann := a.AddTokenUser("ann@example.com")
	head := `Content-Disposition: form-data; name="push[files][]"; filename="f"` + "\r\nX: "
	for extra, want := range map[int]int{0: 201, 1: 400, 20_000: 400, 8 << 20: 400} {
		fill := strings.Repeat("x", limit-len(head)-len("\r\n")+extra)
		for _, first := range []string{"", servertest.FilePart(servertest.File{Name: "g", Media: "a/b", Content: servertest.BytesOf(100_000)})} {
			got := a.Do("POST", pushes, first+servertest.Part(head+fill, "x")+"--b--", servertest.Multi, ann)
			if got.Status != want || want == 400 && got.Problem() != "bad-request" {
				t.Errorf("%d bytes over: %d %s", extra, got.Status, got.Body)
			}
		}
	}
}
