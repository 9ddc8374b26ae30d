package server

import (
	"time"

	"pushbox/internal/secret"
	"pushbox/store"
)

// Examples are made of pushes that do not exist by what renders those that do.

// exampleAt is when they were created.
func exampleAt() time.Time { return time.Date(2026, 11, 21, 11, 39, 25, 834_000_000, time.UTC) }

// examplePush are the fields of a push to be created.
func (s *Server) examplePush() ordered[any] {
	text := s.offers()[0]
	return ordered[any]{
		{"payload", "correct horse battery staple"},
		{"name", "wifi"},
		{"expire_after_days", text.days().Default},
		{"expire_after_views", text.views().Default},
	}
}

// exampleInfo is the push that those make.
func (s *Server) exampleInfo() store.PushInfo {
	text := s.offers()[0]
	days := text.days().Default
	return store.PushInfo{
		At: exampleAt(), Token: store.Token{Text: secret.New("buh66o4ikeyessa67bs4hdfpptg55e4sd6")}, Name: secret.New("wifi"),
		Push: store.Push{
			Kind: store.Text, State: store.Live, Days: days, ViewLimit: text.views().Default,
			CreatedAt: exampleAt(), UpdatedAt: exampleAt(), ExpiresAt: exampleAt().Add(time.Duration(days) * day),
			RetrievalStep: usually(text.step()), DeletableByViewer: usually(text.delete()),
		},
	}
}

// exampleEnd is that push an hour later, ended by hand.
func (s *Server) exampleEnd() store.PushInfo {
	p := s.exampleInfo()
	p.State, p.At = store.Deleted, p.At.Add(time.Hour)
	p.UpdatedAt, p.ExpiredAt = p.At, p.At
	return p
}

func (s *Server) exampleVersion(string) any {
	rep, _ := s.version(nil) // it has no errors
	return rep.body
}

func (s *Server) exampleCreated(base string) any { return newSenderJSON(s.exampleInfo(), base) }

func (s *Server) exampleActive(base string) any {
	return []senderJSON{newSenderJSON(s.exampleInfo(), base)}
}

func (s *Server) exampleExpired(base string) any {
	return []senderJSON{newSenderJSON(s.exampleEnd(), base)}
}

// exampleShown is a push with a file, so that it has all that there can be.
func (s *Server) exampleShown(base string) any {
	p := s.exampleInfo()
	p.Kind, p.Views, p.UpdatedAt = store.File, 1, p.UpdatedAt.Add(time.Minute)
	p.Payload = secret.New("see the file")
	p.Grant = secret.New("d56aw76iprjcwfvccv72okkm45tqznyj")
	p.Files = []store.FileInfo{{Name: secret.New("hello.txt"), ContentType: "text/plain", Size: 11}}
	return newViewerJSON(p, base)
}

func (s *Server) exampleEnded(base string) any { return newPushJSON(s.exampleEnd(), base) }

func (s *Server) exampleMailed(base string) any { return newPushJSON(s.exampleInfo(), base) }

func (s *Server) examplePreview(base string) any {
	return previewJSON{URL: htmlURL(s.exampleInfo(), base)}
}

func (s *Server) exampleAudit(string) any {
	at := Stamp(exampleAt())
	return auditJSON{Logs: []entryJSON{{
		IP: "192.0.2.1", UserAgent: "curl/8.14.1", Kind: store.EntryCreation.String(), CreatedAt: at, UpdatedAt: at,
	}}}
}
