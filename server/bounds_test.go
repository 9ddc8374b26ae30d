package server_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pushbox/config"
	"pushbox/internal/testkit/env"
	"pushbox/server/servertest"
	"pushbox/store"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

// repeated returns texts of that character.
func repeated(c string) func(n int) string {
	return func(n int) string { return strings.Repeat(c, n) }
}

// addressText returns an e-mail address of n characters, another one each time.
func addressText() func(n int) string {
	made := 0
	return func(n int) string {
		made++
		local := fmt.Sprintf("a%03d@", made)
		domain := []byte(strings.Repeat("d", n-len(local)))
		for i := 50; i < len(domain)-2; i += 50 {
			domain[i] = '.'
		}
		return local + string(domain)
	}
}

// linkText returns an address of a page of n characters.
func linkText(n int) string {
	const start = "https://hooks.example/"
	return start + strings.Repeat("x", n-len(start))
}

// A textOfPush is a text that the sender of a push fills in, and the most that it may be.
type textOfPush struct {
	field  string
	beside map[string]string // the other fields
	of     func(n int) string
	most   int
}

// pushDoors are all the ways in which a sender fills in the fields of a push. The pages answer
// for a problem with words, and the API with names of fields.
func pushDoors(a *servertest.Server) map[string]func(map[string]string) servertest.Answer {
	session := a.AddSessionUser(servertest.AnnEmail)
	token := a.AddToken(servertest.AnnEmail)
	object := func(fields map[string]string) string {
		var members []string
		for name, text := range fields {
			members = append(members, servertest.Quoted(name)+":"+servertest.Quoted(text))
		}
		return "{" + strings.Join(members, ",") + "}"
	}
	form := func(wrapper string, fields map[string]string) string {
		v := make(url.Values)
		for name, text := range fields {
			v.Set(wrapper+"["+name+"]", text)
		}
		return v.Encode()
	}
	old := func(fields map[string]string) (path, wrapper string) {
		if fields["kind"] == "url" {
			return "/r.json", "url"
		}
		return "/p.json", "password"
	}
	parts := func(fields map[string]string, path string, h http.Header) servertest.Answer {
		_, body := servertest.FilePush{Before: fields}.Multipart()
		return a.Do("POST", path, body, servertest.Multi, h)
	}
	return map[string]func(map[string]string) servertest.Answer{
		"JSON": func(f map[string]string) servertest.Answer {
			return a.Do("POST", pushes, `{"push":`+object(f)+`}`, token)
		},
		"form": func(f map[string]string) servertest.Answer {
			return a.Do("POST", pushes, form("push", f), servertest.Urlencoded, token)
		},
		"query": func(f map[string]string) servertest.Answer {
			return a.Do("POST", pushes+"?"+form("push", f), "", token)
		},
		"parts": func(f map[string]string) servertest.Answer { return parts(f, pushes, token) },
		"JSON of version 1": func(f map[string]string) servertest.Answer {
			path, wrapper := old(f)
			return a.Do("POST", path, `{"`+wrapper+`":`+object(f)+`}`, token)
		},
		"form of version 1": func(f map[string]string) servertest.Answer {
			path, wrapper := old(f)
			return a.Do("POST", path, form(wrapper, f), servertest.Urlencoded, token)
		},
		"page": func(f map[string]string) servertest.Answer { return a.SendForm(servertest.Typed(f), session) },
		"page with a file": func(f map[string]string) servertest.Answer {
			return a.SendParts(servertest.FilePush{Before: servertest.Typed(f)}, session)
		},
	}
}

// What fits is kept as it was sent, and one more is refused, whichever way it comes.
func TestEachTextOfAPushIsBoundedAtEachDoor(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	doors := pushDoors(a)
	own := a.AddToken(servertest.AnnEmail)
	text := map[string]string{"payload": "x"}
	all := []textOfPush{
		{store.FieldPayload, nil, repeated("x"), store.MaxText},
		{store.FieldPayload, map[string]string{"kind": "url"}, linkText, store.MaxText},
		{store.FieldPayload, map[string]string{"kind": "qr"}, repeated("é"), store.MaxQR},
		{store.FieldPassphrase, text, repeated("p"), store.MaxPassphrase},
		{store.FieldName, text, repeated("n"), store.MaxName},
		{store.FieldNote, text, repeated("n"), store.MaxNote},
		{store.FieldDays, text, strconv.Itoa, config.Default().PW.ExpireAfterDaysMax},
		{store.FieldViews, text, strconv.Itoa, config.Default().PW.ExpireAfterViewsMax},
	}
	for door, send := range doors {
		for _, b := range all {
			if door == "query" && b.most > 64<<10 {
				continue // no line of a request is so long
			}
			if strings.HasSuffix(door, "version 1") && strings.HasPrefix(b.field, "expire_") {
				continue // version 1 puts the default in place of what is out of bounds
			}
			fields := make(map[string]string)
			maps.Copy(fields, b.beside)
			name := fmt.Sprintf("%s of kind %q by %s", b.field, b.beside["kind"], door)

			fields[b.field] = b.of(b.most + 1)
			page := strings.HasPrefix(door, "page")
			if got := send(fields); page {
				if got.Status != http.StatusUnprocessableEntity || len(got.Problems()) != 1 {
					t.Errorf("%s, one too long: %d", name, got.Status)
				}
			} else if bad := got.Invalid(); !slices.Equal(bad, []string{b.field}) {
				t.Errorf("%s, one too long: %q", name, bad)
			}

			fields[b.field] = b.of(b.most)
			got, token := send(fields), ""
			if page {
				token = got.PushToken()
			} else {
				token = got.Want(http.StatusCreated).Text("url_token")
			}
			passphrase := url.Values{"passphrase": {fields[store.FieldPassphrase]}}
			kept := a.Get(pushes+"/"+token+"?"+passphrase.Encode(), own).Want(http.StatusOK).Object()
			maps.Copy(kept, a.Get(pushes+"/active", own).Want(http.StatusOK).List()[0])
			if is := fmt.Sprint(kept[b.field]); kept["url_token"] != token || b.field != store.FieldPassphrase && is != fields[b.field] {
				t.Errorf("%s is not kept as it was sent: %d characters", name, len(is))
			}
			a.Store.Clock.Advance(time.Second) // the newest is the first in the list
		}
	}
}

// A textOfRecord is a text of another record, the most that it may be, and the ways in which a
// client fills it in.
type textOfRecord struct {
	field string
	of    func(n int) string
	most  int
	doors map[string]func(text string) servertest.Answer
}

func TestEachTextOfOtherRecordsIsBoundedAtEachDoor(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t, func(c *config.Config) { c.EnableSignups, c.EnableRequests = true, true })
	env.OK(t, a.Store.SetAdmin(ctx, storetest.Operator, servertest.AnnEmail, true, false))
	a.AddAccount("bob@example.com", servertest.AnnPassword)
	ann := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	token := a.AddScopedToken(servertest.AnnEmail, record.ScopeAdmin|record.ScopeCreate)
	api := func(path, wrapper, field string) map[string]func(string) servertest.Answer {
		form := func(text string) string { return url.Values{wrapper + "[" + field + "]": {text}}.Encode() }
		return map[string]func(string) servertest.Answer{
			"JSON": func(text string) servertest.Answer {
				return a.Do("POST", path, `{"`+wrapper+`":{"`+field+`":`+servertest.Quoted(text)+`}}`, token)
			},
			"form": func(text string) servertest.Answer {
				return a.Do("POST", path, form(text), servertest.Urlencoded, token)
			},
			"query": func(text string) servertest.Answer { return a.Do("POST", path+"?"+form(text), "", token) },
			"parts": func(text string) servertest.Answer {
				return a.Do("POST", path, servertest.TextPart(wrapper+"["+field+"]", text)+"--b--\r\n", servertest.Multi, token)
			},
		}
	}
	with := func(all map[string]func(string) servertest.Answer, page func(string) servertest.Answer) map[string]func(string) servertest.Answer {
		all["page"] = page
		return all
	}
	only := func(page func(string) servertest.Answer) map[string]func(string) servertest.Answer {
		return map[string]func(string) servertest.Answer{"page": page}
	}
	signUps := addressText()
	_, link := ann.AskFor("max_answers", "10")
	for _, b := range []textOfRecord{
		{store.FieldText, repeated("é"), record.MaxAsked, with(api("/api/v2/requests", "request", store.FieldText), func(text string) servertest.Answer {
			return ann.Post("/requests/new", servertest.TypedRequest("text", text)...)
		})},
		{"payload of an answer", repeated("x"), store.MaxText, map[string]func(string) servertest.Answer{
			"page":             func(text string) servertest.Answer { return a.Send(link, map[string]string{"push[payload]": text}) },
			"page with a file": func(text string) servertest.Answer { return a.AnswerRequest(link, text) },
		}},
		{"email", addressText(), record.MaxEmail, with(api("/api/v2/admin/accounts", "account", "email"), func(text string) servertest.Answer {
			return ann.Post("/admin/invite", "email", text)
		})},
		{"email at sign-up", signUps, record.MaxEmail, only(func(text string) servertest.Answer {
			return a.Browser().Post("/users/sign_up", "email", text, "password", "a good password")
		})},
		{"password at sign-up", repeated("p"), record.MaxPassword, only(func(text string) servertest.Answer {
			return a.Browser().Post("/users/sign_up", "email", signUps(30), "password", text)
		})},
		{"label of a token", repeated("l"), record.MaxLabel, only(func(text string) servertest.Answer {
			return ann.Post("/users/token", "password", servertest.AnnPassword, "label", text, "days", "30")
		})},
		{"url of a webhook", linkText, store.MaxHookURL, only(func(text string) servertest.Answer {
			return ann.Post("/users/webhooks", "url", text, "event_view", "on", "password", servertest.AnnPassword)
		})},
		{"name of an account", repeated("é"), store.MaxAccountName, only(func(text string) servertest.Answer {
			return ann.Post("/users/account", "name", text)
		})},
		{"password by a link", repeated("p"), record.MaxPassword, only(func(text string) servertest.Answer {
			link, err := a.Store.MakePasswordLink(ctx, storetest.Operator, "bob@example.com")
			env.OK(t, err)
			return a.Browser().Post("/users/password/new/"+link.Code.Reveal(), "new", text, "again", text)
		})},
	} {
		for door, send := range b.doors {
			if got := send(b.of(b.most + 1)); got.Status != http.StatusUnprocessableEntity {
				t.Errorf("%s by %s, one too long: %d", b.field, door, got.Status)
			}
			if got := send(b.of(b.most)); got.Status >= http.StatusBadRequest {
				t.Errorf("%s by %s, as long as it may be: %d %s", b.field, door, got.Status, got.Body)
			}
		}
	}
}

// What a client says of itself and of its files is cut, and nothing is refused.
func TestWhatAClientSaysOfItselfIsCut(t *testing.T) {
	t.Parallel()
	const agent, fileName, mediaType = 255, 200, 255
	a := servertest.New(t)
	ann := a.AddTokenUser("ann@example.com")
	for _, over := range []int{0, 1, 10_000} {
		files := []servertest.File{{Name: strings.Repeat("f", fileName+over), Media: "text/" + strings.Repeat("m", mediaType-len("text/")+over), Content: []byte("x")}}
		for kind, encode := range servertest.FileKinds {
			if over > 1 && kind == "multipart" {
				continue // the header of a part is bounded
			}
			contentType, body := encode(servertest.FilePush{Files: files})
			said := strings.Repeat("x", agent+over)
			h := http.Header{"User-Agent": {said}, "Referer": {said}}
			maps.Copy(h, ann)
			url := a.Post(contentType, body, h).Want(http.StatusCreated).Text("url_token")
			got := a.FilesOf(url)[0]
			if len(got.Name) != fileName || over == 0 && got.Media != files[0].Media || over > 0 && got.Media != "application/octet-stream" {
				t.Errorf("%s, %d over: a name of %d bytes of type %.40q", kind, over, len(got.Name), got.Media)
			}
			log := a.Get(pushes+"/"+url+"/audit", ann).Want(http.StatusOK).Object()["logs"].([]any)
			entry := log[0].(map[string]any)
			for _, member := range []string{"user_agent", "referrer"} {
				if entry[member] != strings.Repeat("x", agent) {
					t.Errorf("%s, %d over: %s is %.60q", kind, over, member, entry[member])
				}
			}
		}
	}
}
