package api_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/server/servertest"
	"pushbox/store"
)

// accountRoom gives each account so much room for its live pushes.
func accountRoom(pushes int, bytes int64) func(*config.Config) {
	return func(c *config.Config) { c.Limits.AccountPushes, c.Limits.AccountBytes = pushes, config.Size(bytes) }
}

func TestAnUploadBeyondTheRoomOfItsAccountIsCutShort(t *testing.T) {
	t.Parallel()
	const room, text = 1 << 20, 4 << 20
	a := servertest.New(t, accountRoom(0, room), func(c *config.Config) { c.Limits.MaxBody = text })
	ann := a.AddTokenUser("ann@example.com")
	const more = room/2 + 256<<10 // the room, and as much as may arrive before it is asked for again
	json := `{"push":{"files":[{"filename":"f","content":"`
	for name, c := range map[string]struct{ contentType, sent string }{
		"one file":  {servertest.Multi.Get("Content-Type"), strings.TrimSuffix(servertest.FilePart(servertest.File{Name: "f", Content: servertest.BytesOf(room/2 + more)}), "\r\n")},
		"two files": {servertest.Multi.Get("Content-Type"), strings.TrimSuffix(strings.Repeat(servertest.FilePart(servertest.File{Name: "f", Content: servertest.BytesOf(more)}), 2), "\r\n")},
		"JSON":      {"application/json", json + strings.Repeat("aGk0", (room/2+more)/3+1)},
	} {
		got := a.Dial(servertest.Declared(c.contentType, room+text, ann), c.sent).Want(http.StatusTooManyRequests)
		if got.Problem() != "too-many-pushes" {
			t.Errorf("%s: %s", name, got.Body)
		}
	}
	a.Store.SweepAll()
	a.WantNothing(ann)
	if s := a.Log.String(); strings.Contains(s, `"level":"error"`) {
		t.Error(s)
	}
}

func TestADeclaredLengthBeyondTheRoomOfTheAccountIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	const room, text = 900_000, 64 << 10
	a := servertest.New(t, accountRoom(0, room), func(c *config.Config) { c.Limits.MaxBody = text })
	ann := a.AddTokenUser("ann@example.com")
	for contentType, longest := range map[string]int64{servertest.Multi.Get("Content-Type"): text + room, "application/json": text + room/2*3 + 2} {
		for extra, want := range map[int64]string{0: "HTTP/1.1 100 ", 1: "HTTP/1.1 429 "} {
			header := servertest.Declared(contentType, longest+extra, ann)
			header.Set("Expect", "100-continue")
			l := a.Dial(header, "")
			first := make([]byte, len(want))
			if _, err := l.Read(first); err != nil || string(first) != want {
				t.Errorf("%s of %d bytes: %q, %v", contentType, longest+extra, first, err)
			}
			_ = l.Close()
		}
	}
	for declared, want := range map[int]int{room: http.StatusCreated, room + 1: http.StatusTooManyRequests} {
		part := servertest.Part("Content-Disposition: form-data; name=\"push[files][]\"; filename=f\r\nContent-Length: "+strconv.Itoa(declared), "hi") + "--b--"
		a.Do("POST", pushes, part, servertest.Multi, ann).Want(want)
	}
}

func TestAnUploadBeginsOnlyIfItsAccountMayHaveAnotherPush(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, accountRoom(1, 0))
	ann := a.AddTokenUser("ann@example.com")
	begin := servertest.FilePart(servertest.File{Name: "f", Content: []byte("hi")})
	first := a.Do("POST", pushes, begin+"--b--", servertest.Multi, ann).Want(http.StatusCreated)
	a.Dial(servertest.Declared(servertest.Multi.Get("Content-Type"), 1<<20, ann), begin).Want(http.StatusTooManyRequests)
	a.Do("DELETE", pushes+"/"+first.Text("url_token"), "", ann).Want(http.StatusOK)
	a.Store.SweepAll()
	if n := a.Store.Orphans(); n != 0 {
		t.Errorf("chunks of %d uploads are there", n)
	}
	a.Do("POST", pushes, begin+"--b--", servertest.Multi, ann).Want(http.StatusCreated)
	if err := a.Store.HasRoom(t.Context(), store.Actor{}, 1<<40); err != nil {
		t.Errorf("without an account: %v", err)
	}
}
