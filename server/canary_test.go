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
)

// traces are the forms in which a marker would give itself away.
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

// Every route, every status and a panic are met with markers for secrets: none
// is left in a log or in the data directory.
func TestNoSecretIsLeftInLogsOrOnDisk(t *testing.T) {
	t.Parallel()
	a := newAPI(t, func(c *config.Config) { c.MaxStoreSize = 2 << 20 })
	a.handler.AddPanic()
	ann, bob := a.user("ann@example.com"), a.user("bob@example.com")
	const (
		payload    = "canary-payload-5f2e9c41"
		passphrase = "canary-passphrase-77aa01"
		wrong      = "canary-wrong-guess-93be"
		name       = "canary-name-0c11d2a9"
		note       = "canary-note-4417bd6c"
		unknown    = "canary-unknown-token-218f"
		file       = "canary-file-content-6d01f3"
		fileName   = "canary-file-name-b7720e"
	)
	fields := `"payload":"` + payload + `","passphrase":"` + passphrase + `","name":"` + name + `","note":"` + note + `"`
	owned, anonymous := a.create(fields, ann), a.create(fields)
	markers := []string{
		payload, passphrase, wrong, name, note, unknown, owned, anonymous,
		strings.TrimPrefix(ann.Get("Authorization"), "Bearer "),
	}
	const boundary = "canary-boundary"
	form := http.Header{"Content-Type": {"multipart/form-data; boundary=" + boundary}, "Authorization": ann["Authorization"]}
	part := "--" + boundary + "\r\nContent-Disposition: form-data; name=\"push[files][]\"; filename=\"" + fileName + "\"\r\n\r\n" + strings.Repeat(file, 5000)
	filed := a.do("POST", pushes, part+"\r\n--"+boundary+"--\r\n", form).want(http.StatusCreated).text("url_token")
	shown := a.get(pushes + "/" + filed).want(http.StatusOK)
	address := strings.TrimPrefix(shown.object()["files"].([]any)[0].(map[string]any)["url"].(string), a.url)
	markers = append(markers, file, fileName, filed, strings.Split(address, "/")[2])
	linked := http.Header{"Referer": {a.url + "/p/" + owned}, "User-Agent": {"canary/1"}}
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
		{"PUT", pushes + "/" + owned, fields, linked},
		{"POST", pushes, `{"push":{` + fields + `,"kind":"` + wrong + `"}}`, linked},
		{"POST", pushes, `{"push":{` + fields + `}`, linked},
		{"POST", pushes, `{"push":{` + fields + `}}`, http.Header{"Content-Type": {"text/" + wrong}}},
		{"POST", pushes, `{"push":{` + fields + `,"z":"` + strings.Repeat("z", 9<<20) + `"}}`, linked},
		{"POST", pushes, `{"push":{"payload":"` + payload + strings.Repeat("z", 1<<20-100) + `"}}`, linked},
		{"POST", pushes, `{"push":{"payload":"` + payload + strings.Repeat("z", 1<<20-100) + `"}}`, linked},
		{"POST", "/panic/" + owned + "?passphrase=" + passphrase, fields, ann},
		{"DELETE", pushes + "/" + owned, "", ann},
		{"GET", pushes + "/" + owned, "", linked},
		{"GET", pushes + "/expired", "", ann},
	} {
		got := a.do(test.method, test.path, test.body, test.header)
		statuses[got.status] = true
	}
	for range 6 {
		statuses[a.get(pushes+"/"+anonymous+"?passphrase="+wrong, linked).status] = true
	}
	a.store.Clock.Jump(30 * day)
	statuses[a.get(pushes+"/"+anonymous+"?passphrase="+passphrase, linked).status] = true
	for _, status := range []int{200, 201, 206, 400, 401, 403, 404, 405, 413, 415, 416, 422, 429, 500, 503, 507} {
		if !statuses[status] {
			t.Errorf("no answer had status %d", status)
		}
	}

	log := a.log.String()
	if !strings.Contains(log, `"route":"panic","status":500`) || !strings.Contains(log, "panic of type string") {
		t.Error("the panic is not in the log")
	}
	places := map[string][]byte{"the log": []byte(log)}
	files, err := os.ReadDir(filepath.Dir(a.store.Path))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		b, err := os.ReadFile(filepath.Join(filepath.Dir(a.store.Path), f.Name()))
		if err != nil {
			t.Fatal(err)
		}
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
	a := newAPI(t)
	a.handler.AddPanic()
	got := a.do("POST", "/panic/x", `{}`).want(http.StatusInternalServerError)
	var line struct {
		RequestID string `json:"request_id"`
		Stack     string `json:"stack"`
		Level     string `json:"level"`
	}
	if err := json.Unmarshal([]byte(a.log.String()), &line); err != nil {
		t.Fatal(err)
	}
	if line.RequestID == "" || !strings.Contains(got.text("message"), line.RequestID) || got.problem() != "internal" {
		t.Errorf("%s does not have the id of %+v", got.body, line)
	}
	if !strings.Contains(line.Stack, "AddPanic") || line.Level != "error" {
		t.Errorf("%+v", line)
	}
	for _, h := range []string{"Content-Security-Policy", "X-Content-Type-Options", "Cache-Control", "X-Robots-Tag"} {
		if got.header.Get(h) == "" {
			t.Errorf("no %s", h)
		}
	}
	a.get("/healthz").want(http.StatusOK)
}

func TestARequestIsOneLineInTheLog(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	ann := a.user("ann@example.com")
	token := a.create(`"payload":"x"`, ann)
	a.get(pushes+"/"+token, far(9))
	a.get("/nothing")
	lines := strings.Split(strings.TrimSpace(a.log.String()), "\n")
	if len(lines) != 3 {
		t.Fatalf("%d lines: %s", len(lines), a.log)
	}
	for i, want := range []map[string]any{
		{"level": "info", "route": "create", "status": 201.0, "caller": "token", "client": "127.0.0.1"},
		{"level": "info", "route": "show", "status": 200.0, "caller": "anonymous", "client": "203.0.113.9"},
		{"level": "info", "route": "none", "status": 404.0, "caller": "anonymous", "client": "127.0.0.1"},
	} {
		var line map[string]any
		if err := json.Unmarshal([]byte(lines[i]), &line); err != nil {
			t.Fatal(err)
		}
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
