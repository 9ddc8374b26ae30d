package api_test

import (
	"net/http"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/server/servertest"
)

func TestAClientWithoutAnAccountSendsSmallFilesWhereTheSettingsSaySo(t *testing.T) {
	t.Parallel()
	const small, large = 10_000, 50_000
	a := servertest.New(t, servertest.FileLimits(2, large), servertest.AnonymousFiles(small))
	ann := a.AddTokenUser("ann@example.com")
	for kind, encode := range servertest.FileKinds {
		for _, c := range []struct {
			by   http.Header
			size int
			want int
		}{{nil, small, 201}, {nil, small + 1, 413}, {ann, small + 1, 201}, {ann, large + 1, 413}} {
			file := servertest.File{Name: "f", Media: "a/b", Content: servertest.BytesOf(c.size)}
			contentType, body := encode(servertest.FilePush{Files: []servertest.File{file}})
			got := a.Post(contentType, body, c.by)
			if got.Status != c.want {
				t.Errorf("%s of %d bytes: %d %s", kind, c.size, got.Status, got.Body)
			}
			if c.want == http.StatusCreated {
				a.WantFiles(got.Text("url_token"), file)
			}
		}
		contentType, body := encode(servertest.FilePush{Files: []servertest.File{{Name: "a"}, {Name: "b"}, {Name: "c"}}})
		a.Post(contentType, body, nil).Want(http.StatusUnprocessableEntity)
	}
	a.Do("GET", "/api/v2/version", "").Want(http.StatusOK)
	if got := a.Do("GET", "/api/v2/version", "").Body; !strings.Contains(got, `"requires_authentication":false`) {
		t.Error(got)
	}
	if a.Store.Orphans() != 0 {
		t.Error("something was left")
	}
}

func TestFilesWithoutAnAccountTakeTheRoomOfTheirClient(t *testing.T) {
	t.Parallel()
	const room = 1 << 20
	a := servertest.New(t, servertest.AnonymousFiles(room), func(c *config.Config) { c.Limits.AnonymousBytes = room })
	send := func(by http.Header, size int) servertest.Answer {
		contentType, body := servertest.FilePush{Files: []servertest.File{{Name: "f", Media: "a/b", Content: servertest.BytesOf(size)}}}.Multipart()
		return a.Post(contentType, body, by)
	}
	here, there := servertest.Far(1), servertest.Far(2)
	send(here, room/2).Want(http.StatusCreated)
	if got := send(here, room*3/4).Want(http.StatusTooManyRequests); got.Problem() != "too-many-pushes" {
		t.Error(got.Body)
	}
	send(there, room*3/4).Want(http.StatusCreated)
	if a.Store.Orphans() != 0 {
		t.Error("something was left")
	}
}

func TestFilesWithoutAnAccountNeedAClientThatMayCreate(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, servertest.AnonymousFiles(10_000), func(c *config.Config) { c.AllowAnonymous = false })
	contentType, body := servertest.FilePush{Files: []servertest.File{{Name: "f", Media: "a/b", Content: []byte("x")}}}.Multipart()
	a.Post(contentType, body, nil).Want(http.StatusUnauthorized)
}
