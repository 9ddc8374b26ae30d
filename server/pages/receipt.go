package pages

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"pushbox/internal/secret"
	"pushbox/server/action"
	"pushbox/server/display"
	"pushbox/store"
	"pushbox/store/record"
)

// receiptPath returns the path of the receipt of a new push.
func receiptPath(p store.PushInfo) string {
	return revealPath(p.Token) + "/receipt/" + p.ReceiptCode.Reveal()
}

// A receiptView shows a push to its sender: its link and its audit log.
type receiptView struct {
	Link      secret.Text
	QR        *display.QR // of the link; nil: it is too long for one; empty if Encrypted: a script draws it with the key
	Path      secret.Text // the target of the link
	Here      secret.Text // the path of this page
	Same      string      // the path of the form with the same options
	Kind      string
	Live      bool
	State     string       // as in lists
	Ends      display.Time // when its time limit is reached
	Ended     display.Time
	Left      timeLeft
	OpensAt   *display.Time // nil: it can be opened now
	Closes    *timeLeft     // how long after its first view it ends; nil: that does not change when it ends
	Recipient secret.Text   // who may open it, for its owner; empty: anyone with the link
	Views     int           // used views
	Limit     int           // limit of views
	Protected bool          // by a passphrase
	Encrypted bool          // by the sender: a script adds the key to the link
	Frozen    bool
	Step      bool
	Typed     bool   // recipients type a number
	Networks  string // from which it opens; empty: from anywhere
	Deletable bool
	Owned     bool // by the reader
	Elsewhere bool // this is not the browser that made it
	Mailed    int  // the number of mails with the link
	Code      secret.Text
	Edit      editForm // of an owner: name and note

	Log   []receiptRow
	Pages pager
}

// A receiptRow is a line of the audit log without addresses: a sender without an account does
// not get those of recipients.
type receiptRow struct {
	When  display.Time
	Kind  string // of a message, audit_kind_...
	Agent display.Agent
}

// sender returns the actor of a request to a receipt, with the code in its path.
func sender(r *action.Request) store.Actor {
	by := r.Actor
	by.ReceiptCode = r.Name
	return by
}

// receiptPage shows a push to its sender, with an account or without one.
func (s *Set) receiptPage(r *action.Request) (action.Reply, error) {
	page, err := action.ReadPage(r)
	if err != nil {
		return action.Reply{}, err
	}
	h, err := s.Store.Receipt(r.Context(), sender(r), r.URLToken, page)
	if err != nil {
		return action.Reply{}, err
	}
	here := revealPath(h.Token) + "/receipt/" + r.Name.Reveal()
	link := action.Link(h.PushInfo, r.Base)
	v := receiptView{
		Link: secret.New(link), Path: secret.New(revealPath(h.Token)), Here: secret.New(here), Same: formPath(h.PushInfo),
		Kind: h.Kind.String(), Live: h.Live(), State: stateName(h.Push),
		Ends: display.NewTime(h.ExpiresAt), Ended: display.NewTime(h.ExpiredAt),
		Left: newTimeLeft(h.ExpiresAt.Sub(h.At)), OpensAt: opensLater(h.PushInfo), Closes: closes(h.PushInfo), Recipient: h.Recipient, Views: h.Push.Views, Limit: h.ViewLimit,
		Protected: h.Protected, Encrypted: h.ClientEncrypted, Frozen: h.Frozen, Step: h.RetrievalStep, Typed: h.TypedReveal && h.Recipient.IsZero(), Networks: strings.ReplaceAll(h.Networks, " ", ", "), Deletable: h.DeletableByViewer, Owned: owns(r, h.PushInfo), Elsewhere: !madeHere(r) && !owns(r, h.PushInfo), Code: r.Name, Edit: newEditForm(h),
		Pages: newPager(page, int64(h.Seq) > int64(page)*store.PageSize, func(page int) string { return pagePath(here, url.Values{}, page) }),
	}
	if v.QR = display.LinkQR(link); v.Encrypted { // the QR code would not have the key
		v.QR = &display.QR{}
	}
	for _, e := range h.Log {
		if e.Kind == record.EntryMail {
			v.Mailed += 1 + strings.Count(e.Recipients.Reveal(), ",")
		}
		v.Log = append(v.Log, receiptRow{display.NewExactTime(e.At), e.Kind.String(), display.ParseAgent(e.UserAgent)})
	}
	return action.Show(http.StatusOK, "made", v), nil
}

// certificateFile answers the owner of a push that has ended with the certificate of its end, as a
// file.
func (s *Set) certificateFile(r *action.Request) (action.Reply, error) { return s.certify(r, r.Actor) }

// receiptCertificate is certificateFile for a sender with the code of the receipt.
func (s *Set) receiptCertificate(r *action.Request) (action.Reply, error) {
	if _, err := s.Store.Receipt(r.Context(), sender(r), r.URLToken, 1); err != nil {
		return action.Reply{}, err // the code is wrong
	}
	return s.certify(r, sender(r))
}

func (s *Set) certify(r *action.Request, by store.Actor) (action.Reply, error) {
	c, err := action.Certificate(r, s.Store, by, s.Config.ReloadWindow)
	if err != nil {
		return action.Reply{}, err
	}
	text, err := json.Marshal(c)
	return action.Reply{
		Status: http.StatusOK, Text: &action.Text{Media: action.JSONType, Body: text},
		Header: [][2]string{{"Content-Disposition", `attachment; filename="certificate.json"`}},
	}, err
}

// endByReceipt deletes a push for its sender. A push that has ended does not change. If the sender wants a new link, and
// the push was not opened before, the form is next.
func (s *Set) endByReceipt(r *action.Request, f webForm) (action.Reply, error) {
	p, err := s.changeByReceipt(r, s.Store.DeletePush)
	if err != nil {
		return action.Reply{}, err
	}
	if f.checked(anewField) && p.Ended && p.Views == 0 {
		return s.goToTell(r, formPath(p), noticeDeletedAnew), nil
	}
	return action.GoTo(receiptPath(p)), nil
}

// thawByReceipt unfreezes a push. Its receipt then shows the result.
func (s *Set) thawByReceipt(r *action.Request) (action.Reply, error) {
	p, err := s.changeByReceipt(r, s.Store.ThawPush)
	if err != nil {
		return action.Reply{}, err
	}
	return s.tellIfLive(r, p, receiptPath(p), noticeThawed), nil
}

// changeByReceipt changes a push for its sender.
func (s *Set) changeByReceipt(r *action.Request, change func(context.Context, store.Actor, store.Name) (store.PushInfo, error)) (store.PushInfo, error) {
	if _, err := s.Store.Receipt(r.Context(), sender(r), r.URLToken, 1); err != nil {
		return store.PushInfo{}, err // the code is wrong
	}
	p, err := change(r.Context(), sender(r), r.URLToken)
	p.ReceiptCode = r.Name
	return p, err
}
