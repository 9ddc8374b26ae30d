package api

import (
	"errors"

	"pushbox/internal/secret"
	"pushbox/server/action"
	"pushbox/server/body"
	"pushbox/server/intake"
	"pushbox/store"
	"pushbox/store/record"
)

func (s *Service) createPush(r *action.Request) (action.Reply, error) {
	return s.create(r, intake.PushV2)
}

// create returns an action that creates a push in a spelling.
func (s *Service) create(r *action.Request, how intake.Spelling) (action.Reply, error) {
	c, p, err := s.Intake.ReceivePush(r, how)
	if err != nil {
		return action.Reply{}, err
	}
	made := createdJSON{senderJSON: newSenderJSON(p, r.Base)}
	if p.Mailed > 0 {
		made.NotifyEmailsTo, made.NotifyEmailsToLocale = c.Fields.Text(store.FieldMailTo), c.Fields.Text(store.FieldMailLanguage)
	}
	rep := r.Made(made.HTMLURL, made)
	if p.Repeated {
		rep.Header = append(rep.Header, [2]string{intake.HeaderRepeated, "true"})
	}
	return rep, nil
}

func (s *Service) showPush(r *action.Request) (action.Reply, error) {
	passphrase, err := s.readPassphrase(r)
	if err != nil {
		return action.Reply{}, err
	}
	p, err := s.Store.Retrieve(r.Context(), r.Actor, r.Push, passphrase, r.ReserveAnswer(s.AnswerMemory, jsonFactor))
	if err != nil {
		return action.Reply{}, err
	}
	return action.OK(newViewerJSON(p, r.Base)), nil
}

func (s *Service) previewPush(r *action.Request) (action.Reply, error) {
	p, err := s.Store.Preview(r.Context(), r.URLToken)
	if err != nil {
		return action.Reply{}, err
	}
	return action.OK(previewJSON{URL: action.Link(p, r.Base)}), nil
}

func (s *Service) deletePush(r *action.Request) (action.Reply, error) {
	p, err := s.Store.DeletePush(r.Context(), r.Actor, r.Push)
	if err != nil {
		return action.Reply{}, err
	}
	return action.OK(newPushJSON(p, r.Base)), nil
}

func (s *Service) activePushes(r *action.Request) (action.Reply, error) { return s.listPushes(r, true) }

func (s *Service) expiredPushes(r *action.Request) (action.Reply, error) {
	return s.listPushes(r, false)
}

func (s *Service) listPushes(r *action.Request, live bool) (action.Reply, error) {
	page, err := action.ReadPage(r)
	if err != nil {
		return action.Reply{}, err
	}
	ps, err := s.Store.Pushes(r.Context(), r.Actor, live, page)
	if err != nil {
		return action.Reply{}, err
	}
	list := make([]senderJSON, len(ps))
	for i, p := range ps {
		list[i] = newSenderJSON(p, r.Base)
	}
	return action.OK(list), nil
}

func (s *Service) auditPush(r *action.Request) (action.Reply, error) {
	page, err := action.ReadPage(r)
	if err != nil {
		return action.Reply{}, err
	}
	log, err := s.Store.Audit(r.Context(), r.Actor, r.Push, page)
	if err != nil {
		return action.Reply{}, err
	}
	body := auditJSON{Logs: make([]entryJSON, len(log))}
	for i, e := range log {
		body.Logs[i] = newEntryJSON(e)
	}
	return action.OK(body), nil
}

// certifyPush answers with the certificate of the end of a push.
func (s *Service) certifyPush(r *action.Request) (action.Reply, error) {
	c, err := action.Certificate(r, s.Store, r.Actor, s.Config.ReloadWindow)
	if err != nil {
		return action.Reply{}, err
	}
	return action.OK(c), nil
}

// Places of a passphrase: a field of the query or of a form, or a header, which keeps it out of the
// logs of proxies.
const headerPassphrase = "X-Push-Passphrase"

// readPassphrase takes the passphrase from the query, the header, or the body.
func (s *Service) readPassphrase(r *action.Request) (secret.Text, error) {
	pairs, err := body.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return secret.Text{}, err
	}
	p, _, err := pairs.Only(intake.PassphraseField)
	if p.IsZero() {
		if given := r.Header.Get(headerPassphrase); given != "" {
			p = secret.New(given)
		}
	}
	if p.IsZero() && err == nil && r.ContentLength != 0 {
		p, err = s.bodyPassphrase(r)
	}
	if err != nil {
		return secret.Text{}, err
	}
	return p, intake.CheckPassphrase(p)
}

// bodyPassphrase reads the passphrase from a form or a JSON object. It does not read a body of
// another type.
func (s *Service) bodyPassphrase(r *action.Request) (secret.Text, error) {
	longest := int64(s.Config.Limits.MaxBody)
	if r.ContentLength > longest {
		return secret.Text{}, nil
	}
	memory := s.Memory.Reserve(r.Holder())
	defer memory.Release()
	var pairs body.Pairs
	err := body.Read(r.Context(), &r.Body, body.Options{Flat: true, JSON: true, MaxText: longest, Memory: &memory}, &pairs)
	if errors.Is(err, body.ErrMediaType) || errors.Is(err, body.ErrEncoding) || errors.Is(err, body.ErrNoObject) {
		return secret.Text{}, nil
	}
	if err != nil {
		return secret.Text{}, err
	}
	p, _, err := pairs.Only(intake.PassphraseField)
	return p, err
}

// mailPush sends the link of a push by mail.
func (s *Service) mailPush(r *action.Request) (action.Reply, error) {
	f := make(body.Form)
	err := body.Read(r.Context(), &r.Body, body.Options{Object: "push", Flat: true, JSON: true, Query: true, MaxText: action.SmallBody}, f)
	if errors.Is(err, body.ErrNoObject) {
		err = errNoFields
	}
	if err != nil {
		return action.Reply{}, err
	}
	in := intake.FieldReader{Fields: intake.Fields(f)}
	m := in.Mailing()
	if err := in.Bad.Err(); err != nil {
		return action.Reply{}, err
	}
	if m == nil {
		m = new(store.MailRequest)
	}
	m.Base, m.Language = r.Base, s.Intake.MailLanguage(m.Language)
	p, err := s.Store.MailPush(r.Context(), r.Actor, r.URLToken, *m)
	if err != nil {
		return action.Reply{}, err
	}
	return action.Created(newMailedJSON(p, r.Base)), nil
}

// jsonFactor is the memory for encoding the JSON of a push, in lengths of the payload: JSON uses
// six bytes for a control character.
func jsonFactor(record.Kind) int64 { return 8 }

// thawPushAPI is thawPush for programs.
func (s *Service) thawPushAPI(r *action.Request) (action.Reply, error) {
	p, err := s.Store.ThawPush(r.Context(), r.Actor, r.Push)
	if err != nil {
		return action.Reply{}, err
	}
	return action.OK(newPushJSON(p, r.Base)), nil
}
