package api_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"pushbox/internal/testkit/env"
	"pushbox/server/servertest"
)

// A clientStep is a request of a client, as it sends it. Host and Content-Length are
// added. KEY is replaced by an API token, TOKEN by the url_token in the answer before.
type clientStep struct {
	request string
	status  int
	reads   map[string]string // what the client reads in the answer; empty: anything but null
}

// clientsV1 are the exact requests of clients of API version 1, from the source of the
// version in the name.
var clientsV1 = map[string][]clientStep{
	// A .NET hash table has no order, and an empty body is the JSON null. It looks for
	// error, whatever the status.
	"PassPushPosh 1.3.2, in CIPP": {
		{"POST /p.json HTTP/1.1\nUser-Agent: PassPushPosh/1.3.2 Unix/6.8.0/cgBvAG8AdABAAG\nAuthorization: Bearer KEY\nContent-Type: application/json\n\n{\n  \"password\": {\n    \"expire_after_days\": 3,\n    \"payload\": \"grüße\",\n    \"deletable_by_viewer\": true,\n    \"expire_after_views\": 4,\n    \"retrieval_step\": true,\n    \"kind\": \"text\"\n  },\n  \"account_id\": \"5\"\n}", 201, map[string]string{"expire_after_days": "3", "expire_after_views": "4", "json_url": "", "html_url": "", "created_at": "", "name": "", "note": ""}},
		{"GET /p/TOKEN/preview.json HTTP/1.1\nAuthorization: Bearer KEY\nContent-Type: application/json\n\nnull", 200, map[string]string{"url": ""}},
		{"GET /p/active.json HTTP/1.1\nAuthorization: Bearer KEY\nContent-Type: application/json\n\nnull", 200, nil},
		{"GET /p/TOKEN/audit.json HTTP/1.1\nAuthorization: Bearer KEY\nContent-Type: application/json\n\nnull", 200, map[string]string{"views": ""}},
		{"GET /api/v1/version.json HTTP/1.1\nX-User-Email: ann@example.com\nX-User-Token: old\nContent-Type: application/json\n\nnull", 200, map[string]string{"api_version": "1.5", "edition": "oss", "application_version": ""}},
		{"POST /p.json HTTP/1.1\nX-User-Email: ann@example.com\nX-User-Token: KEY\nContent-Type: multipart/form-data; boundary=\"4dbc\"\n\n--4dbc\nContent-Type: text/plain; charset=utf-8\nContent-Disposition: form-data; name=\"password[payload]\"\n\nsee file\n--4dbc\nContent-Type: application/octet-stream\nContent-Disposition: form-data; name=\"password[files][]\"; filename=\"a.txt\"; filename*=utf-8''a.txt\n\nhi\n--4dbc--\n", 201, map[string]string{"kind": "file", "url_token": ""}},
		{"GET /p/TOKEN.json HTTP/1.1\nX-User-Email: ann@example.com\nX-User-Token: KEY\nContent-Type: application/json\n\nnull", 200, map[string]string{"payload": "see file", "files": ""}},
		{"DELETE /p/TOKEN.json HTTP/1.1\nX-User-Email: ann@example.com\nX-User-Token: KEY\nContent-Type: application/json\n\nnull", 200, map[string]string{"expired": "true", "deleted": "true", "expired_on": ""}},
	},
	// The account's address is a wrong one: Password Pusher looks at the token alone.
	"KpPwpush, at b29d429": {
		{"POST /p.json HTTP/1.1\nX-User-Email: other@example.com\nX-User-Token: KEY\nContent-Type: application/json\n\n{\n    \"password\":  {\n                     \"retrieval_step\":  false,\n                     \"payload\":  \"x\",\n                     \"expire_after_views\":  5,\n                     \"note\":  \"\",\n                     \"deletable_by_viewer\":  true,\n                     \"expire_after_days\":  7\n                 }\n}", 201, map[string]string{"url_token": ""}},
		{"GET /p/TOKEN/preview.json HTTP/1.1\nX-User-Email: other@example.com\nX-User-Token: KEY", 200, map[string]string{"url": ""}},
		{"POST /r.json HTTP/1.1\nX-User-Email: other@example.com\nX-User-Token: KEY\nContent-Type: application/json\n\n{\n    \"url\":  {\n                \"expire_after_views\":  5,\n                \"payload\":  \"https://example.com\",\n                \"retrieval_step\":  false,\n                \"deletable_by_viewer\":  true,\n                \"expire_after_days\":  7\n            }\n}", 201, map[string]string{"kind": "url", "deletable_by_viewer": "false"}},
		{"GET /r/TOKEN/preview.json HTTP/1.1\nX-User-Email: other@example.com\nX-User-Token: KEY", 200, map[string]string{"url": ""}},
		{"GET /r/TOKEN.json HTTP/1.1\nX-User-Email: other@example.com\nX-User-Token: KEY", 200, map[string]string{"payload": "https://example.com"}},
		{"DELETE /r/TOKEN.json HTTP/1.1\nX-User-Email: other@example.com\nX-User-Token: KEY", 200, map[string]string{"deleted": "true"}},
		{"GET /r/active.json HTTP/1.1\nX-User-Email: other@example.com\nX-User-Token: KEY", 200, nil},
		{"GET /r/expired.json HTTP/1.1\nX-User-Email: other@example.com\nX-User-Token: KEY", 200, nil},
	},
	// It refuses an answer without the two limits.
	"npm pwpush-cli 0.8.2": {
		{"POST /p.json HTTP/1.1\nAccept: text/html,application/xhtml+xml,application/xml\nContent-Type: application/x-www-form-urlencoded\n\npassword%5Bpayload%5D=Aa1%21xyzXYZ12&password%5Bexpire_after_days%5D=7&password%5Bexpire_after_views%5D=5&password%5Bdeletable_by_viewer%5D=on", 201, map[string]string{"url_token": "", "expire_after_days": "7", "expire_after_views": "5", "deletable_by_viewer": "true"}},
	},
	"PwPush-PHP, at cef1c04": {
		{"POST /p.json HTTP/1.1\nUser-Agent: GuzzleHttp/7\nContent-Type: application/json\n\n{\"password\":{\"payload\":\"x\",\"expire_after_days\":1,\"expire_after_views\":2,\"note\":\"n\",\"retrieval_step\":true,\"deletable_by_viewer\":true}}", 201, map[string]string{"url_token": ""}},
		{"GET /p/TOKEN.json HTTP/1.1\nUser-Agent: GuzzleHttp/7", 200, map[string]string{"payload": "x"}},
		{"DELETE /p/TOKEN.json HTTP/1.1\nUser-Agent: GuzzleHttp/7", 200, map[string]string{"expired": "true"}},
	},
	"Python pwpush, at d8d8fca": {
		{"POST /p.json HTTP/1.1\nUser-Agent: python-requests/2.32.3\nAccept-Encoding: gzip, deflate\nAccept: */*\nContent-Type: application/x-www-form-urlencoded\n\npassword%5Bpayload%5D=a%2Bb%26c&password%5Bexpire_after_days%5D=2&password%5Bexpire_after_views%5D=10", 201, map[string]string{"url_token": ""}},
		{"GET /p/TOKEN.json HTTP/1.1", 200, map[string]string{"payload": "a+b&c"}},
	},
	"Python script with params": {
		{"POST /p.json?password%5Bpayload%5D=x&password%5Bexpire_after_days%5D=7&password%5Bexpire_after_views%5D=5 HTTP/1.1\nUser-Agent: python-requests/2.32.3\nAccept: */*\nContent-Length: 0", 201, map[string]string{"url_token": ""}},
	},
	// It sends no Content-Type.
	"Rust CLI, at ba439c6": {
		{"POST /p.json HTTP/1.1\naccept: */*\n\npassword[payload]=random_%C2%A7%24%25%26%25%24_characters%20with%20spaces&password[passphrase]=passphrase&password[note]=this%20is%20a%20note&password[expire_after_days]=5&password[expire_after_views]=2&password[deletable_by_viewer]=true&password[retrieval_step]=false", 201, map[string]string{"expire_after_days": "5", "expire_after_views": "2", "retrieval_step": "false"}},
		{"GET /p/TOKEN.json?passphrase=passphrase HTTP/1.1", 200, map[string]string{"payload": "random_§$%&%$_characters with spaces"}},
	},
	// Its "Unlimited Views" is -1.
	"Raycast store extension of 2025": {
		{"POST /p.json HTTP/1.1\nuser-agent: got (https://github.com/sindresorhus/got)\naccept: application/json\ncontent-type: application/x-www-form-urlencoded\naccept-encoding: gzip, deflate, br\n\npassword%5Bpayload%5D=x&password%5Bexpire_after_days%5D=3&password%5Bexpire_after_views%5D=-1", 201, map[string]string{"url_token": "", "expire_after_days": "3", "expire_after_views": "5"}},
	},
	"Raycast extension of Mouxy, at 9a8b0e1": {
		{"POST /p.json HTTP/1.1\ncontent-type: application/json\naccept: application/json\nauthorization: Bearer KEY\naccept-language: *\nsec-fetch-mode: cors\nuser-agent: node\n\n{\"password\":{\"payload\":\"x\",\"expire_after_days\":1,\"expire_after_views\":10,\"note\":\"\"}}", 201, map[string]string{"url_token": "", "html_url": ""}},
	},
	// Settings that were not chosen come as undefined.
	"Firefox add-on": {
		{"POST /p.json HTTP/1.1\nAccept: */*\nContent-Type: multipart/form-data; boundary=----geckoformboundary5b2\nOrigin: moz-extension://2c3b6ef4-7f2c-4f6e-9a1f-0d5b8f5d4b1e\nSec-Fetch-Dest: empty\nSec-Fetch-Mode: cors\nSec-Fetch-Site: cross-site\n\n------geckoformboundary5b2\nContent-Disposition: form-data; name=\"password[payload]\"\n\nx\n------geckoformboundary5b2\nContent-Disposition: form-data; name=\"password[expire_after_days]\"\n\nundefined\n------geckoformboundary5b2\nContent-Disposition: form-data; name=\"password[expire_after_views]\"\n\nundefined\n------geckoformboundary5b2\nContent-Disposition: form-data; name=\"password[deletable_by_viewer]\"\n\nundefined\n------geckoformboundary5b2\nContent-Disposition: form-data; name=\"password[retrieval_step]\"\n\nundefined\n------geckoformboundary5b2--\n", 201, map[string]string{"url_token": "", "expire_after_days": "7", "expire_after_views": "5", "deletable_by_viewer": "false", "retrieval_step": "false"}},
	},
	// .NET writes the boundary in quotes, and Content-Type before Content-Disposition.
	"Tactical RMM script 1.0": {
		{"POST /f.json HTTP/1.1\nX-User-Email: ann@example.com\nX-User-Token: KEY\nContent-Type: multipart/form-data; boundary=\"f3f1a6b2-7c55\"\nExpect: 100-continue\n\n--f3f1a6b2-7c55\nContent-Type: text/plain; charset=utf-8\nContent-Disposition: form-data; name=\"file_push[passphrase]\"\n\nsesame\n--f3f1a6b2-7c55\nContent-Disposition: form-data; name=\"file_push[files][]\"; filename=BSOD_26-11-22_20-41.zip; filename*=utf-8''BSOD_26-11-22_20-41.zip\n\nPK\n--f3f1a6b2-7c55--\n", 201, map[string]string{"url_token": "", "kind": "file", "passphrase_protected": "true"}},
		{"GET /f/TOKEN HTTP/1.1\nAccept: text/html", 301, nil}, // the link that it gives away
	},
	"terraform-provider-pwpush, at c89e9ce": {
		{"POST /p.json HTTP/1.1\nUser-Agent: Go-http-client/1.1\nContent-Type: multipart/form-data; boundary=b0\nX-User-Email: ann@example.com\nX-User-Token: KEY\nAccept-Encoding: gzip\n\n--b0\nContent-Disposition: form-data; name=\"password[payload]\"\n\nx\n--b0\nContent-Disposition: form-data; name=\"password[kind]\"\n\nfile\n--b0\nContent-Disposition: form-data; name=\"password[expire_after_days]\"\n\n7\n--b0\nContent-Disposition: form-data; name=\"password[deletable_by_viewer]\"\n\ntrue\n--b0\nContent-Disposition: form-data; name=\"password[account_id]\"\n\n1\n--b0\nContent-Disposition: form-data; name=\"password[files][]\"; filename=\"a.txt\"\nContent-Type: application/octet-stream\n\nhi\n--b0--\n", 201, map[string]string{"url_token": "", "html_url": "", "kind": "file"}},
		{"DELETE /p/TOKEN.json HTTP/1.1\nUser-Agent: Go-http-client/1.1\nX-User-Email: ann@example.com\nX-User-Token: KEY\nAccept-Encoding: gzip", 200, nil},
	},
	"official pwpush-cli 0.16.6, an hour after a failed probe": {
		{"GET /p/active.json HTTP/1.1\nUser-Agent: pwpush-cli/0.16.6\nAuthorization: Bearer KEY\nX-User-Email: ann@example.com\nX-User-Token: KEY", 200, nil},
		{"POST /p.json HTTP/1.1\nUser-Agent: pwpush-cli/0.16.6\nAuthorization: Bearer KEY\nX-User-Email: ann@example.com\nX-User-Token: KEY\nContent-Type: application/json\n\n{\"password\": {\"payload\": \"x\", \"kind\": \"text\", \"expire_after_days\": \"7\", \"expire_after_views\": \"4\", \"deletable_by_viewer\": \"false\", \"note\": \"n\"}}", 201, map[string]string{"url_token": "", "views_remaining": "4", "deletable_by_viewer": "false"}},
		{"GET /p/TOKEN/preview.json HTTP/1.1\nUser-Agent: pwpush-cli/0.16.6\nAuthorization: Bearer KEY", 200, map[string]string{"url": ""}},
		{"GET /p/TOKEN/audit.json HTTP/1.1\nUser-Agent: pwpush-cli/0.16.6\nAuthorization: Bearer KEY", 200, map[string]string{"views": ""}},
		{"DELETE /p/TOKEN.json HTTP/1.1\nUser-Agent: pwpush-cli/0.16.6\nAuthorization: Bearer KEY\nContent-Length: 0", 200, map[string]string{"expired": "true"}},
		{"POST /f.json HTTP/1.1\nUser-Agent: pwpush-cli/0.16.6\nAuthorization: Bearer KEY\nContent-Type: multipart/form-data; boundary=7f\n\n--7f\nContent-Disposition: form-data; name=\"file_push[payload]\"\n\n\n--7f\nContent-Disposition: form-data; name=\"file_push[kind]\"\n\nfile\n--7f\nContent-Disposition: form-data; name=\"file_push[deletable_by_viewer]\"\n\nTrue\n--7f\nContent-Disposition: form-data; name=\"file_push[files][]\"; filename=\"a.txt\"\n\nhi\n--7f--\n", 201, map[string]string{"kind": "file", "deletable_by_viewer": "true"}},
		{"GET /f/TOKEN/preview.json HTTP/1.1\nUser-Agent: pwpush-cli/0.16.6\nAuthorization: Bearer KEY", 200, map[string]string{"url": ""}},
	},
	"curl after Password Pusher's documentation": {
		{"POST /p.json HTTP/1.1\nUser-Agent: curl/8.14.1\nAccept: */*\nX-User-Email: ann@example.com\nX-User-Token: KEY\nContent-Type: application/x-www-form-urlencoded\n\npassword[payload]=mypassword&password[expire_after_days]=60&password[expire_after_views]=12", 201, map[string]string{"expire_after_days": "60", "expire_after_views": "12"}},
	},
}

func TestClientsOfVersion1WorkUnchanged(t *testing.T) {
	t.Parallel()
	for name, steps := range clientsV1 {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := servertest.New(t)
			key := strings.TrimPrefix(a.AddTokenUser("ann@example.com").Get("Authorization"), "Bearer ")
			token := ""
			for _, step := range steps {
				got := exactly(a, strings.NewReplacer("KEY", key, "TOKEN", token).Replace(step.request))
				if got.Status != step.status {
					t.Fatalf("%d to %s: %s", got.Status, step.request, got.Body)
				}
				for member, want := range step.reads {
					if text := got.Text(member); text == "null" || want != "" && text != want {
						t.Errorf("%s is %s, not %s", member, text, want)
					}
				}
				if got.Status == http.StatusCreated {
					token = got.Text("url_token")
				}
			}
		})
	}
}

// exactly sends a request on a connection of its own, line for line.
func exactly(a *servertest.Server, text string) (got servertest.Answer) {
	a.T.Helper()
	head, body, has := strings.Cut(text, "\n\n")
	if has && strings.Contains(head, "multipart/form-data") {
		body = strings.ReplaceAll(body, "\n", "\r\n")
	}
	if has {
		head += fmt.Sprintf("\nContent-Length: %d", len(body))
	}
	c := a.Connect()
	if _, err := io.WriteString(c, strings.ReplaceAll(head, "\n", "\r\n")+"\r\nHost: box.example\r\nConnection: close\r\n\r\n"+body); err != nil {
		a.T.Fatal(err)
	}
	answers := bufio.NewReader(c)
	res, err := http.ReadResponse(answers, nil)
	if err == nil && res.StatusCode == http.StatusContinue {
		res, err = http.ReadResponse(answers, nil)
	}
	env.OK(a.T, err)
	content, err := io.ReadAll(res.Body)
	env.OK(a.T, err)
	return servertest.Answer{T: a.T, Status: res.StatusCode, Header: res.Header, Body: string(content)}
}

// CIPP, at adf32422a, makes the recipient's link out of json_url, with PassPushPosh's LinkDirect and
// LinkRetrievalStep.
func TestLinksOfCIPPAreThoseOfThePages(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	for _, step := range []bool{true, false} {
		made := a.Do("POST", "/p.json", fmt.Sprintf(`{"password":{"payload":"the secret","retrieval_step":%t}}`, step)).Want(http.StatusCreated)
		direct := strings.Replace(made.Text("json_url"), ".json", "", 1)
		button := strings.Replace(direct+"/r", "/r/r", "/r", 1)
		for _, link := range []string{direct, button} {
			a.Get(strings.TrimPrefix(link, a.URL)).Want(http.StatusOK).Page().Has("A secret is waiting for you").Lacks("the secret")
		}
		if after := a.Trace(made.Text("url_token")); after.Views != 0 {
			t.Errorf("%v", after)
		}
		a.Send(strings.TrimPrefix(direct, a.URL), nil).Want(http.StatusOK).Page().Has("the secret")
	}
}
