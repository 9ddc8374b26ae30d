package server

import (
	"context"
	"io"
	"strconv"
	"time"

	"pushbox/store"
)

// An intake takes in what a create request asks for, as its body arrives: the
// fields, which it keeps, and the files, which go to the store while they are
// read.
type intake struct {
	server *Server
	r      *request
	body   *body
	fields fields
	files  *store.Upload // nil until there is one
	until  time.Time     // when all that is not content of files must be done
	page   bool          // the form is a page's, filled in by a person at a browser
	whole  bool          // the body was read to its end

	account string // whose uploads this counts among; set with files
}

// newIntake begins to take in a request. Whoever begins calls close.
func (s *Server) newIntake(r *request) *intake {
	return &intake{
		server: s, r: r, body: &r.Body, fields: make(fields),
		until: time.Now().Add(s.cfg.Limits.RequestTimeout),
	}
}

// close gives back what files took whose push was not created.
func (in *intake) close() {
	if in.files != nil {
		_ = in.files.Close(in.r.Context()) // the sweeper does it then, or an error of the store is told by others
		in.server.uploads.leave(in.account)
	}
}

// uploader names whose uploads are counted together, until close.
func (in *intake) uploader() string {
	in.account = strconv.FormatUint(uint64(in.r.actor.Account), 10)
	return in.account
}

// create reads what is asked for and has the store keep it.
func (in *intake) create() (store.PushInfo, error) {
	if err := in.readPush(); err != nil {
		return store.PushInfo{}, err
	}
	push, err := in.push()
	if err != nil {
		return store.PushInfo{}, err
	}
	if push.Files != nil {
		if err := in.identifyAgain(); err != nil {
			return store.PushInfo{}, err
		}
	}
	ctx, cancel := in.deadline()
	defer cancel()
	return in.server.store.CreatePush(ctx, in.r.actor, push)
}

// push is what the store is asked for.
func (in *intake) push() (store.NewPush, error) {
	if in.page {
		if err := in.readAsPage(); err != nil {
			return store.NewPush{}, err
		}
	}
	p, err := in.fields.newPush(in.files != nil)
	p.Files = in.files
	if p.Mail != nil {
		p.Mail.Link = linksFrom(in.r.base)
	}
	return p, err
}

// identifyAgain finds out once more whose request it is: files take their time,
// in which the token or the session may have ended.
func (in *intake) identifyAgain() error {
	in.r.session, in.r.actor.Account = store.SessionInfo{}, 0
	if err := in.server.authenticate(in.r); err != nil {
		return err
	}
	if in.r.actor.Account == 0 {
		return errUnauthorized
	}
	return nil
}

// deadline ends what is left to do for the request.
func (in *intake) deadline() (context.Context, context.CancelFunc) {
	return context.WithDeadline(in.r.Context(), in.until)
}

// set notes a field. errUnauthorized as soon as it is known that there are
// files and nobody who may push them.
func (in *intake) set(name string, v value) error {
	in.fields[name] = v
	if in.r.actor.Account == 0 && in.fields.wantsFiles() {
		return errUnauthorized
	}
	return nil
}

// howFiles says how files are sent.
const howFiles = "must be sent as multipart/form-data, each with a filename, or in JSON as a list of objects with filename and content in base64"

// refuse says what is wrong with the files, where there may be any.
func (in *intake) refuse(message string) error {
	var bad store.InvalidError
	if in.server.cfg.EnableFilePushes {
		bad.Add(filesField, message)
	} else {
		bad.Add("kind", store.File.String()+" pushes are disabled")
	}
	return bad.Err()
}

// progressStep is how much of a file must come for its sender to get more time.
const progressStep = 64 << 10

// add hands a file to the store while it arrives, and returns its size.
func (in *intake) add(content io.Reader) (size int64, err error) {
	if in.files == nil {
		if !in.server.uploads.enter(in.uploader()) {
			return 0, errUploads
		}
		in.files = in.server.store.NewUpload()
	}
	if err := in.body.beginFile(); err != nil {
		return 0, err
	}
	c := &contentReader{r: content, pace: &in.r.pace}
	in.r.pace.progress()
	if err := in.files.Add(in.r.Context(), c); err != nil {
		in.r.pace.sending() // the answer, for which the file may have left no time
		return 0, err
	}
	in.r.pace.rest()
	in.until = time.Now().Add(in.server.cfg.Limits.RequestTimeout)
	return c.size, nil
}

// A contentReader reads a file and moves the deadline of its connection as it
// gets on.
type contentReader struct {
	r     io.Reader
	pace  *pacer
	size  int64 // that was read
	fresh int64 // of it: since the deadline was moved
}

func (c *contentReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.size += int64(n)
	if c.fresh += int64(n); c.fresh >= progressStep {
		c.fresh %= progressStep
		c.pace.progress()
	}
	return n, err
}
