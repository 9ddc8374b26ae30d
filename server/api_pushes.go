package server

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"pushbox/internal/secret"
	"pushbox/store"
)

func (s *Server) createPush(r *request) (reply, error) {
	in := s.newIntake(r)
	defer in.close()
	p, err := in.create()
	if err != nil {
		return reply{}, err
	}
	return created(newSenderJSON(p, r.base)), nil
}

func (s *Server) showPush(r *request) (reply, error) {
	passphrase, err := s.readPassphrase(r)
	if err != nil {
		return reply{}, err
	}
	p, err := s.store.RetrieveInto(r.Context(), r.actor, r.urlToken, passphrase, s.roomFor(r, payloadGrows))
	if err != nil {
		return reply{}, err
	}
	return ok(newViewerJSON(p, r.base)), nil
}

func (s *Server) previewPush(r *request) (reply, error) {
	p, err := s.store.Preview(r.Context(), r.urlToken)
	if err != nil {
		return reply{}, err
	}
	return ok(previewJSON{URL: htmlURL(p, r.base)}), nil
}

func (s *Server) deletePush(r *request) (reply, error) {
	p, err := s.store.DeletePush(r.Context(), r.actor, r.urlToken)
	if err != nil {
		return reply{}, err
	}
	return ok(newPushJSON(p, r.base)), nil
}

func (s *Server) activePushes(r *request) (reply, error) { return s.listPushes(r, true) }

func (s *Server) expiredPushes(r *request) (reply, error) { return s.listPushes(r, false) }

func (s *Server) listPushes(r *request, live bool) (reply, error) {
	page, err := readPage(r)
	if err != nil {
		return reply{}, err
	}
	ps, err := s.store.Pushes(r.Context(), r.actor, live, page)
	if err != nil {
		return reply{}, err
	}
	list := make([]senderJSON, len(ps))
	for i, p := range ps {
		list[i] = newSenderJSON(p, r.base)
	}
	return ok(list), nil
}

func (s *Server) auditPush(r *request) (reply, error) {
	page, err := readPage(r)
	if err != nil {
		return reply{}, err
	}
	log, err := s.store.Audit(r.Context(), r.actor, r.urlToken, page)
	if err != nil {
		return reply{}, err
	}
	body := auditJSON{Logs: make([]entryJSON, len(log))}
	for i, e := range log {
		at := Stamp(e.At)
		body.Logs[i] = entryJSON{
			IP: e.IP, UserAgent: e.UserAgent, Referrer: e.Referrer,
			Kind: e.Kind.String(), CreatedAt: at, UpdatedAt: at,
		}
	}
	return ok(body), nil
}

// maxPage is the last page of a list that can be asked for.
const maxPage = 200

const errPage = badRequest("page must be a whole number from 1 to 200.")

func readPage(r *request) (int, error) {
	pairs, err := parsePairs(r.URL.RawQuery)
	if err != nil {
		return 0, err
	}
	text, has, err := only(pairs, "page")
	if err != nil || !has {
		return 1, err
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > maxPage || strings.Trim(text, "0123456789") != "" {
		return 0, errPage
	}
	return n, nil
}

// Where a passphrase is: the name of a field of the query or of a form, and a
// header, for those who do not want it in the logs of a proxy.
const (
	passphraseField  = "passphrase"
	headerPassphrase = "X-Push-Passphrase"
)

// readPassphrase takes the passphrase from the query, the header, or a form.
func (s *Server) readPassphrase(r *request) (secret.Text, error) {
	pairs, err := parsePairs(r.URL.RawQuery)
	if err != nil {
		return secret.Text{}, err
	}
	p, _, err := only(pairs, passphraseField)
	if p == "" {
		p = r.Header.Get(headerPassphrase)
	}
	if p == "" && err == nil && r.ContentLength != 0 {
		p, err = s.formPassphrase(r)
	}
	if err != nil {
		return secret.Text{}, err
	}
	return asPassphrase(p)
}

// asPassphrase refuses what can be no passphrase.
func asPassphrase(text string) (secret.Text, error) {
	if !utf8.ValidString(text) || len(text) > store.MaxPassphrase {
		return secret.Text{}, badRequest("The passphrase is not valid UTF-8, or longer than one can be.")
	}
	return secret.New(text), nil
}

// formPassphrase reads the passphrase from a form. A body of any other kind has
// none, and is not looked at.
func (s *Server) formPassphrase(r *request) (string, error) {
	media, params, err := bodyType(r)
	if err != nil || media == typeJSON || r.ContentLength > int64(s.cfg.Limits.MaxBody) {
		return "", nil
	}
	b := &r.Body
	b.share(s.bodies.enter(r))
	defer b.memory.done()
	var pairs []pair
	if media == typeMultipart {
		pairs, err = multipartPairs(b, params["boundary"])
	} else {
		pairs, err = readPairs(b)
	}
	if err != nil {
		b.leave()
		return "", err
	}
	p, _, err := only(pairs, passphraseField)
	return p, err
}
