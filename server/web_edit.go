package server

import (
	"net/http"
	"strconv"
	"strings"

	"pushbox/store"
)

// Fields of the form of a push's limits.
const (
	daysField  = "days"
	viewsField = "views"
)

// An editForm is the form of the limits of a live push.
type editForm struct {
	Action      string
	Days, Views limitField
	InDays      bool // the time limit is whole days
}

// A limitField is a field of that form.
type limitField struct {
	Value    string
	Min, Max int
	Wrong    bool
}

// Open reports whether there is anything to choose from.
func (f limitField) Open() bool { return f.Min <= f.Max }

// Wrong reports whether a field must be corrected.
func (f editForm) Wrong() bool { return f.Days.Wrong || f.Views.Wrong }

func newEditForm(h store.History) editForm {
	f := editForm{
		Action: ownerPath(h.PushInfo) + "/edit",
		Days:   limitField{Min: h.Days.Min, Max: h.Days.Max},
		Views:  limitField{Value: strconv.Itoa(h.ViewLimit), Min: h.Views.Min, Max: h.Views.Max},
		InDays: h.InDays(),
	}
	if f.InDays {
		f.Days.Value = strconv.Itoa(h.Push.Days)
	}
	return f
}

// editPush changes the limits of a push. One that has expired meanwhile stays
// unchanged, and its page says so.
func (s *Server) editPush(r *request, f webForm) (reply, error) {
	p, err := s.store.EditPush(r.Context(), r.actor, r.push, readEdit(f))
	if err == nil {
		return s.tellIfLive(r, p, noticeEdited), nil
	}
	wrong, invalid := wrongFields(err)
	if !invalid {
		return reply{}, err
	}
	h, err := s.store.History(r.Context(), r.actor, r.push, 1)
	if err != nil {
		return reply{}, err
	}
	form := newEditForm(h)
	form.Days.Value, form.Days.Wrong = shownAgain(f.text(daysField), maxNumber), wrong[store.FieldDays]
	form.Views.Value, form.Views.Wrong = shownAgain(f.text(viewsField), maxNumber), wrong[store.FieldViews]
	return showHistory(http.StatusUnprocessableEntity, h, form, 1, r.base)
}

// thawPush lets a frozen push be opened again. Its page then shows what became of it.
func (s *Server) thawPush(r *request) (reply, error) {
	p, err := s.store.ThawPush(r.Context(), r.actor, r.push)
	if err != nil {
		return reply{}, err
	}
	return s.tellIfLive(r, p, noticeThawed), nil
}

// tellIfLive redirects the browser to the page of a push, which shows the notice unless the
// push has expired meanwhile.
func (s *Server) tellIfLive(r *request, p store.PushInfo, n notice) reply {
	path := ownerPath(p) + "/audit"
	if !p.Live() {
		return goTo(path)
	}
	return s.goToTell(r, path, n)
}

// thawPushAPI is thawPush for programs.
func (s *Server) thawPushAPI(r *request) (reply, error) {
	p, err := s.store.ThawPush(r.Context(), r.actor, r.push)
	if err != nil {
		return reply{}, err
	}
	return ok(newPushJSON(p, r.base)), nil
}

// readEdit reads the form. An empty field leaves its limit unchanged. A field that is
// no number becomes -1, which the store refuses.
func readEdit(f webForm) (edit store.PushEdit) {
	for name, limit := range map[string]**int{daysField: &edit.Days, viewsField: &edit.Views} {
		text := strings.TrimSpace(f.text(name))
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
