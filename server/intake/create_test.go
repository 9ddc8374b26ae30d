package intake

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pushbox/config"
	"pushbox/internal/limit"
	"pushbox/internal/testkit/env"
	"pushbox/server/action"
	"pushbox/server/body"
	"pushbox/server/deadline"
	"pushbox/store"
	"pushbox/store/storetest"
)

// newParser returns a server that only reads bodies.
func newParser(s *store.Store) *Desk {
	cfg := config.Default()
	memory := int64(cfg.Limits.BodyMemory)
	return &Desk{Config: cfg, Store: s, Memory: limit.NewMemory(memory, action.MemoryWait), Uploads: limit.NewSlots(int(memory / body.UploadMemory))}
}

// posted returns a request with a body, as actions get it.
func posted(t *testing.T, s *Desk, contentType, content string) *action.Request {
	t.Helper()
	w := httptest.NewRecorder()
	hr := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/api/v2/pushes", strings.NewReader(content))
	hr.Header.Set("Content-Type", contentType)
	r := &action.Request{Request: hr, Entry: &action.Entry{}, Body: body.NewReader(hr, nil), Ctx: t.Context(), Deadlines: deadline.New(w, new(config.Limits))}
	r.Memory = s.Memory.Reserve(limit.Holder{})
	return r
}

// A deadlineRecorder is a connection that records how far ahead its deadlines are.
type deadlineRecorder struct {
	http.ResponseWriter
	read, write []time.Duration
}

func (d *deadlineRecorder) SetReadDeadline(t time.Time) error {
	d.read = append(d.read, time.Until(t).Round(time.Hour))
	return nil
}

func (d *deadlineRecorder) SetWriteDeadline(t time.Time) error {
	d.write = append(d.write, time.Until(t).Round(time.Hour))
	return nil
}

// recorded returns a request of an account to create a push, and the record of its
// deadlines.
func recorded(t *testing.T, s *Desk, contentType, content string) (*Draft, *deadlineRecorder) {
	t.Helper()
	r := posted(t, s, contentType, content)
	d := &deadlineRecorder{ResponseWriter: httptest.NewRecorder()}
	r.Actor.Account = 1
	r.Deadlines = deadline.New(d, &config.Limits{StallTimeout: time.Hour, RequestTimeout: 2 * time.Hour})
	c := s.newCreateRequest(r, PushV2)
	c.Policy = s.Store.Policy("")
	return c, d
}

func TestTheDeadlineMovesAsAFileArrives(t *testing.T) {
	t.Parallel()
	s := newParser(storetest.New(t).Store)
	s.Config.Limits.RequestTimeout = 2 * time.Hour
	const stall, rest = time.Hour, 2 * time.Hour
	const progressStep = 64 << 10
	head := "--b\r\nContent-Disposition: form-data; name=\"push[files][]\"; filename=\"f\"\r\n\r\n"
	for size, want := range map[int][]time.Duration{
		0:                    {stall, rest},
		progressStep - 1:     {stall, rest},
		progressStep:         {stall, stall, rest},
		3*progressStep - 1:   {stall, stall, stall, rest},
		3 * progressStep:     {stall, stall, stall, stall, rest},
		3*progressStep + 100: {stall, stall, stall, stall, rest},
	} {
		file := head + strings.Repeat("x", size) + "\r\n"
		c, d := recorded(t, s, "multipart/form-data; boundary=b", file+file+"--b--")
		begun := time.Now()
		env.OK(t, c.read())
		if !slices.Equal(d.read, slices.Repeat(want, 2)) || !slices.Equal(d.write, []time.Duration{rest, rest}) {
			t.Errorf("%d bytes: to read %v, to answer %v", size, d.read, d.write)
		}
		if end := c.Request.Deadlines.End(); end.Before(begun.Add(rest)) {
			t.Errorf("%d bytes: the rest must be done by %v", size, end)
		}
		c.close()
		cut, d := recorded(t, s, "multipart/form-data; boundary=b", file)
		if err := cut.read(); err != body.ErrMultipart || !slices.Equal(d.write, []time.Duration{stall}) {
			t.Errorf("%d bytes, cut: %v, to answer %v", size, err, d.write)
		}
		cut.close()
	}
}

// A wait for memory may be longer than a connection may stall.
func TestTheDeadlineOfAFileBeginsAfterItsWaitForMemory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newParser(storetest.New(t).Store)
		all := s.Memory.Reserve(limit.Holder{})
		defer all.Release()
		if err := all.Resize(t.Context(), 1<<40); err != nil { // all there is
			t.Fatal(err)
		}
		c, d := recorded(t, s, body.TypeJSON, `{"push":{"files":[{"content":"aGk="}]}}`)
		defer c.close()
		if err := c.read(); !errors.Is(err, limit.ErrBusy) || len(d.read) > 0 {
			t.Errorf("%v, with deadlines %v", err, d.read)
		}
	})
}
