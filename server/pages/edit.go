package pages

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"pushbox/internal/humanize"
	"pushbox/internal/secret"
	"pushbox/server/action"
	"pushbox/store"
)

// Fields of the forms that change a push.
const (
	daysField    = "days"
	viewsField   = "views"
	nameField    = store.FieldName
	noteField    = store.FieldNote
	receiptField = "receipt" // the code of the receipt that the form is on
)

// An editForm is the form of the limits of a live push, its name and its note.
type editForm struct {
	Action      string
	Name, Note  wordsField
	Days, Views limitField
	InDays      bool // the time limit is whole days
}

// A wordsField is a field of that form for a text.
type wordsField struct {
	Value string
	Max   string // how long it may be
	Wrong bool
}

// A limitField is a field of that form.
type limitField struct {
	Value    string
	Min, Max int
	Wrong    bool
}

// Open reports whether there is a choice.
func (f limitField) Open() bool { return f.Min <= f.Max }

// Wrong reports whether a field must be corrected.
func (f editForm) Wrong() bool {
	return f.Name.Wrong || f.Note.Wrong || f.Days.Wrong || f.Views.Wrong
}

func newEditForm(h store.History) editForm {
	f := editForm{
		Action: ownerPath(h.PushInfo) + "/edit",
		Name:   wordsField{Value: h.Name.Reveal(), Max: strconv.Itoa(store.MaxName)},
		Note:   wordsField{Value: h.Note.Reveal(), Max: humanize.Size(store.MaxNote)},
		Days:   limitField{Min: h.Days.Min, Max: h.Days.Max},
		Views:  limitField{Value: strconv.Itoa(h.ViewLimit), Min: h.Views.Min, Max: h.Views.Max},
		InDays: h.InDays(),
	}
	if f.InDays {
		f.Days.Value = strconv.Itoa(h.Push.Days)
	}
	return f
}

// editPush changes limits, name and note of a push. One that has expired meanwhile stays
// unchanged, and its page says so.
func (s *Set) editPush(r *action.Request, f webForm) (action.Reply, error) {
	p, err := s.Store.EditPush(r.Context(), r.Actor, r.Push, readEdit(f))
	if err == nil {
		path := ownerPath(p) + "/audit"
		if code := f.text(receiptField); code != "" {
			path = revealPath(p.Token) + "/receipt/" + url.PathEscape(code)
		}
		return s.tellIfLive(r, p, path, noticeEdited), nil
	}
	wrong, invalid := wrongFields(err)
	if !invalid {
		return action.Reply{}, err
	}
	h, err := s.Store.History(r.Context(), r.Actor, r.Push, 1)
	if err != nil {
		return action.Reply{}, err
	}
	form := newEditForm(h)
	form.Name.Value, form.Name.Wrong = shownAgain(f.text(nameField), store.MaxName), wrong[store.FieldName]
	form.Note.Value, form.Note.Wrong = shownAgain(f.text(noteField), store.MaxNote), wrong[store.FieldNote]
	form.Days.Value, form.Days.Wrong = shownAgain(f.text(daysField), maxNumber), wrong[store.FieldDays]
	form.Views.Value, form.Views.Wrong = shownAgain(f.text(viewsField), maxNumber), wrong[store.FieldViews]
	return showHistory(http.StatusUnprocessableEntity, h, form, 1, r.Base)
}

// thawPush unfreezes a push. Its page then shows the result.
func (s *Set) thawPush(r *action.Request) (action.Reply, error) {
	p, err := s.Store.ThawPush(r.Context(), r.Actor, r.Push)
	if err != nil {
		return action.Reply{}, err
	}
	return s.tellIfLive(r, p, ownerPath(p)+"/audit", noticeThawed), nil
}

// tellIfLive redirects the browser to a page of a push, which shows the notice unless the
// push has expired meanwhile.
func (s *Set) tellIfLive(r *action.Request, p store.PushInfo, path string, n notice) action.Reply {
	if !p.Live() {
		return action.GoTo(path)
	}
	return s.goToTell(r, path, n)
}

// readEdit reads the form. An empty field leaves its limit unchanged, and a field that is no number
// becomes -1, which the store refuses. Name and note do not change if the form lacks them.
func readEdit(f webForm) (edit store.PushEdit) {
	for name, words := range map[string]**secret.Text{nameField: &edit.Name, noteField: &edit.Note} {
		if _, has := f.Form[name]; has {
			*words = new(secret.New(strings.TrimSpace(oneBreak(f.text(name)))))
		}
	}
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
