package server

import (
	"pushbox/internal/secret"
	"pushbox/store"
)

// A madePage is what the sender of a new push gets to see.
type madePage struct {
	Link      secret.Text
	QR        *qrImage // of the link; nil: it is too long for one
	Path      secret.Text
	Kind      string
	Ends      moment
	Views     int
	Protected bool // by a passphrase
	Step      bool
	Deletable bool
	Owned     bool
	Mailed    int // how many mails with the link are going to be sent
}

func newMadePage(p store.PushInfo, base string) madePage {
	link := htmlURL(p, base)
	return madePage{
		Link: secret.New(link), Path: secret.New(revealPath(p.Token)),
		Kind: p.Kind.String(), Ends: newMoment(p.ExpiresAt), Views: p.ViewLimit,
		Protected: p.Protected, Step: p.RetrievalStep, Deletable: p.DeletableByViewer,
		Owned: p.Owner != 0, QR: linkQR(link), Mailed: p.Mailed,
	}
}
