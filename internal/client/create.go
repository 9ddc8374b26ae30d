package client

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"slices"
	"time"

	"pushbox/internal/secret"
)

// A NewPush is a push to create. The server chooses the value of each field that is zero.
type NewPush struct {
	Payload       secret.Text
	Kind          string // text, url, qr or file
	Days, Views   int
	ExpiresAt     time.Time     // the exact end, in place of Days
	OpenFrom      time.Time     // it cannot be opened before
	CloseAfter    time.Duration // from its first view to its end; one that DurationCode knows
	Passphrase    secret.Text
	Name, Note    secret.Text
	MailTo        secret.Text // addresses, separated by commas, that the server mails the link to
	Recipient     secret.Text // an address, or @ and a domain: the only person who can open it, with a code that is mailed there
	RetrievalStep *bool
	Reveal        string // press or type
	Deletable     *bool  // by anyone with the link
	Networks      string // from which it opens, separated by commas
	Files         []Upload
}

// An Upload is a file of a NewPush.
type Upload struct {
	Name    string
	Size    int64 // bytes; below 0: not known
	Content io.ReadCloser
}

// A Progress is called with the bytes transferred and the total, which is below 0 if it is
// not known. One goroutine calls it at a time.
type Progress func(done, total int64)

// ErrRecipient says that the server made a push that anyone with the link can open, although the push
// names its recipient. Its link is lost.
var ErrRecipient = errors.New("the server knows no named recipients, so anyone with the link could open the push")

var errHome = errors.New("there is no server to push to")

// Create creates a push on the home server, and returns its link. It reads files once, and
// closes them in any case. A push without files and mail is sent once more if the answer is
// lost or a gateway has none, with the same key: a server that knows keys makes only one push.
// ErrRecipient if the server ignored the recipient. After an error that is not a *StatusError there
// may be a push whose link is lost.
func (c *Client) Create(ctx context.Context, in NewPush, p Progress) (Push, error) {
	if len(in.Files) > 0 || !in.MailTo.IsZero() { // files are read once; Password Pusher knows no key, and would mail twice
		return c.create(ctx, in, "", p)
	}
	key := rand.Text()
	made, err := c.create(ctx, in, key, p)
	if isLost(err) && c.pause(ctx, repeatWait) == nil {
		return c.create(ctx, in, key, p)
	}
	return made, err
}

const repeatWait = time.Second // before a create is sent again

// isLost reports whether the answer to a request was lost after the server may have had it. With 503 a
// server says that it did nothing.
func isLost(err error) bool {
	if refused, ok := errors.AsType[*StatusError](err); ok {
		return refused.Status == http.StatusBadGateway || refused.Status == http.StatusGatewayTimeout
	}
	op, ok := errors.AsType[*net.OpError](err)
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || ok && op.Op != "dial"
}

// create is one attempt of Create. An empty key is not sent.
func (c *Client) create(ctx context.Context, in NewPush, key string, p Progress) (Push, error) {
	ctx, w := newWatch(ctx, answerTimeout)
	defer w.stop()
	if c.opt.Home.IsZero() {
		return Push{}, errors.Join(errHome, closeAll(in.Files))
	}
	req, done, err := c.createRequest(ctx, w, in, p)
	if err != nil {
		return Push{}, err
	}
	defer done()
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	body, err := c.answer(ctx, w, req)
	if err != nil {
		return Push{}, err
	}
	made := pushOf(body, c.opt.Home)
	if made.Link.IsZero() {
		return Push{}, ErrAnswer
	}
	if made.recipient != in.Recipient.Reveal() {
		return Push{}, ErrRecipient
	}
	return made, nil
}

// createRequest makes the request. The caller calls done after the answer.
func (c *Client) createRequest(ctx context.Context, w *watch, in NewPush, p Progress) (req *http.Request, done func(), err error) {
	if len(in.Files) == 0 {
		text, err := in.json()
		if err != nil {
			return nil, nil, err
		}
		req, err = c.apiRequest(ctx, http.MethodPost, c.opt.Home, bytes.NewReader(text), pushes)
		if err == nil {
			req.Header.Set("Content-Type", "application/json")
		}
		return req, func() {}, err
	}
	form, err := newForm(in, w, c.opt.Stall, p)
	if err != nil {
		return nil, nil, errors.Join(err, closeAll(in.Files))
	}
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) {
		// An answer over HTTP/2 ends the upload by itself. nginx never sends 100 Continue there, so
		// the client would wait for it without result.
		if c, ok := i.Conn.(*tls.Conn); ok && c.ConnectionState().NegotiatedProtocol == "h2" {
			req.Header.Del("Expect")
		}
	}})
	req, err = c.apiRequest(ctx, http.MethodPost, c.opt.Home, form, pushes)
	if err != nil {
		return nil, nil, errors.Join(err, form.Close())
	}
	req.ContentLength = form.total
	req.Header.Set("Content-Type", form.mediaType)
	req.Header.Set("Expect", "100-continue")     // the server can refuse before the files are sent
	return req, func() { _ = form.Close() }, nil // they were only read
}

type field struct {
	name  string
	value any
}

func (in NewPush) fields() (all []field) {
	add := func(has bool, name string, value any) {
		if has {
			all = append(all, field{name, value})
		}
	}
	add(!in.Payload.IsZero(), "payload", in.Payload.Reveal())
	add(in.Kind != "", "kind", in.Kind)
	add(in.Days > 0, "expire_after_days", in.Days)
	add(durationCodes[in.Days] != 0, "expire_after_duration", durationCodes[in.Days])
	add(!in.ExpiresAt.IsZero(), "expires_at", in.ExpiresAt.Format(time.RFC3339Nano))
	add(!in.OpenFrom.IsZero(), "open_from", in.OpenFrom.Format(time.RFC3339Nano))
	code, _ := DurationCode(in.CloseAfter)
	add(in.CloseAfter > 0, "close_after_first_view", code)
	add(in.Views > 0, "expire_after_views", in.Views)
	add(!in.Passphrase.IsZero(), "passphrase", in.Passphrase.Reveal())
	add(!in.Name.IsZero(), "name", in.Name.Reveal())
	add(!in.Note.IsZero(), "note", in.Note.Reveal())
	add(!in.MailTo.IsZero(), "notify_emails_to", in.MailTo.Reveal())
	add(!in.Recipient.IsZero(), "recipient_email", in.Recipient.Reveal())
	if in.RetrievalStep != nil {
		add(true, "retrieval_step", *in.RetrievalStep)
	}
	add(in.Reveal != "", "reveal", in.Reveal)
	add(in.Networks != "", "networks", in.Networks)
	if in.Deletable != nil {
		add(true, "deletable_by_viewer", *in.Deletable)
	}
	return all
}

func (in NewPush) json() ([]byte, error) {
	members := make(map[string]any)
	for _, f := range in.fields() {
		members[f.name] = f.value
	}
	text, err := json.Marshal(map[string]any{"push": members})
	if err != nil {
		return nil, fmt.Errorf("encode the push: %w", err)
	}
	return text, nil
}

// durationCodes are the codes that the hosted Password Pusher accepts instead of days. Only some
// numbers of days have a code. A server that knows both uses the days.
var durationCodes = map[int]int{1: 6, 2: 7, 3: 8, 4: 9, 5: 10, 6: 11, 7: 12, 14: 13, 21: 14, 30: 15, 60: 16, 90: 17}

// DurationCode returns the code of a duration in the API, or false if it has none.
func DurationCode(d time.Duration) (code int, has bool) {
	const day = 24 * time.Hour
	if code, has = durationCodes[int(d/day)]; has && d%day == 0 {
		return code, true
	}
	code = slices.Index([]time.Duration{15 * time.Minute, 30 * time.Minute, 45 * time.Minute, time.Hour, 6 * time.Hour, 12 * time.Hour}, d)
	return code, code >= 0
}

func closeAll(files []Upload) error {
	var all []error
	for _, f := range files {
		all = append(all, f.Content.Close())
	}
	return errors.Join(all...)
}
