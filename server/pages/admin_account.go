package pages

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"strings"

	"pushbox/internal/email"
	"pushbox/server/action"
	"pushbox/server/display"
	"pushbox/server/manage"
	"pushbox/store/record"
)

// managedView is an account with the actions of an administrator on it.
type managedView struct {
	accountRow
	Created display.Time
	Tokens  int
	SignsIn []string // the providers at which its user signs in
	Groups  []actGroup
	Lost    bool     // the settings do not define its policy
	Choices []string // the available policies
	Wrong   bool     // the typed address was wrong
	Last    bool     // it is the last administrator
}

// An actGroup is a part of the page. The message account_group_NAME names it.
type actGroup struct {
	Name string
	Acts []manage.AccountAct
}

// groupActs returns the acts that fit an account, in groups.
func (s *Set) groupActs(r *action.Request, a record.Account, governed bool) (groups []actGroup) {
	for _, name := range []string{manage.GroupAccess, manage.GroupSignIn, manage.GroupDanger} {
		g := actGroup{Name: name}
		for _, act := range manage.AccountActs {
			if act.Group == name && !a.Removing && act.Fits(a) && (s.Config.Mail.Enabled() || !act.Mails) && (!act.Others || a.ID != r.Actor.Account) {
				g.Acts = append(g.Acts, act)
			}
		}
		if len(g.Acts) > 0 || name == manage.GroupAccess && governed {
			groups = append(groups, g)
		}
	}
	return groups
}

// accountPage shows an account.
func (s *Set) accountPage(r *action.Request) (action.Reply, error) {
	return s.showAccount(r, http.StatusOK, managedView{})
}

func (s *Set) showAccount(r *action.Request, status int, v managedView) (action.Reply, error) {
	a, err := s.Manage.AccountInPath(r)
	if err != nil {
		return action.Reply{}, err
	}
	rooms, err := s.Store.AccountRooms(r.Context(), []record.AccountID{a.ID})
	if err != nil {
		return action.Reply{}, err
	}
	tokens, err := s.Store.Tokens(r.Context(), a.Email)
	if err != nil {
		return action.Reply{}, err
	}
	v.accountRow, v.Created, v.Tokens = newAccountRow(r, a, rooms[a.ID]), display.NewTime(a.CreatedAt), len(tokens)
	for _, i := range a.Identities.List() {
		v.SignsIn = append(v.SignsIn, cmp.Or(s.titleOfIssuer(i.Issuer), i.Issuer))
	}
	for _, p := range s.Store.Policies() {
		v.Choices = append(v.Choices, p.Name)
	}
	v.Lost = a.Policy != "" && !slices.Contains(v.Choices, a.Policy)
	v.Groups = s.groupActs(r, a, a.Policy != "" || len(v.Choices) > 0)
	return action.Show(status, "admin_account", v), nil
}

// changeAccount runs the act that the form names on the account in the path.
func (s *Set) changeAccount(r *action.Request, f webForm) (action.Reply, error) {
	a, err := s.Manage.AccountInPath(r)
	if err != nil {
		return action.Reply{}, err
	}
	if f.text("do") == action.PolicyParam {
		err := s.Manage.SetPolicy(r, a.Email, f.text(action.PolicyParam))
		return s.goToTell(r, accountPath+r.Name.Reveal(), noticePolicy), err
	}
	i := slices.IndexFunc(manage.AccountActs, func(act manage.AccountAct) bool { return act.Name == f.text("do") })
	if i < 0 {
		return action.Reply{}, errAct
	}
	act := manage.AccountActs[i]
	if typed := strings.TrimSpace(f.text("email")); act.Typed && !strings.EqualFold(typed, a.Email) && typed != email.Shown(a.Email) {
		return s.showAccount(r, http.StatusUnprocessableEntity, managedView{Wrong: true})
	}
	l, err := s.Manage.Do(r, act, a)
	if act.Do == nil && !act.Mails {
		return s.showPasswordLink(r, http.StatusOK, l, false), err
	}
	if errors.Is(err, record.ErrLastAdmin) {
		return s.showAccount(r, http.StatusConflict, managedView{Last: true})
	}
	path := accountPath + r.Name.Reveal()
	if act.Typed { // the account no longer has a page
		path = accountsPath
	}
	return s.goToTell(r, path, noticeOf(act)), err
}

func noticeOf(a manage.AccountAct) notice { return notice("account_" + a.Name) }

// errAct refuses the name of an unknown act.
const errAct = action.BadRequest("There is no action of that name for an account.")
