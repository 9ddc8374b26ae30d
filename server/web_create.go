package server

import (
	"errors"
	"net/http"
	"strings"

	"pushbox/store"
)

func (s *Server) pushForm(r *request) (reply, error) {
	return show(http.StatusOK, "create", s.newCreatePage(r)), nil
}

func (s *Server) makePush(r *request) (reply, error) {
	in := s.newIntake(r)
	defer in.close()
	in.page = true
	p, err := in.create()
	var invalid *store.InvalidError
	if errors.Is(err, store.ErrQuota) { // the form comes back, with what was typed
		err = &store.InvalidError{Fields: map[string][]string{quotaField: {"is used up"}}}
	}
	switch {
	case errors.As(err, &invalid):
		return show(http.StatusUnprocessableEntity, "create", s.createPageAgain(in, invalid)), nil
	case err != nil:
		return reply{}, err
	default:
		return show(http.StatusCreated, "made", newMadePage(p, r.base)), nil
	}
}

// What a page has to say that the API has not: names of fields among problems.
const (
	accountField  = "account"
	leftoverField = "leftover"
	quotaField    = "quota"
)

// readAsPage makes of the fields what the form means by them. *store.InvalidError
// where what the person saw is not what the request would do.
func (in *intake) readAsPage() error {
	f := in.fields
	for _, name := range [...]string{"payload", "note"} {
		f.change(name, oneBreak)
	}
	if f["kind"].text == store.URL.String() {
		f.change("payload", strings.TrimSpace)
	}
	for _, name := range [...]string{"retrieval_step", "deletable_by_viewer"} {
		if _, ticked := f[name]; !ticked {
			f[name] = value{shape: asText}
		}
	}
	if f["expire_after_duration"].text == "" {
		delete(f, "expire_after_duration")
	} else {
		delete(f, "expire_after_days") // the form says so: days would win
	}
	return in.agrees()
}

// agrees refuses a form of somebody who was signed in when it was opened, and
// files beside a kind that does not show them.
func (in *intake) agrees() error {
	var bad store.InvalidError
	if _, named := in.fields["name"]; named && in.r.actor.Account == 0 {
		bad.Add(accountField, "has ended")
	}
	if in.files != nil && in.fields["kind"].text != store.File.String() {
		bad.Add(leftoverField, "are of another kind")
	}
	return bad.Err()
}

// change changes a field that is a text.
func (f fields) change(name string, how func(string) string) {
	if v, has := f[name]; has {
		v.text = how(v.text)
		f[name] = v
	}
}
