package api_test

import (
	"net/http"
	"slices"
	"testing"

	"pushbox/config"
	"pushbox/server/servertest"
	"pushbox/store/record"
)

// Files come along with a push of any kind, which keeps its kind and its rules.
func TestFilesComeAlongWithAnyKind(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, servertest.AllKinds)
	ann := a.AddTokenUser("ann@example.com")
	files := []servertest.File{{Name: "a.txt", Media: "text/plain", Content: []byte("hello")}, {Name: "b", Media: "application/pdf", Content: servertest.BytesOf(100_000)}}
	for kind, payload := range map[record.Kind]string{record.Text: "a text", record.URL: "https://a.example/100%", record.QR: "a code", record.File: "a letter"} {
		for _, encode := range servertest.FileKinds {
			sent := servertest.FilePush{Files: files, After: map[string]string{"kind": kind.String(), "payload": payload, "expire_after_views": "2"}}
			contentType, body := encode(sent)
			made := a.Post(contentType, body, ann).Want(http.StatusCreated).Has(map[string]string{"kind": kind.String()})
			token := made.Text("url_token")
			a.WantFiles(token, files...)
			shown := a.Send("/p/"+token, nil).Want(http.StatusOK) // the last view, whose grant keeps the files
			shown.Page().Has("a.txt")
			if kind != record.URL {
				shown.Page().Has(payload)
			}
			a.Do("DELETE", pushes+"/"+token, "", ann).Want(http.StatusOK)
		}
	}
	a.Store.SweepAll()
	a.WantNothing(ann)
}

func TestFilesBesideAKindAreRefused(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, servertest.AllKinds)
	off := servertest.New(t, func(c *config.Config) { c.EnableFilePushes = false })
	ann, offAnn := a.AddTokenUser("ann@example.com"), off.AddTokenUser("ann@example.com")
	const files = `"files":[{"filename":"a","content":"aGk="}]`
	for _, kind := range []string{"text", "url", "qr"} {
		body := jsonFiles(`"kind":"` + kind + `","payload":"https://a.example/",` + files)
		a.Do("POST", pushes, body).Want(http.StatusUnauthorized)
		if got := off.Do("POST", pushes, body, offAnn).Invalid(); !slices.Equal(got, []string{"kind"}) {
			t.Errorf("%s, where file pushes are off: %v", kind, got)
		}
		without := jsonFiles(`"kind":"` + kind + `",` + files)
		if got := a.Do("POST", pushes, without, ann).Invalid(); !slices.Equal(got, []string{"payload"}) {
			t.Errorf("%s without a payload: %v", kind, got)
		}
	}
	a.WantNothing(ann)
}

// Files keep their own limits, whatever kind they come along with.
func TestFilesBesideAKindKeepTheLimitsOfBoth(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, servertest.AllKinds, func(c *config.Config) {
		c.Files.ExpireAfterDaysMax, c.Files.ExpireAfterDaysDefault = 2, 2
		c.Files.ExpireAfterViewsMax, c.Files.ExpireAfterViewsDefault = 3, 3
		c.Files.EnableDeletablePushes = false
		c.QR.ExpireAfterViewsMax, c.QR.ExpireAfterViewsDefault = 1, 1
	})
	session, ann := a.AddSessionUser("ann@example.com"), a.AddToken("ann@example.com")
	const file = `"files":[{"filename":"a","content":"aGk="}]`
	for _, kind := range []string{"text", "url", "qr", "file"} {
		push := `"kind":"` + kind + `","payload":"https://a.example/",` + file
		for _, c := range []struct{ field, value string }{{"expire_after_days", "3"}, {"expire_after_views", "4"}, {"expire_after_duration", "8"}} {
			if got := a.Do("POST", pushes, jsonFiles(push+`,"`+c.field+`":`+c.value), ann).Invalid(); !slices.Equal(got, []string{c.field}) {
				t.Errorf("%s with a file: %s %s: %v", kind, c.field, c.value, got)
			}
		}
		want := map[string]string{"expire_after_days": "2", "expire_after_views": "3", "deletable_by_viewer": "false"}
		if kind == "qr" {
			want["expire_after_views"] = "1"
		}
		made := a.Do("POST", pushes, jsonFiles(push+`,"deletable_by_viewer":true`), ann).Want(http.StatusCreated).Has(want)
		a.SendOwn("/p/"+made.Text("url_token")+"/edit", map[string]string{"days": "90", "views": "100"}, session).Want(http.StatusUnprocessableEntity)
	}
	a.Do("POST", pushes, jsonFiles(`"kind":"text","payload":"x","expire_after_days":3,"expire_after_views":4`), ann).Want(http.StatusCreated)
}
