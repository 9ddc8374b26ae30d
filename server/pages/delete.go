package pages

import (
	"strconv"
	"strings"

	"pushbox/server/action"
	"pushbox/store"
)

// Fields of the form that deletes own pushes.
const (
	chosenPrefix = "push-" // before the name of a push
	backField    = "back"  // the query of the list that the form was on
	logField     = "log"   // the form was on the page of the push
	anewField    = "anew"  // the sender wants to send another one with the same options, if no one has opened it
)

const errChosen = action.BadRequest("The form has more pushes than a page of the list.")

// deletePushes deletes the pushes that their owner chose, and leads back to the page of the form.
func (s *Set) deletePushes(r *action.Request, f webForm) (action.Reply, error) {
	chosen := chosenPushes(f)
	if len(chosen) > store.PageSize {
		return action.Reply{}, errChosen
	}
	var deleted []store.PushInfo
	for _, name := range chosen {
		p, err := s.Store.DeletePush(r.Context(), r.Actor, name)
		if unlessGone(err) != nil {
			return action.Reply{}, err
		}
		if p.Ended {
			deleted = append(deleted, p)
		}
	}
	back := ownPath
	if l, err := readListing(f.text(backField)); err == nil {
		back = l.path(l.page)
	}
	if len(deleted) == 1 && f.checked(anewField) && deleted[0].Views == 0 {
		return s.goToTell(r, formPath(deleted[0]), noticeDeletedAnew), nil
	}
	if len(deleted) == 1 && f.checked(logField) {
		back = ownPath + "/" + deleted[0].Handle().String() + "/audit"
	}
	switch len(deleted) {
	case 0:
		return s.goToTell(r, back, noticeDeletedNone), nil
	case 1:
		return s.goToTell(r, back, noticeDeleted, deleted[0].Handle().String()), nil
	default:
		return s.goToTell(r, back, noticeDeletedMany, strconv.Itoa(len(deleted))), nil
	}
}

// chosenPushes returns the pushes that a form names.
func chosenPushes(f webForm) (names []store.Name) {
	for field := range f.Form {
		if text, ok := strings.CutPrefix(field, chosenPrefix); ok {
			if name, err := store.ParseName(text); err == nil {
				names = append(names, name)
			}
		}
	}
	return names
}
