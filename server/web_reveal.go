package server

import (
	"html/template"
	"net/http"
	"time"

	"pushbox/internal/secret"
	"pushbox/store"
)

// A revealed is what the page of an opened push shows.
type revealed struct {
	Path string // of the push
	Step string // where reloading and going back lead
	Kind string

	Text  template.HTML // empty: there is none
	Exact string        // the text in base64, where HTML cannot hold it
	To    destination   // of a url push
	Code  qrImage       // of a qr push; zero where the text is too long for one
	Files []fileRow
	Renew int // seconds after which the page asks for a part of a file, to keep the files available

	Views     int // that are left
	Days      int // that are left, rounded up
	Until     moment
	Opened    opened // before this time
	Own       bool   // the reader sent it: no view was counted
	Last      bool   // this was the last view
	Deletable bool   // there is something that the reader may delete
}

// A fileRow is a file to be downloaded.
type fileRow struct {
	Name, Size string
	Bytes      int64
	Path       string
}

// reveal opens a push. What comes before is asked first: once a view is counted,
// nothing may fail any more.
func (s *Server) reveal(r *request, k store.Kind, passphrase secret.Text) (reply, error) {
	before, err := s.store.Openings(r.Context(), r.urlToken)
	if err != nil {
		return reply{}, err
	}
	p, err := s.store.RetrieveInto(r.Context(), r.actor, r.urlToken, passphrase, s.roomFor(r, pageGrows(k)))
	if t, ok := newTry(err, passphrase.IsZero()); ok {
		s.noteLimit(err)
		return s.step(r, t)
	}
	if err == nil {
		err = gone(p)
	}
	if err != nil {
		return reply{}, err
	}
	rep := show(http.StatusOK, "push", s.newRevealed(r, p, before))
	rep.paid = true
	if opensAtOnce(p) {
		rep = rep.with(s.newOpenedCookie(r))
	}
	return rep, nil
}

// pageGrows is how many times as long as its payload the page can be that opens a push
// of that kind. HTML takes five bytes for a quote. A text may be there in base64 as
// well, and an address is there as that, as a link, and as a host.
func pageGrows(k store.Kind) int64 {
	switch k {
	case store.QR:
		return 512 // a small text, and an image of it
	case store.URL:
		return 16
	default:
		return 7
	}
}

func (s *Server) newRevealed(r *request, p store.PushInfo, before store.Openings) revealed {
	own := r.owns(p)
	if before.Count = p.Views; !own { // others may have come in between
		before.Count--
	}
	page := revealed{
		Path: revealPath(p.Token), Step: stepPath(p.Token), Kind: p.Kind.String(),
		Files: fileRows(p), Renew: renewal(s.cfg.Files.DownloadWindow),
		Views: p.ViewsRemaining(), Days: p.DaysRemaining(p.At), Until: newMoment(p.ExpiresAt),
		Opened: newOpened(before), Own: own, Last: p.ViewsRemaining() == 0,
	}
	page.Deletable = (own || p.DeletableByViewer) && (!page.Last || len(p.Files) > 0)
	text := p.Payload.Reveal()
	switch p.Kind {
	case store.URL:
		page.To = newDestination(text)
	case store.QR:
		page.Code, _ = newQR(text) // its text is there in any case
		fallthrough
	default:
		page.Text, page.Exact = exactHTML(text)
	}
	return page
}

// renewals is how often the page renews a download grant within the time that it
// lasts: some of them may fail.
const renewals = 5

func renewal(window time.Duration) int { return max(1, int(window.Seconds())/renewals) }

func fileRows(p store.PushInfo) (rows []fileRow) {
	for i, f := range p.Files {
		rows = append(rows, fileRow{Name: f.Name.Reveal(), Size: fileSize(f.Size), Bytes: f.Size, Path: downloadPath(p.Grant, i)})
	}
	return rows
}
