package server

import (
	"context"
	"errors"
	"time"

	"pushbox/internal/limit"
	"pushbox/server/action"
	"pushbox/server/body"
	"pushbox/server/deadline"
	"pushbox/store"
	"pushbox/store/record"
)

const errNoPush = action.BadRequest("param is missing or the value is empty or invalid: push. Send an object push with at least one field, such as {\"push\":{\"payload\":\"...\"}}, or push[payload]=... in a form.")

// A createRequest is a request to create a push. As its body arrives, it keeps the
// fields and passes the files on to the store.
type createRequest struct {
	server *Server
	r      *action.Request
	spelling
	fields   fields
	files    *store.Upload // nil before the first file
	deadline time.Time     // for all but the content of files
	bodyRead bool          // the body was read to its end

	content int64 // bytes of the files so far

	by     limit.Holder      // of its memory, and of its upload slot
	asked  store.RequestInfo // that the push answers
	policy store.Policy      // of its sender; of the owner of the request that it answers
}

// pushV2 is the spelling of new pushes in version 2 of the API.
var pushV2 = spelling{wrapper: "push"}

// A spelling is how a request to create a push is written.
type spelling struct {
	wrapper string      // the object that has the fields
	page    bool        // it comes from a page's form, not from a program
	v1      bool        // it belongs to API version 1
	kind    record.Kind // of the push, whatever the fields say; 0: they decide

	request store.RequestToken // that the push answers; zero: none. Its sender needs no account for files.
}

// answers reports whether the push answers a request.
func (how spelling) answers() bool { return !how.request.IsZero() }

func (s *Server) newCreateRequest(r *action.Request, how spelling) *createRequest {
	return &createRequest{
		server: s, r: r, spelling: how, fields: make(fields),
		deadline: time.Now().Add(s.cfg.Limits.RequestTimeout),
	}
}

// receivePush reads a request to create a push and has the store create it. Even with an
// error it returns the fields read so far. It frees the uploaded files unless the
// push was created.
func (s *Server) receivePush(r *action.Request, how spelling) (*createRequest, store.PushInfo, error) {
	c := s.newCreateRequest(r, how)
	defer c.close()
	if err := c.findPolicy(); err != nil {
		return c, store.PushInfo{}, err
	}
	c.hold()
	if err := c.read(); err != nil {
		return c, store.PushInfo{}, err
	}
	push, err := c.newPush()
	push.Receipt = c.page
	if err == nil && push.Files != nil && !c.answers() {
		err = c.identifyAgain()
	}
	if err != nil {
		return c, store.PushInfo{}, err
	}
	ctx, cancel := context.WithDeadline(r.Context(), c.deadline)
	defer cancel()
	p, err := s.store.CreatePush(ctx, r.Actor, push)
	return c, p, err
}

// findPolicy finds the request that the push answers, and the policy, before anything is read.
func (c *createRequest) findPolicy() (err error) {
	if !c.answers() {
		c.policy, err = c.server.store.PolicyOf(c.r.Context(), c.r.Actor)
		return err
	}
	c.asked, err = c.server.store.FindRequest(c.r.Context(), c.request)
	c.policy = c.asked.Policy
	return err
}

// hold says who holds the memory and the upload slot of the request.
func (c *createRequest) hold() {
	c.by = c.r.Holder()
	if c.answers() {
		c.by.Link, c.by.Asker = c.asked.ID.String(), uint64(c.asked.Owner)
	}
	c.r.Memory = c.server.limits.requestMemory.Reserve(c.by)
}

// close frees the uploaded files, unless the push was created, and the upload slot.
func (c *createRequest) close() {
	if c.files != nil {
		_ = c.files.Close(c.r.Context()) // if it fails, the next sweep frees them
		c.server.limits.uploads.Free(c.by)
	}
}

// read reads the body, and maps body errors to the API's field errors.
func (c *createRequest) read() error {
	cfg := &c.server.cfg
	err := body.Read(c.r.Context(), &c.r.Body, body.Options{
		Object: c.wrapper, JSON: !c.page, Query: !c.page,
		MaxText: int64(cfg.Limits.MaxBody), Memory: &c.r.Memory,
		Files: c, FilesField: store.FieldFiles, MaxFiles: c.policy.Files.MaxCount, MaxFileSize: c.policy.Files.MaxSize,
	}, c)
	if !c.page { // a page may show its form again
		c.r.Memory.Release()
	}
	var bad body.BadFile
	switch {
	case errors.As(err, &bad):
		return c.refuseFiles(string(bad))
	case errors.Is(err, body.ErrNoObject):
		return errNoPush
	case err != nil:
		return err
	}
	c.bodyRead = true
	if len(c.fields) == 0 {
		return errNoPush
	}
	return nil
}

// refuseFiles returns an error about the files, or that file pushes are disabled.
func (c *createRequest) refuseFiles(message string) error {
	var bad record.InvalidError
	if c.policy.Terms[record.File].Enabled {
		bad.Add(store.FieldFiles, message)
	} else {
		bad.Add(store.FieldKind, record.File.String()+" pushes are disabled")
	}
	return bad.Err()
}

// Field keeps a field. It returns errUnauthorized as soon as a caller without an
// account asks for a push with files that answers no request.
func (c *createRequest) Field(name string, v body.Value) error {
	if _, has := c.fields[name]; has {
		switch v.Shape {
		case body.String:
			return body.ErrTwice
		case body.Null: // a field for files that is empty, beside one that is not
			return nil
		}
	}
	c.fields[name] = v
	if c.r.Actor.Account == 0 && !c.answers() && c.fields.wantsFiles() {
		return action.ErrUnauthorized
	}
	return nil
}

// Expect refuses files for which the sender has no room now. While they arrive, it is asked
// again, so an upload that cannot become a push does not run to its end.
func (c *createRequest) Expect(files int64) error {
	if c.answers() {
		return c.server.store.RequestHasRoom(c.r.Context(), c.asked, files)
	}
	return c.server.store.HasRoom(c.r.Context(), c.r.Actor, files)
}

// File streams a file into the store while it arrives.
func (c *createRequest) File(f *body.File) error {
	if f.Declared > c.policy.Files.MaxSize {
		return record.ErrFileSize
	}
	if c.answers() && !c.asked.Files {
		return c.refuseFiles("are not what the request asks for")
	}
	if err := c.Expect(c.content + f.Declared); err != nil {
		return err
	}
	if c.files == nil {
		if !c.server.limits.uploads.Take(c.by) {
			return action.ErrUploads
		}
		c.files = c.server.store.NewUpload(c.policy)
	}
	c.r.Deadlines.Arrived()
	if err := f.Reserve(); err != nil { // before the deadline is set, since it may wait
		return err
	}
	d := &c.r.Deadlines
	content := deadline.NewRoomReader(deadline.NewProgressReader(f, d), c.content, c.Expect)
	if err := c.files.Add(c.r.Context(), content); err != nil {
		d.Sending(deadline.Pace{Begin: time.Now()}) // time for the answer: the file may have used it up
		return err
	}
	c.content = content.Done
	d.FileDone()
	c.deadline = time.Now().Add(c.server.cfg.Limits.RequestTimeout)
	return nil
}

// Describe gives the last file its name and media type.
func (c *createRequest) Describe(filename, mediaType string) { c.files.Describe(filename, mediaType) }

// newPush returns what the store needs to create the push.
func (c *createRequest) newPush() (store.NewPush, error) {
	switch {
	case c.v1:
		c.convertV1()
	case c.page:
		if err := c.convertForm(); err != nil {
			return store.NewPush{}, err
		}
	}
	p, err := c.fields.parse(c.files != nil, c.page)
	p.Files, p.Request = c.files, c.request
	if c.answers() {
		p.WrappedKey = c.wrappedKey(&err)
	}
	if c.page {
		inUnit(&p, c.fields.text(unitField))
	}
	if p.Mail != nil {
		p.Mail.Base = c.server.cfg.BaseURL // never the request's Host
		if !c.page {                       // a page has a list of languages
			p.Mail.Language = c.server.mailLanguage(p.Mail.Language)
		}
	}
	return p, err
}

// wrappedKey reads the key of an answer that its sender encrypted. A key that is malformed
// is the error, unless there is one already.
func (c *createRequest) wrappedKey(err *error) []byte {
	r := fieldReader{fields: c.fields}
	key := r.key(store.FieldWrappedKey)
	if *err == nil {
		*err = r.bad.Err()
	}
	return key
}

// identifyAgain authenticates the caller again: the token or the session may
// have ended while files were uploaded.
func (c *createRequest) identifyAgain() error {
	c.r.Session, c.r.Actor.Account = store.SessionInfo{}, 0
	if err := c.server.authenticate(c.r); err != nil {
		return err
	}
	if c.r.Actor.Account == 0 {
		return action.ErrUnauthorized
	}
	return nil
}
