package server

import (
	"net/http"
	"strconv"
	"strings"

	"pushbox/store"
)

// The fields of the form of a push's limits.
const (
	daysField  = "days"
	viewsField = "views"
)

// An editForm is the form of the limits of a live push.
type editForm struct {
	Action      string
	Days, Views limitField
	InDays      bool // the time limit is whole days; no days then mean that it stays
}

// A limitField is a field of that form.
type limitField struct {
	Value    string
	Min, Max int
	Wrong    bool
}

// Open reports whether there is anything to choose from.
func (f limitField) Open() bool { return f.Min <= f.Max }

// Wrong reports whether something must be put right.
func (f editForm) Wrong() bool { return f.Days.Wrong || f.Views.Wrong }

func newEditForm(h store.History) editForm {
	f := editForm{
		Action: revealPath(h.Token) + "/edit",
		Days:   limitField{Min: h.Days.Min, Max: h.Days.Max},
		Views:  limitField{Value: strconv.Itoa(h.ViewLimit), Min: h.Views.Min, Max: h.Views.Max},
		InDays: h.InDays(),
	}
	if f.InDays {
		f.Days.Value = strconv.Itoa(h.Push.Days)
	}
	return f
}

// editPush sets the limits of a push anew. One that has expired meanwhile stays as
// it is, and the page of it says so.
func (s *Server) editPush(r *request) (reply, error) {
	f, err := s.readFields(r)
	if err != nil {
		return reply{}, err
	}
	p, err := s.store.EditPush(r.Context(), r.actor, r.urlToken, readEdit(f))
	if err == nil {
		return goTo(revealPath(p.Token) + "/audit"), nil
	}
	wrong, invalid := wrongFields(err)
	if !invalid {
		return reply{}, err
	}
	h, err := s.store.History(r.Context(), r.actor, r.urlToken, 1)
	if err != nil {
		return reply{}, err
	}
	form := newEditForm(h)
	form.Days.Value, form.Days.Wrong = comesBack(f[daysField], maxNumber), wrong["expire_after_days"]
	form.Views.Value, form.Views.Wrong = comesBack(f[viewsField], maxNumber), wrong["expire_after_views"]
	return showHistory(http.StatusUnprocessableEntity, h, form, 1, r.base)
}

// readEdit reads the form. A field that is empty leaves the limit as it is; one
// that is no number is one that no limit can be.
func readEdit(f webFields) (edit store.PushEdit) {
	for name, limit := range map[string]**int{daysField: &edit.Days, viewsField: &edit.Views} {
		text := strings.TrimSpace(f[name])
		if text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil {
			n = -1
		}
		*limit = &n
	}
	return edit
}
