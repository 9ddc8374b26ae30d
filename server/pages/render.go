package pages

import (
	"io"
	"net/http"
	"slices"
	"strings"

	"pushbox/internal/humanize"
	"pushbox/server/action"
	"pushbox/server/web"
	"pushbox/store/record"
)

// asset answers with an asset of the pages.
func (s *Set) asset(r *action.Request) (action.Reply, error) {
	a, ok := s.Templates.Asset(r.Name.Reveal())
	if !ok {
		return action.Reply{}, record.ErrNotFound
	}
	return action.Reply{Status: http.StatusOK, Asset: &a}, nil
}

// assetListPath is the path of the list of all that pages load.
const assetListPath = "/assets.txt"

// assetList lists what pages load, each with its digest, as pushbox version --assets does: without
// base_path, so that it can be compared with the list of a release.
func (s *Set) assetList(*action.Request) (action.Reply, error) {
	text := strings.ReplaceAll(strings.Join(s.Templates.Digests(), "\n")+"\n", "  "+s.Config.BasePath+"/", "  /")
	return action.Reply{Status: http.StatusOK, Text: &action.Text{Media: "text/plain; charset=utf-8", Body: []byte(text)}}, nil
}

// favicon redirects programs that request an icon without reading a page.
func (s *Set) favicon(*action.Request) (action.Reply, error) {
	at, err := s.Templates.Path("icon-32.png")
	return action.GoTo(strings.TrimPrefix(at, s.Config.BasePath)), err
}

// siteFor returns the site in the request's language.
func (s *Set) siteFor(r *action.Request) web.Site {
	site := s.site
	if site.Tagline == "" {
		site.Tagline = r.Locale.Text("frame_tagline")
	}
	site.Bare = r.Entry.Recipients || r.Route != nil && r.Route.Has(action.ForRecipients) && (r.Route.Guessable() || r.Route.Word != "")
	return site
}

// sizeText writes a number of bytes in the reader's language, on one line.
func sizeText(r *action.Request, bytes int64) string {
	number, unit := humanize.SizeParts(bytes)
	units := strings.Fields(r.Locale.Text("size_units"))
	return strings.Replace(number, ".", r.Locale.Text("size_point"), 1) + "\u00a0" + units[unit]
}

// Render writes the page of a reply, and returns the cookie that goes out with it, if any. The page
// offers other languages if mayLeave is true.
func (s *Set) Render(w io.Writer, r *action.Request, rep action.Reply, mayLeave bool) (used *http.Cookie, err error) {
	v := &web.View{
		Template: rep.Template, Locale: r.Locale, Site: s.siteFor(r), Account: r.Session.Email, Admin: r.Session.Admin, NoPassword: r.Session.NoPassword,
		Where: r.Where(), Menu: s.menu, Switch: mayLeave, Apart: hasInput(rep), Page: rep.Body,
	}
	v.Notice, used = s.takeNotice(r)
	return used, s.Templates.Render(w, v)
}

// hasInput reports whether a page shows the reader's input in a long form again.
func hasInput(rep action.Reply) bool {
	return rep.Status == http.StatusUnprocessableEntity && slices.Contains([]string{"create", "ask", "answer"}, rep.Template)
}
