package server_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/internal/testkit/env"
	"pushbox/server/servertest"
)

// traces returns the forms in which a marker may be left behind.
func traces(marker string) [][]byte {
	quoted, _ := json.Marshal(marker)
	return [][]byte{
		[]byte(marker),
		[]byte(strings.ToUpper(marker)),
		bytes.Trim(quoted, `"`),
		[]byte(hex.EncodeToString([]byte(marker))),
		[]byte(base64.RawStdEncoding.EncodeToString([]byte(marker))[2:20]),
	}
}

// Requests to every route, with every status and with a panic, carry markers in place
// of secrets. None may be left in a log or in the data directory.
func TestNoSecretIsLeftInLogsOrOnDisk(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, servertest.TakesRequests, func(c *config.Config) { c.MaxStoreSize = 2 << 20 })
	a.Handler.AddPanic()
	ann, bob := a.AddTokenUser("ann@example.com"), a.AddTokenUser("bob@example.com")
	const (
		payload    = "canary-payload-5f2e9c41"
		passphrase = "canary-passphrase-77aa01"
		wrong      = "canary-wrong-guess-93be"
		name       = "canary-name-0c11d2a9"
		note       = "canary-note-4417bd6c"
		unknown    = "canary-unknown-token-218f"
		file       = "canary-file-content-6d01f3"
		fileName   = "canary-file-name-b7720e"
		asked      = "canary-asked-text-90d2c4"
		askedName  = "canary-asked-name-4e1b07"
		askedNote  = "canary-asked-note-c83f5a"
		answered   = "canary-answer-text-e81b35"
		key        = "canary-key-of-a-create-2b60"
	)
	fields := `"payload":"` + payload + `","passphrase":"` + passphrase + `","name":"` + name + `","note":"` + note + `"`
	owned, anonymous, spent := a.Create(fields, ann), a.Create(fields), a.Create(`"payload":"`+payload+`"`)
	markers := []string{
		payload, passphrase, wrong, name, note, unknown, owned, anonymous, spent, key,
		strings.TrimPrefix(ann.Get("Authorization"), "Bearer "),
	}
	const boundary = "canary-boundary"
	form := http.Header{"Content-Type": {"multipart/form-data; boundary=" + boundary}, "Authorization": ann["Authorization"]}
	part := "--" + boundary + "\r\nContent-Disposition: form-data; name=\"push[files][]\"; filename=\"" + fileName + "\"\r\n\r\n" + strings.Repeat(file, 5000)
	filed := a.Do("POST", pushes, part+"\r\n--"+boundary+"--\r\n", form).Want(http.StatusCreated).Text("url_token")
	shown := a.Get(pushes + "/" + filed).Want(http.StatusOK)
	address := strings.TrimPrefix(shown.Object()["files"].([]any)[0].(map[string]any)["url"].(string), a.URL)
	markers = append(markers, file, fileName, filed, strings.Split(address, "/")[2])
	link := a.Do("POST", requests, `{"request":{"text":"`+asked+`","name":"`+askedName+`","note":"`+askedNote+`","max_answers":9}}`, ann).Want(http.StatusCreated).Text("html_url")
	link = strings.TrimPrefix(link, a.URL)
	markers = append(markers, asked, askedName, askedNote, answered, strings.TrimPrefix(link, "/q/"))
	linked := http.Header{"Referer": {a.URL + "/p/" + owned}, "User-Agent": {"canary/1"}}
	statuses := make(map[int]bool)
	for _, test := range []struct {
		method, path, body string
		header             http.Header
	}{
		{"GET", "/api/v2/version?x=" + payload, "", linked},
		{"GET", "/healthz?x=" + payload, "", linked},
		{"GET", pushes + "/" + owned, "", linked},
		{"GET", pushes + "/" + owned + "?passphrase=" + wrong, "", linked},
		{"GET", pushes + "/" + owned + "?passphrase=" + passphrase, "", linked},
		{"GET", pushes + "/" + owned + "?passphrase=" + passphrase, "", ann},
		{"GET", pushes + "/" + owned + "/preview", "", linked},
		{"GET", pushes + "/" + owned + "/audit", "", ann},
		{"GET", pushes + "/" + owned + "/audit", "", bob},
		{"GET", pushes + "/active", "", ann},
		{"GET", pushes + "/active?page=" + name, "", ann},
		{"GET", pushes + "/" + unknown, "", linked},
		{"GET", "/" + unknown, "", linked},
		{"GET", address, "", linked},
		{"GET", address, "", http.Header{"Range": {"bytes=5-9"}}},
		{"GET", address, "", http.Header{"Range": {"bytes=999999-"}}},
		{"HEAD", address, "", linked},
		{"GET", address + "0", "", linked},
		{"POST", pushes, part, form},
		{"POST", pushes, `{"push":{"files":[{"filename":"` + fileName + `","content":"` + file + `"}]}}`, ann},
		{"GET", pushes + "/active", "", http.Header{"Authorization": {"Bearer " + wrong}}},
		{"GET", link, "", linked},
		{"POST", link, "push[payload]=" + answered, servertest.Urlencoded},
		{"POST", link, "push[payload]=" + answered + "&push[wrapped_key]=" + answered, servertest.Urlencoded},
		{"POST", link, part, http.Header{"Content-Type": form["Content-Type"]}},
		{"POST", link + "x", "push[payload]=" + answered, servertest.Urlencoded},
		{"GET", requests, "", ann},
		{"POST", requests, `{"request":{"text":"` + asked + `","kinds":"` + wrong + `"}}`, ann},
		{"PUT", pushes + "/" + owned, fields, linked},
		{"POST", pushes, `{"push":{` + fields + `}}`, http.Header{"Idempotency-Key": {key}}},
		{"POST", pushes, `{"push":{` + fields + `}}`, http.Header{"Idempotency-Key": {key}}},
		{"POST", pushes, `{"push":{"payload":"` + payload + `"}}`, http.Header{"Idempotency-Key": {key}}},
		{"POST", pushes, `{"push":{` + fields + `}}`, http.Header{"Idempotency-Key": {key + strings.Repeat("z", 255)}}},
		{"POST", pushes, `{"push":{` + fields + `,"kind":"` + wrong + `"}}`, linked},
		{"POST", pushes, `{"push":{` + fields + `}`, linked},
		{"POST", pushes, `{"push":{` + fields + `}}`, http.Header{"Content-Type": {"text/" + wrong}}},
		{"POST", pushes, `{"push":{` + fields + `,"z":"` + strings.Repeat("z", 9<<20) + `"}}`, linked},
		{"POST", pushes, `{"push":{"payload":"` + payload + strings.Repeat("z", 1<<20-100) + `"}}`, linked},
		{"POST", pushes, `{"push":{"payload":"` + payload + strings.Repeat("z", 1<<20-100) + `"}}`, linked},
		{"POST", "/p.json", `{"password":{` + fields + `}}`, linked},
		{"POST", "/p.json", `{"password":{` + fields + `,"kind":"` + wrong + `"}}`, linked},
		{"POST", "/p.json?password[payload]=" + payload, "", linked},
		{"GET", "/p/" + owned + ".json?passphrase=" + wrong, "", linked},
		{"GET", "/p/" + owned + ".json?passphrase=" + passphrase, "", linked},
		{"GET", "/f/" + owned + "/audit.json", "", ann},
		{"GET", "/p/" + unknown + ".json", "", linked},
		{"DELETE", "/p/" + owned + ".json", "", linked},
		{"GET", "/p/" + owned + "/preview", "", linked},
		{"GET", "/p/" + owned + "/r", "", linked},
		{"POST", "/p/" + owned, "passphrase=" + wrong, servertest.Urlencoded},
		{"POST", "/p/" + owned, "passphrase=" + passphrase, servertest.Urlencoded},
		{"POST", "/p/" + spent, "", servertest.Urlencoded},
		{"POST", "/p/" + spent + "/expire", "", servertest.Urlencoded},
		{"GET", "/p/" + spent, "", servertest.Visit},
		{"GET", "/de/r/" + owned + "?passphrase=" + passphrase, "", linked},
		{"POST", "/panic/" + owned + "?passphrase=" + passphrase, fields, ann},
		{"DELETE", pushes + "/" + owned, "", ann},
		{"GET", pushes + "/" + owned, "", linked},
		{"GET", pushes + "/expired", "", ann},
	} {
		got := a.Do(test.method, test.path, test.body, test.header)
		statuses[got.Status] = true
	}
	for range 6 {
		statuses[a.Get(pushes+"/"+anonymous+"?passphrase="+wrong, linked).Status] = true
	}
	a.Store.Clock.Jump(30 * day)
	statuses[a.Get(pushes+"/"+anonymous+"?passphrase="+passphrase, linked).Status] = true
	for _, status := range []int{200, 201, 206, 400, 401, 403, 404, 405, 413, 415, 416, 422, 429, 500, 503, 507} {
		if !statuses[status] {
			t.Errorf("no answer had status %d", status)
		}
	}

	log := a.Log.String()
	if !strings.Contains(log, `"route":"panic","status":500`) || !strings.Contains(log, "panic of type string") {
		t.Error("the panic is not in the log")
	}
	places := map[string][]byte{"the log": []byte(log)}
	files, err := os.ReadDir(filepath.Dir(a.Store.Path))
	env.OK(t, err)
	for _, f := range files {
		b, err := os.ReadFile(filepath.Join(filepath.Dir(a.Store.Path), f.Name()))
		env.OK(t, err)
		places[f.Name()] = b
	}
	for place, content := range places {
		for _, marker := range markers {
			for _, trace := range traces(marker) {
				if bytes.Contains(content, trace) {
					t.Errorf("%s holds %q", place, trace)
				}
			}
		}
	}
}

func TestAPanicIsA500WithItsRequestIDAndTheHeaders(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	a.Handler.AddPanic()
	got := a.Do("POST", "/panic/x", `{}`).Want(http.StatusInternalServerError)
	var line struct {
		RequestID string `json:"request_id"`
		Stack     string `json:"stack"`
		Level     string `json:"level"`
	}
	env.OK(t, json.Unmarshal([]byte(a.Log.String()), &line))
	if line.RequestID == "" || !strings.Contains(got.Text("error"), line.RequestID) || got.Problem() != "internal" {
		t.Errorf("%s does not have the id of %+v", got.Body, line)
	}
	if !strings.Contains(line.Stack, "AddPanic") || line.Level != "error" {
		t.Errorf("%+v", line)
	}
	for _, h := range []string{"Content-Security-Policy", "X-Content-Type-Options", "Cache-Control", "X-Robots-Tag"} {
		if got.Header.Get(h) == "" {
			t.Errorf("no %s", h)
		}
	}
	a.Get("/healthz").Want(http.StatusOK)
}

func TestARequestIsOneLineInTheLog(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ann := a.AddTokenUser("ann@example.com")
	token := a.Create(`"payload":"x"`, ann)
	a.Get(pushes+"/"+token, servertest.Far(9))
	a.Get("/nothing")
	lines := strings.Split(strings.TrimSpace(a.Log.String()), "\n")
	if len(lines) != 3 {
		t.Fatalf("%d lines: %s", len(lines), a.Log)
	}
	for i, want := range []map[string]any{
		{"level": "info", "route": "create", "status": 201.0, "caller": "token", "client": "127.0.0.1"},
		{"level": "info", "route": "show", "status": 200.0, "caller": "anonymous", "client": "203.0.113.9"},
		{"level": "info", "route": "none", "status": 404.0, "caller": "anonymous", "client": "127.0.0.1"},
	} {
		var line map[string]any
		env.OK(t, json.Unmarshal([]byte(lines[i]), &line))
		for key, v := range want {
			if line[key] != v {
				t.Errorf("line %d: %s is %v, not %v", i, key, line[key], v)
			}
		}
		if len(line) != 9 || line["request_id"] == "" || line["bytes"].(float64) <= 0 || line["ms"].(float64) < 0 {
			t.Errorf("line %d: %s", i, lines[i])
		}
	}
}
