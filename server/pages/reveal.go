package pages

import (
	"html/template"
	"net/http"
	"slices"
	"time"

	"pushbox/internal/endtoend"
	"pushbox/internal/secret"
	"pushbox/server/action"
	"pushbox/server/display"
	"pushbox/store"
	"pushbox/store/record"
)

// A revealView shows an opened push.
type revealView struct {
	Path string // of the push
	Step string // address for reloading and going back
	Kind string

	Encrypted bool // by the sender: a script decrypts text and files

	Text  template.HTML       // empty: none
	Exact string              // the text in base64, if HTML cannot hold it
	Login []loginPart         // nil: the text is no login; empty parts if Encrypted: a script fills them
	To    display.Destination // of a url push
	Code  display.QR          // of a qr push; zero if the text is too long for one
	Files []fileRow
	All   string   // the path of all files in one archive
	Keep  timeLeft // how long the files stay available
	Renew int      // seconds after which the page asks for a part of a file, so that the grant stays valid

	Limits    limitsView
	Before    viewHistory
	Own       bool   // the reader owns it: no view was counted
	Request   string // the path of the reader's request that it answers; empty: none
	Returns   bool   // it was opened on the page of that request, whose address may have keys
	Last      bool   // this was the last view
	Deletable bool   // the reader may delete the rest of the push
	Covered   bool   // the text is covered at first, because there was no page with a button
}

// A fileRow is a file to download.
type fileRow struct {
	Name  string // empty: it is encrypted
	Size  string // of its content
	Bytes int64  // that are downloaded
	Path  string
}

// reveal opens a push. returns says that the form was on the page of a request; box is what a named
// recipient sent, nil for any other reader.
func (s *Set) reveal(r *action.Request, passphrase secret.Text, returns bool, box *mailboxForm) (action.Reply, error) {
	v, err := s.Store.Reveal(r.Context(), r.Actor, r.URLToken, passphrase, r.ReserveAnswer(s.AnswerMemory, pageFactor))
	if a, ok := newAttempt(err, passphrase.IsZero()); ok {
		s.NoteLimit(err)
		a.Mailbox = box.after(err)
		return s.stepAfter(r, a)
	}
	if err == nil {
		err = notFoundIfExpired(v.PushInfo)
	}
	if err != nil {
		return action.Reply{}, err
	}
	page := s.newRevealView(r, v)
	page.Returns = returns
	rep := action.Show(http.StatusOK, "reveal", page)
	rep.Reserved = true
	rep = rep.With(r.NewKnownPushCookie(v.PushInfo)).With(s.keep(r, v))
	if opensAtOnce(v.PushInfo) {
		rep = rep.With(r.NewPathCookie(openedCookie, "1"))
	}
	return rep, nil
}

// showAgain shows a view that was kept, which counts no other one.
func (s *Set) showAgain(r *action.Request, v store.Viewing) (action.Reply, error) {
	if err := r.ReserveAnswer(s.AnswerMemory, pageFactor)(v.Kind, int64(v.Payload.Len())); err != nil {
		return action.Reply{}, err
	}
	rep := action.Show(http.StatusOK, "reveal", s.newRevealView(r, v))
	rep.Reserved = true
	return rep, nil
}

// pageFactor is the greatest length of the page that opens a push of that kind, in lengths of the
// payload. HTML needs five bytes for a quote. A page may also have the text in base64, and an
// address as text, link and host.
func pageFactor(k record.Kind) int64 {
	switch k {
	case record.QR:
		return 512 // a small text, and an image of it
	case record.URL:
		return 16
	default:
		return 7
	}
}

func (s *Set) newRevealView(r *action.Request, v store.Viewing) revealView {
	p, own := v.PushInfo, owns(r, v.PushInfo)
	page := revealView{
		Path: revealPath(p.Token), Step: stepPath(p.Token), Kind: p.Kind.String(), Encrypted: p.ClientEncrypted,
		Files: fileRows(r, p), Keep: newTimeLeft(min(s.Config.Files.DownloadWindow, p.ExpiresAt.Sub(p.At))), Renew: renewal(s.Config.Files.DownloadWindow),
		Limits: newLimitsView(p), Before: newViewHistory(v.Before), Own: own, Last: p.ViewsRemaining() == 0,
		Covered: r.Method == http.MethodGet,
	}
	if len(p.Files) > 1 && !p.ClientEncrypted { // an archive of encrypted files is useless
		page.All = action.ArchivePath(p.Grant)
	}
	if own && p.IsAnswer() {
		page.Request = requestPath(p.Request)
	}
	page.Deletable = (own || p.DeletableByViewer) && (!page.Last || len(p.Files) > 0)
	text := p.Payload.Reveal()
	switch p.Kind {
	case record.URL:
		page.To = display.NewDestination(text)
	case record.QR:
		page.Code, _ = display.NewQR(text) // the page has the text anyway
		fallthrough
	default:
		page.Text, page.Exact = display.ExactHTML(text)
	}
	if p.Kind == record.Text && p.ClientEncrypted {
		page.Login = emptyLogin()
	} else if p.Kind == record.Text && page.Exact == "" {
		page.Login = parseLogin(text)
	}
	return page
}

// Seed reports whether the login has, or may have, a seed of one-time codes.
func (v revealView) Seed() bool {
	return v.Encrypted && v.Login != nil || slices.ContainsFunc(v.Login, func(p loginPart) bool { return p.Name == "seed" && !p.Value.IsZero() })
}

// renewals is how often the page renews a grant within the grant's time, so that some
// renewals may fail.
const renewals = 5

func renewal(window time.Duration) int { return max(1, int(window.Seconds())/renewals) }

func fileRows(r *action.Request, p store.PushInfo) (rows []fileRow) {
	for i, f := range p.Files {
		row := fileRow{Name: f.Name.Reveal(), Size: sizeText(r, f.Size), Bytes: f.Size, Path: action.DownloadPath(p.Grant, i)}
		if p.ClientEncrypted {
			row.Name, row.Size = "", sizeText(r, endtoend.DecryptedSize(f.Size))
		}
		rows = append(rows, row)
	}
	return rows
}
