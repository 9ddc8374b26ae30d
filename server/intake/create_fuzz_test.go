package intake

import (
	"encoding/json"
	"net/http"
	"testing"
	"unicode/utf8"

	"pushbox/internal/testkit/env"
	"pushbox/server/action"
	"pushbox/server/body"
	"pushbox/store"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

// FuzzCreateBody checks that a body of any type is refused with an error that has a
// status, or gives fields that make a push or a 422; that a text in JSON comes out as
// it was sent; and that no chunk of a file is left if its push is not created.
func FuzzCreateBody(f *testing.F) {
	f.Add("application/json", `{"push":{"payload":"x","expire_after_days":1,"files":[]}}`)
	f.Add("application/json", `{"push":{"payload":"\ud83d\udd11","kind":"url"}}`)
	f.Add("application/json", `{"push":{"files":[{"content":"aGk="},{"content":"?"}]}}`)
	f.Add("application/x-www-form-urlencoded", "push[payload]=x&push[files][]=y")
	f.Add("multipart/form-data; boundary=b", "--b\r\nContent-Disposition: form-data; name=\"push[payload]\"\r\n\r\nx\r\n--b--\r\n")
	f.Add("multipart/form-data; boundary=b", "--b\r\nContent-Disposition: form-data; name=\"push[files][]\"; filename=\"f\"\r\n\r\nx\r\n--b\r\n\r\n")
	fixture := storetest.New(f)
	s := newParser(fixture.Store)
	f.Fuzz(func(t *testing.T, contentType, content string) {
		for account := range record.AccountID(2) { // anonymous, and with an account
			r := posted(t, s, contentType, content)
			r.Actor.Account = account
			c := s.newCreateRequest(r, PushV2)
			err := c.read()
			if err == nil {
				var push store.NewPush
				push, err = c.newPush()
				if err == nil && push.Payload.Reveal() != c.Fields.Text("payload") {
					t.Fatal("the payload is not what was sent")
				}
			}
			if err != nil && action.ProblemOf(c.Request, err).JSON(c.Request).Status >= http.StatusInternalServerError {
				t.Fatalf("%v is answered as the server's fault", err)
			}
			c.close()
			if ids, err := fixture.Engine().Orphans(t.Context(), record.ID{}, 1); len(ids) > 0 || err != nil {
				t.Fatalf("there are chunks of a push that was not created: %v, %v", ids, err)
			}
		}
	})
}

// FuzzPayloadIsRead checks that any text that can be sent is read exactly.
func FuzzPayloadIsRead(f *testing.F) {
	f.Add("plain")
	f.Add("\x00\u2028\U0001F511\"\\/<&>")
	f.Fuzz(func(t *testing.T, payload string) {
		if !utf8.ValidString(payload) {
			return // a test cannot put it into JSON; that it is refused is tested elsewhere
		}
		s := newParser(nil)
		content, err := json.Marshal(map[string]any{"push": map[string]string{"payload": payload}})
		env.OK(t, err)
		c := s.newCreateRequest(posted(t, s, body.TypeJSON, string(content)), PushV2)
		if err := c.read(); err != nil || c.Fields.Text("payload") != payload {
			t.Fatalf("%q was read as %q, %v", payload, c.Fields.Text("payload"), err)
		}
	})
}
