package server

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"pushbox/internal/secret"
	"pushbox/store"
)

// A createPage is the form for a new push.
type createPage struct {
	Kinds       []kindChoice
	NoFiles     bool // files are for those who are signed in, and nobody is
	Payload     secret.Text
	Days, Views dial
	Times       []timeChoice
	Step        toggle // before the push can be seen
	Deletable   toggle // by whoever sees it
	Name, Note  secret.Text
	Mail        *mailForm // nil: no mail is sent, or nobody is signed in
	MaxQR       int       // characters of a qr push
	MaxFiles    int
	MaxSize     int64 // of a file, in bytes
	MaxSizeText string
	Problems    []formProblem
}

// A kindChoice is a kind to choose, with its terms as the script reads them.
type kindChoice struct {
	Name             string
	Chosen, Disabled bool
	Days, Views      string // default, least and most
	Step, Deletable  string // on, off, or empty: never
}

// newCreatePage is the form as it is before anybody filled it in.
func (s *Server) newCreatePage(r *request) createPage {
	all := s.kinds()
	return s.createPage(r, all, all[0], fields{
		"expire_after_days":   {text: strconv.Itoa(all[0].ExpireAfterDaysDefault)},
		"expire_after_views":  {text: strconv.Itoa(all[0].ExpireAfterViewsDefault)},
		"retrieval_step":      {text: flagText(all[0].step().Default)},
		"deletable_by_viewer": {text: flagText(all[0].delete().Default)},
	})
}

// createPageAgain is the form as it was filled in, but for passphrase and files,
// with what is wrong with it.
func (s *Server) createPageAgain(in *intake, invalid *store.InvalidError) createPage {
	all := s.kinds()
	t := all[0]
	for _, other := range all {
		if other.kind.String() == in.fields["kind"].text {
			t = other
		}
	}
	if !in.whole || in.fields["expire_after_duration"].text != "" { // what was not read, or not sent on, is as at first
		in.fields.fill("expire_after_days", strconv.Itoa(t.ExpireAfterDaysDefault))
	}
	if !in.whole {
		in.fields.fill("expire_after_views", strconv.Itoa(t.ExpireAfterViewsDefault))
		in.fields.fill("retrieval_step", flagText(t.step().Default))
		in.fields.fill("deletable_by_viewer", flagText(t.delete().Default))
	}
	long := in.tooLong(t.kind)
	for _, name := range long {
		invalid.Add(name, "is too long")
	}
	problems := s.formProblems(t, in, invalid)
	for _, name := range long {
		in.fields.change(name, func(string) string { return "" })
	}
	page := s.createPage(in.r, all, t, in.fields)
	page.Problems = problems
	return page
}

// tooLong names the fields that are longer than they may be in a push of that kind,
// of those that come back.
func (in *intake) tooLong(k store.Kind) (long []string) {
	for _, field := range [...]struct {
		name string
		most int
	}{
		{"payload", store.MaxText},
		{"expire_after_days", maxNumber},
		{"expire_after_views", maxNumber},
		{"name", store.MaxName},
		{"note", store.MaxNote},
		{store.FieldMailTo, in.server.mostAddresses()},
	} {
		text := in.fields[field.name].text
		qr := k == store.QR && field.name == "payload" && utf8.RuneCountInString(text) > store.MaxQR
		if qr || comesBack(text, field.most) != text {
			long = append(long, field.name)
		}
	}
	return long
}

// createPage is the form with the kind of these terms chosen, and these fields.
func (s *Server) createPage(r *request, all []kindTerms, chosen kindTerms, f fields) createPage {
	page := createPage{
		NoFiles:     s.cfg.EnableFilePushes && r.actor.Account == 0,
		Payload:     secret.New(f["payload"].text),
		Days:        newDial(all, kindTerms.days, f["expire_after_days"].text),
		Views:       newDial(all, kindTerms.views, f["expire_after_views"].text),
		Step:        newToggle(all, kindTerms.step, f.on("retrieval_step")),
		Deletable:   newToggle(all, kindTerms.delete, f.on("deletable_by_viewer")),
		Name:        secret.New(f["name"].text),
		Note:        secret.New(f["note"].text),
		MaxQR:       store.MaxQR,
		MaxFiles:    s.cfg.Files.MaxFileUploads,
		MaxSize:     int64(s.cfg.Files.MaxFileSize),
		MaxSizeText: fileSize(int64(s.cfg.Files.MaxFileSize)),
	}
	page.Mail = s.newMailForm(r, f)
	page.Times = newTimes(page.Days, f["expire_after_duration"].text)
	for _, t := range all {
		page.Kinds = append(page.Kinds, kindChoice{
			Name: t.kind.String(), Chosen: t.kind == chosen.kind, Disabled: t.kind == store.File && r.actor.Account == 0,
			Days: rangeText(t.days()), Views: rangeText(t.views()),
			Step: choiceText(t.step()), Deletable: choiceText(t.delete()),
		})
	}
	return page
}

// fill gives a field a text unless it was sent.
func (f fields) fill(name, text string) {
	if _, sent := f[name]; !sent {
		f[name] = value{shape: asText, text: text}
	}
}

// on reports whether a box is ticked.
func (f fields) on(name string) bool { return strings.EqualFold(f[name].text, "on") }

func flagText(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

func rangeText(r store.Range) string {
	return strconv.Itoa(r.Default) + " " + strconv.Itoa(r.Min) + " " + strconv.Itoa(r.Max)
}

func choiceText(c store.Choice) string {
	if !c.Enabled {
		return ""
	}
	return flagText(c.Default)
}
