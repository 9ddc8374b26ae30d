// Package intake reads the input of senders from programs and browsers: the fields and the files of
// a new push, and a request for secrets.
package intake

import (
	"cmp"
	"context"
	"errors"
	"hash"
	"time"

	"pushbox/config"
	"pushbox/internal/lang"
	"pushbox/internal/limit"
	"pushbox/internal/secret"
	"pushbox/server/action"
	"pushbox/server/body"
	"pushbox/server/deadline"
	"pushbox/store"
	"pushbox/store/record"
)

// MailLanguage returns the language of mails that is nearest to a tag, else that of the
// instance; empty for no tag. Password Pusher's clients send tags of its 31 languages.
func (s *Desk) MailLanguage(tag string) string {
	if tag == "" {
		return ""
	}
	return s.Words.Nearest(tag, s.Config.DefaultLocale).Tag
}

// ErrNoPush refuses a request without the fields of a push.
const ErrNoPush = action.BadRequest("param is missing or the value is empty or invalid: push. Send an object push with at least one field, such as {\"push\":{\"payload\":\"...\"}}, or push[payload]=... in a form.")

// A Desk receives new pushes and requests for secrets.
type Desk struct {
	Store        *store.Store
	Config       config.Config
	Words        *lang.Catalog
	Memory       *limit.Memory               // of bodies
	Uploads      *limit.Slots                // of files
	Authenticate func(*action.Request) error // identifies the caller again
}

// A Draft is a request to create a push. As its body arrives, it keeps the
// fields and passes the files on to the store.
type Draft struct {
	desk    *Desk
	Request *action.Request
	Spelling
	Fields   Fields
	Files    *store.Upload // nil before the first file
	BodyRead bool          // the body was read to its end

	content int64 // bytes of the files so far

	key     secret.Text // of the create; empty: none
	repeats bool        // an earlier create with the key made the push
	sum     hash.Hash   // of the last file; nil: there is no key
	sent    []string    // of each file: its digest, its name and its media type

	by     limit.Holder      // the holder of its memory and its upload slot
	asked  store.RequestInfo // the request that the push answers
	Policy store.Policy      // of its sender, or of the owner of the request that it answers
}

// PushV2 is the spelling of new pushes in version 2 of the API.
var PushV2 = Spelling{Wrapper: "push"}

// A Spelling is how a request to create a push is written.
type Spelling struct {
	Wrapper string             // the object that has the fields
	Page    bool               // it comes from a page's form, not from a program
	V1      bool               // it belongs to API version 1
	Convert func(*Draft) error // changes the fields before they are read; nil: no change
	Kind    record.Kind        // fixed kind of the push; 0: the fields decide

	Answering store.RequestToken // that the push answers; zero: none. Its sender needs no account for files.
}

// Answers reports whether the push answers a request.
func (how Spelling) Answers() bool { return !how.Answering.IsZero() }

func (s *Desk) newCreateRequest(r *action.Request, how Spelling) *Draft {
	return &Draft{desk: s, Request: r, Spelling: how, Fields: make(Fields)}
}

// ReceivePush reads a request to create a push and creates it in the store. Even with an error it
// returns the fields read so far. It frees the uploaded files unless the push was created.
func (s *Desk) ReceivePush(r *action.Request, how Spelling) (*Draft, store.PushInfo, error) {
	c := s.newCreateRequest(r, how)
	defer c.close()
	if err := cmp.Or(c.findPolicy(), c.findKey()); err != nil {
		return c, store.PushInfo{}, err
	}
	c.hold()
	if err := c.read(); err != nil {
		return c, store.PushInfo{}, err
	}
	key := c.repeatKey()
	push, err := c.newPush()
	push.Receipt, push.Repeat = c.Page, key
	if err == nil && push.Files != nil && c.Request.Actor.Account != 0 && !c.Answers() {
		err = c.identifyAgain()
	}
	if err != nil {
		return c, store.PushInfo{}, err
	}
	ctx, cancel := context.WithDeadline(r.Context(), r.Deadlines.End())
	defer cancel()
	p, err := s.Store.CreatePush(ctx, r.Actor, push)
	return c, p, err
}

// findPolicy finds the request that the push answers, and the policy, before anything is read.
func (c *Draft) findPolicy() (err error) {
	if !c.Answers() {
		c.Policy, err = c.desk.PolicyOf(c.Request)
		return err
	}
	c.asked, err = c.desk.Store.FindRequest(c.Request.Context(), c.Answering)
	c.Policy = c.asked.Policy
	return err
}

// PolicyOf returns the policy of who sends a request. A client without an account may send smaller
// files, or none: then their greatest size is 0.
func (s *Desk) PolicyOf(r *action.Request) (store.Policy, error) {
	p, err := s.Store.PolicyOf(r.Context(), r.Actor)
	if r.Actor.Account == 0 {
		p.Files.MaxSize = min(p.Files.MaxSize, int64(s.Config.Files.AnonymousMaxSize))
	}
	return p, err
}

// hold sets the holder of the memory and the upload slot of the request.
func (c *Draft) hold() {
	c.by = c.Request.Holder()
	if c.Answers() {
		c.by.Link, c.by.Asker = c.asked.ID.String(), uint64(c.asked.Owner)
	}
	c.Request.Memory = c.desk.Memory.Reserve(c.by)
}

// close frees the uploaded files, unless the push was created, and the upload slot.
func (c *Draft) close() {
	if c.Files != nil {
		_ = c.Files.Close(c.Request.Context()) // if it fails, the next sweep frees them
		c.desk.Uploads.Free(c.by)
	}
}

// read reads the body, and maps body errors to the API's field errors.
func (c *Draft) read() error {
	cfg := &c.desk.Config
	// Who may send no files is told so when they come, whatever their length.
	most := cmp.Or(c.Policy.Files.MaxSize, int64(cfg.Files.MaxFileSize))
	err := body.Read(c.Request.Context(), &c.Request.Body, body.Options{
		Object: c.Wrapper, JSON: !c.Page, Query: !c.Page,
		MaxText: int64(cfg.Limits.MaxBody), Memory: &c.Request.Memory,
		Files: c, FilesField: store.FieldFiles, MaxFiles: c.Policy.Files.MaxCount, MaxFileSize: most,
	}, c)
	if !c.Page { // a page may show its form again
		c.Request.Memory.Release()
	}
	var bad body.BadFile
	switch {
	case errors.As(err, &bad):
		return c.refuseFiles(string(bad))
	case errors.Is(err, body.ErrNoObject):
		return ErrNoPush
	case err != nil:
		return err
	}
	c.BodyRead = true
	if len(c.Fields) == 0 {
		return ErrNoPush
	}
	return nil
}

// refuseFiles returns an error about the files, or that file pushes are disabled.
func (c *Draft) refuseFiles(message string) error {
	var bad record.InvalidError
	if c.Policy.Terms[record.File].Enabled {
		bad.Add(store.FieldFiles, message)
	} else {
		bad.Add(store.FieldKind, record.File.String()+" pushes are disabled")
	}
	return bad.Err()
}

// Field keeps a field. It returns action.ErrUnauthorized as soon as a caller who may send no
// files asks for a push with files.
func (c *Draft) Field(name string, v body.Value) error {
	if _, has := c.Fields[name]; has {
		switch v.Shape {
		case body.String:
			return body.ErrTwice
		case body.List:
			v.Items = secret.New(c.Fields[name].Items.Reveal() + v.Items.Reveal())
		case body.Null: // an empty field for files beside a non-empty one
			return nil
		}
	}
	c.Fields[name] = v
	if c.Policy.Files.MaxSize == 0 && c.Fields.wantsFiles() {
		return action.ErrUnauthorized
	}
	return nil
}

// Expect refuses files for which the sender has no room now. The check is repeated while they
// arrive, so that an upload that cannot become a push ends early.
func (c *Draft) Expect(files int64) error {
	if c.repeats { // they only prove that it is the same create
		return nil
	}
	if c.Answers() {
		return c.desk.Store.RequestHasRoom(c.Request.Context(), c.asked, files)
	}
	return c.desk.Store.HasRoom(c.Request.Context(), c.Request.Actor, files)
}

// File streams a file into the store while it arrives.
func (c *Draft) File(f *body.File) error {
	if f.Declared > c.Policy.Files.MaxSize {
		return record.ErrFileSize
	}
	if c.Answers() && !c.asked.Files {
		return c.refuseFiles("are not a kind that the request asks for")
	}
	if err := c.Expect(c.content + f.Declared); err != nil {
		return err
	}
	if c.Files == nil {
		if !c.desk.Uploads.Take(c.by) {
			return action.ErrUploads
		}
		c.Files = c.desk.Store.NewUpload(c.Policy)
	}
	c.Request.Deadlines.Arrived()
	if err := f.Reserve(); err != nil { // before the deadline is set, because it may wait
		return err
	}
	d := &c.Request.Deadlines
	content := deadline.NewRoomReader(deadline.NewProgressReader(f, d), c.content, c.Expect)
	if err := c.Files.Add(c.Request.Context(), c.digested(content)); err != nil {
		d.Sending(deadline.Pace{Begin: time.Now()}) // time for the answer, which the file may have used up
		return err
	}
	c.content = content.Done
	d.FileDone()
	return nil
}

// Describe gives the last file its name and media type.
func (c *Draft) Describe(filename, mediaType string) {
	c.Files.Describe(filename, mediaType)
	c.describeDigested(filename, mediaType)
}

// newPush returns what the store needs to create the push.
func (c *Draft) newPush() (store.NewPush, error) {
	if c.Convert != nil {
		if err := c.Convert(c); err != nil {
			return store.NewPush{}, err
		}
	}
	p, err := c.Fields.parse(c.Files != nil, c.Page)
	p.Files, p.Request = c.Files, c.Answering
	if c.Answers() {
		p.WrappedKey = c.wrappedKey(&err)
	}
	if c.Page {
		inUnit(&p, c.Fields.Text(UnitField))
	}
	c.desk.aim(p.Mail, c.Page)
	return p, err
}

// aim sets the base of the links in mails, and their language, of which a page has a list.
func (s *Desk) aim(m *store.MailRequest, page bool) {
	if m == nil {
		return
	}
	m.Base = s.Config.BaseURL // never the request's Host
	if !page {
		m.Language = s.MailLanguage(m.Language)
	}
}

// wrappedKey reads the key of an answer that its sender encrypted. A malformed key is an error,
// unless there is one already.
func (c *Draft) wrappedKey(err *error) []byte {
	r := FieldReader{Fields: c.Fields}
	key := r.key(store.FieldWrappedKey)
	if *err == nil {
		*err = r.Bad.Err()
	}
	return key
}

// identifyAgain authenticates the caller again: the token or the session may
// have ended while files were uploaded.
func (c *Draft) identifyAgain() error {
	c.Request.Session, c.Request.Actor.Account = store.SessionInfo{}, 0
	if err := c.desk.Authenticate(c.Request); err != nil {
		return err
	}
	if c.Request.Actor.Account == 0 {
		return action.ErrUnauthorized
	}
	return nil
}

// EncryptionFor returns the value of client_encryption for senders with the policy.
func (s *Desk) EncryptionFor(p store.Policy) string {
	if p.Encryption {
		return "required"
	}
	return s.Config.ClientEncryption
}
