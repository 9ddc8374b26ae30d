package api_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"pushbox/internal/secret"
	"pushbox/server/servertest"
	"pushbox/store"
	"pushbox/store/record"
)

// servertest.TakesRequests lets accounts ask for secrets.

// tokenOf is the token in the link of a request.
func tokenOf(t *testing.T, link string) store.RequestToken {
	t.Helper()
	_, text, _ := strings.Cut(link, "/q/")
	token, err := store.ParseRequestToken(text)
	if err != nil {
		t.Fatalf("the link is %q", link)
	}
	return token
}

// While requests are off, nothing about them is there: clients of Password Pusher take any
// other answer for a server that has the feature.
func TestRequestsAreUnknownWhileTheyAreOff(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ann := a.AddTokenUser("ann@example.com")
	for _, header := range []http.Header{nil, ann, {"Authorization": {"Bearer bad"}}} {
		for _, method := range []string{"GET", "POST", "DELETE", "PUT"} {
			for _, path := range []string{requests, requests + ".json", requests + "/" + strings.Repeat("a", 36)} {
				got, unknown := a.Do(method, path, "", header), a.Do(method, "/api/v2/workspaces", "", header)
				if got.Status != http.StatusNotFound || got.Body != unknown.Body {
					t.Errorf("%s %s: %d %s", method, path, got.Status, got.Body)
				}
			}
		}
	}
	if doc := a.Get("/api/v2/openapi.json").Want(http.StatusOK); strings.Contains(doc.Body, requests) {
		t.Error("the description has them")
	}
}

var requestKeys = []string{
	"id", "html_url", "text", "kinds", "max_answers", "answered", "answer_expire_after_days", "answer_expire_after_views", "answer_retrieval_step",
	"created_at", "expires_at", "expired", "expired_on", "public_key_x25519", "public_key_p256",
	"url_token", "json_url", "state", "updated_at", "close_after_at", "close_after_duration", "days_remaining", "retrieval_step", "include_requestor",
	"response_file_attachments", "passphrase", "account_id", "name", "note",
}

func TestARequestOverTheAPI(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, servertest.TakesRequests)
	ann, bob := a.AddTokenUser("ann@example.com"), a.AddTokenUser("bob@example.com")
	made := a.Do("POST", requests, `{"request":{"text":"the <b>VPN</b> password","kinds":"text","max_answers":2,"expire_after_days":3,"answer_expire_after_duration":3,"answer_expire_after_views":4}}`, ann).Want(http.StatusCreated)
	if got := made.Keys(); !slices.Equal(got, requestKeys) {
		t.Errorf("the keys are %q", got)
	}
	made.Has(map[string]string{
		"text": "the <b>VPN</b> password", "kinds": "text", "max_answers": "2", "answered": "0", "expired": "false", "expired_on": "null", "public_key_p256": "null",
		"answer_expire_after_days": "1", "answer_expire_after_views": "4", "answer_retrieval_step": "true",
	})
	d := documentOf(a)
	d.answers("request_create", http.StatusCreated, made)
	one, token := requests+"/"+made.Text("id"), tokenOf(t, made.Text("html_url"))
	if _, err := a.Store.CreatePush(ctx, store.Actor{Client: "192.0.2.1", IP: "192.0.2.1"}, store.NewPush{Kind: record.Text, Payload: secret.New("hunter2"), Request: token}); err != nil {
		t.Fatal(err)
	}
	if list := a.Get(requests, ann).Want(http.StatusOK).List(); len(list) != 1 || fmt.Sprint(list[0]["answered"]) != "1" || list[0]["html_url"] != made.Text("html_url") {
		t.Errorf("the list is %v", list)
	}
	if list := a.Get(requests, bob).Want(http.StatusOK).List(); len(list) != 0 {
		t.Errorf("another account lists %v", list)
	}
	a.Get(requests+"?page=0", ann).Want(http.StatusBadRequest)
	d.answers("requests", http.StatusOK, a.Get(requests, ann))
	d.answers("request", http.StatusOK, a.Get(one, ann))
	d.answers("request", http.StatusNotFound, a.Get(one, bob))
	d.answers("request_create", http.StatusUnprocessableEntity, a.Do("POST", requests, `{"request":{"kinds":"x"}}`, ann))
	got := a.Get(one+".json", ann).Want(http.StatusOK).Object()
	answers, _ := got["answers"].([]any)
	if len(answers) != 1 {
		t.Fatalf("the answers are %v", got["answers"])
	}
	answer, _ := answers[0].(map[string]any)
	if answer["wrapped_key"] != nil || fmt.Sprint(answer["expire_after_views"]) != "4" || answer["name"] != "the <b>VPN</b> password" || fmt.Sprint(answer["expire_after_days"]) != "1" {
		t.Errorf("the answer is %v", answer)
	}
	push, _ := answer["url_token"].(string)
	a.Get(pushes+"/"+push, ann).Want(http.StatusOK).Has(map[string]string{"payload": "hunter2"})
	log := a.Get(pushes+"/"+push+"/audit", ann).Want(http.StatusOK).Body
	if !strings.Contains(log, `"ip":"192.0.2.1"`) {
		t.Errorf("the audit log is %s", log)
	}
	for _, path := range []string{one, requests + "/" + strings.Repeat("a", 36), requests + "/x"} {
		a.Get(path, bob).Want(http.StatusNotFound)
		a.Do("DELETE", path, "", bob).Want(http.StatusNotFound)
	}
	for range 2 {
		d.answers("request_end", http.StatusOK, a.Do("DELETE", one, "", ann))
		a.Do("DELETE", one, "", ann).Has(map[string]string{"expired": "true", "html_url": "null", "answered": "1"})
	}
	if got := a.Get(one, ann).Want(http.StatusOK); got.Text("expired_on") == "" || strings.Contains(got.Body, token.Reveal()) {
		t.Errorf("once it has ended: %s", got.Body)
	}
	a.Get("/p/"+token.Reveal(), nil).Want(http.StatusNotFound)
	a.Get(pushes+"/"+token.Reveal(), nil).Want(http.StatusNotFound)
}

func TestARequestWithWrongFieldsIsRefused(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, servertest.TakesRequests)
	ann := a.AddTokenUser("ann@example.com")
	for body, want := range map[string]string{
		`{"request":{"text":""}}`:                                     `{"text":["is required"]}`,
		`{"request":{"kinds":"url","text":"x"}}`:                      `{"kinds":["must be text, file or text,file"]}`,
		`{"request":{"text":"x","max_answers":101}}`:                  `{"max_answers":["must be between 1 and 100"]}`,
		`{"request":{"text":"x","expire_after_days":91}}`:             `{"expire_after_days":["must be between 1 and 90"]}`,
		`{"request":{"text":"x","expire_after_duration":18}}`:         `{"expire_after_duration":["must be a code between 0 and 17"]}`,
		`{"request":{"text":"x","answer_expire_after_days":0}}`:       `{"answer_expire_after_days":["must be between 1 and 90"]}`,
		`{"request":{"text":"x","answer_expire_after_views":"many"}}`: `{"answer_expire_after_views":["must be a whole number"]}`,
		`{"request":{"text":"x","public_key_x25519":"?"}}`:            `{"public_key_x25519":["must be base64url without padding"]}`,
		`{"request":{"text":"x","public_key_p256":"AAAA"}}`:           `{"public_key_p256":["must be a public key of that curve, because not every browser has X25519"]}`,
	} {
		if got := a.Do("POST", requests, body, ann).Want(http.StatusUnprocessableEntity).Body; strings.TrimSpace(got) != want {
			t.Errorf("%s: %s", body, got)
		}
	}
	for _, body := range []string{"", "{}", `{"request":{}}`, `{"text":"x"}`} {
		if got := a.Do("POST", requests, body, ann).Want(http.StatusBadRequest); !strings.Contains(got.Body, "Send an object request") {
			t.Errorf("%s: %s", body, got.Body)
		}
	}
	form := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "Authorization": ann["Authorization"]}
	a.Do("POST", requests, "request[text]=x&request[kinds]=text,+file", form).Want(http.StatusCreated).Has(map[string]string{"kinds": "text,file"})
	for range record.MaxRequests - 1 {
		a.Do("POST", requests, `{"request":{"text":"x"}}`, ann).Want(http.StatusCreated)
	}
	if got := a.Do("POST", requests, `{"request":{"text":"x"}}`, ann).Want(http.StatusTooManyRequests); got.Problem() != "too-many-requests" || got.Header.Get("Retry-After") == "" {
		t.Errorf("one more: %v %s", got.Header, got.Body)
	}
}

func TestTheKeysOfARequestComeBack(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, servertest.TakesRequests)
	ann := a.AddTokenUser("ann@example.com")
	key := base64.RawURLEncoding.EncodeToString(append([]byte{9}, make([]byte, 31)...)) // the base point
	const point = "BGPGzhXeLpR0VKd-qRlSHz7R34Zur1LkFA-O_uvxvuy5AouxGBPaO9QwJ95btpM0vXhEFqZgn9JzHxMwbwFVvRI"
	made := a.Do("POST", requests, `{"request":{"text":"x","public_key_p256":"`+point+`"}}`, ann).Want(http.StatusCreated)
	made.Has(map[string]string{"public_key_x25519": "null", "public_key_p256": point})
	made = a.Do("POST", requests, `{"request":{"text":"x","public_key_x25519":"`+key+`","public_key_p256":"`+point+`"}}`, ann).Want(http.StatusCreated)
	made.Has(map[string]string{"public_key_x25519": key, "public_key_p256": point})
	a.Do("POST", requests, `{"request":{"text":"x","public_key_x25519":"`+key+`"}}`, ann).Want(http.StatusUnprocessableEntity)
}
