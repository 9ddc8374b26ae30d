package pages

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"pushbox/server/action"
	"pushbox/server/display"
	"pushbox/server/web"
	"pushbox/store"
)

// noticeCookie is the name of a cookie for the page after an action, with the notice that the page
// shows. It is valid as long as a redirect may take.
const (
	noticeCookie = "notice"
	noticeKept   = 60 // seconds
)

// A notice reports the result of an action on the next page. It is the key of a message without
// notice_: a cookie can name no other message.
type notice string

// The notices.
const (
	noticeDeleted      notice = "deleted"         // a push, which the cookie names by its handle
	noticeDeletedMany  notice = "deleted_several" // the cookie says how many
	noticeDeletedNone  notice = "deleted_none"
	noticeDeletedAnew  notice = "deleted_anew" // the form for another one follows
	noticeEdited       notice = "edited"
	noticeThawed       notice = "thawed"
	noticeRevoked      notice = "revoked"
	noticeSessionEnded notice = "session_ended"
	noticeOthersEnded  notice = "sessions_ended"
	noticePassword     notice = "password"
	noticeConfirmed    notice = "confirmed"
	noticeNoMFA        notice = "mfa_off"
	noticeAppAdded     notice = "mfa_app_on"
	noticeAppRemoved   notice = "mfa_app_off"
	noticePasskeyAdded notice = "passkey_added"
	noticeSignedOut    notice = "signed_out"
	noticeSignedUp     notice = "signed_up"
	noticeLate         notice = "late" // no code came in time
	noticeFirst        notice = "first"
	noticeNewPassword  notice = "new_password"
	noticeRequestEnded notice = "request_ended"
	noticeAccountGone  notice = "account_gone"
	noticeLinkMailed   notice = "account_mail"
	noticePolicy       notice = "account_policy"

	noticeSignedOutHere    notice = "signed_out_here" // the cookie names the provider, also for those below
	noticeProviderDown     notice = "provider_down"
	noticeProviderLate     notice = "provider_late"
	noticeProviderDeclined notice = "provider_declined"
	noticeProviderFailed   notice = "provider_failed"
	noticeProviderRefused  notice = "provider_refused"

	noticeHookTested  notice = "hook_tested"
	noticeHookFailed  notice = "hook_failed"
	noticeHookRemoved notice = "hook_removed"

	noticePasskeyRemoved notice = "passkey_removed"
	noticePasskeyLate    notice = "passkey_late" // there was no answer in time, or it was used before
)

// warnings are those about something that did not succeed.
var warnings = []notice{
	noticeDeletedNone, noticePasskeyLate, noticeLate, noticeHookFailed,
	noticeProviderDown, noticeProviderLate, noticeProviderDeclined, noticeProviderFailed, noticeProviderRefused,
}

// goToTell redirects the browser to a page that shows a notice. about is the count or the name in
// the notice, if it has one.
func (s *Set) goToTell(r *action.Request, path string, n notice, about ...string) action.Reply {
	c := r.NewCookie(noticeCookie, strings.Join(append([]string{string(n)}, about...), "."))
	c.MaxAge = noticeKept
	return action.GoTo(path).With(c)
}

// takeNotice returns the notice that the request's cookie names, with a cookie that removes
// it; nil if there is none, or if the page is one that recipients see.
func (s *Set) takeNotice(r *action.Request) (*web.Notice, *http.Cookie) {
	c, err := r.OwnCookie(noticeCookie)
	if err != nil || r.Method != http.MethodGet || r.Route == nil || r.Route.Has(action.ForRecipients) {
		return nil, nil
	}
	used := r.NewCookie(noticeCookie, "")
	used.MaxAge = -1
	key, about, _ := strings.Cut(c.Value, ".")
	n := notice(key)
	if !r.Locale.Has("notice_" + key) {
		return nil, used
	}
	shown := &web.Notice{Message: "notice_" + key, Warning: slices.Contains(warnings, n), First: n == noticeFirst, Account: r.Session.Email}
	switch n {
	case noticeDeleted:
		if shown.Name = s.nameOf(r, about); shown.Name == "" {
			shown.Message += "_untitled"
		}
	case noticeSignedOutHere, noticeProviderDown, noticeProviderLate, noticeProviderDeclined, noticeProviderFailed, noticeProviderRefused:
		if shown.Name = s.titleOf(about); shown.Name == "" {
			return nil, used
		}
		if n == noticeSignedOutHere {
			shown.SignOut = display.ProviderPath + about + "/sign_out"
		}
	case noticeDeletedMany:
		shown.Count, _ = strconv.Atoi(about)
	}
	return shown, used
}

// nameOf returns the name of the account's push with that handle; empty if it has none.
func (s *Set) nameOf(r *action.Request, handle string) string {
	n, err := store.ParseName(handle)
	if err != nil || r.Actor.Account == 0 {
		return ""
	}
	h, err := s.Store.History(r.Context(), r.Actor, n, 1)
	if err != nil {
		return "" // the push was purged meanwhile
	}
	return h.Name.Reveal()
}
