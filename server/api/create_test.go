package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/server/servertest"
)

func TestFieldsThatAreRefused(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	for members, field := range map[string]string{
		`"payload":""`:                                                   "payload",
		`"payload":" \t\n"`:                                              "payload",
		`"payload":null`:                                                 "payload",
		`"payload":["x"]`:                                                "payload",
		`"name":"n"`:                                                     "payload",
		`"kind":"secret","payload":"x"`:                                  "kind",
		`"kind":4,"payload":"x"`:                                         "kind",
		`"kind":"url","payload":"x"`:                                     "payload",
		`"kind":"url","payload":"ftp://a/b"`:                             "payload",
		`"kind":"url","payload":"https://u@a/"`:                          "payload",
		`"kind":"url","payload":"https://a/\n"`:                          "payload",
		`"payload":"x","expire_after_days":0`:                            "expire_after_days",
		`"payload":"x","expire_after_days":91`:                           "expire_after_days",
		`"payload":"x","expire_after_days":-1`:                           "expire_after_days",
		`"payload":"x","expire_after_days":"-1"`:                         "expire_after_days",
		`"payload":"x","expire_after_days":1e1`:                          "expire_after_days",
		`"payload":"x","expire_after_days":1.50`:                         "expire_after_days",
		`"payload":"x","expire_after_days":0.0`:                          "expire_after_days",
		`"payload":"x","expire_after_days":91.0`:                         "expire_after_days",
		`"payload":"x","expire_after_days":"7.0"`:                        "expire_after_days",
		`"payload":"x","expire_after_days":"-"`:                          "expire_after_days",
		`"payload":"x","expire_after_days":"1.5"`:                        "expire_after_days",
		`"payload":"x","expire_after_days":" 1"`:                         "expire_after_days",
		`"payload":"x","expire_after_days":true`:                         "expire_after_days",
		`"payload":"x","expire_after_days":[1]`:                          "expire_after_days",
		`"payload":"x","expire_after_days":{}`:                           "expire_after_days",
		`"payload":"x","expire_after_days":99999999999999999999`:         "expire_after_days",
		`"payload":"x","expire_after_views":0`:                           "expire_after_views",
		`"payload":"x","expire_after_views":101`:                         "expire_after_views",
		`"payload":"x","expire_after_views":"x"`:                         "expire_after_views",
		`"payload":"x","expire_after_duration":18`:                       "expire_after_duration",
		`"payload":"x","expire_after_duration":-1`:                       "expire_after_duration",
		`"payload":"x","expire_after_duration":"day"`:                    "expire_after_duration",
		`"payload":"x","note":{}`:                                        "note",
		`"payload":"x","name":"` + strings.Repeat("n", 256) + `"`:        "name",
		`"payload":"x","note":"` + strings.Repeat("n", 10241) + `"`:      "note",
		`"payload":"x","passphrase":"` + strings.Repeat("n", 1025) + `"`: "passphrase",
		`"kind":"qr","payload":"` + strings.Repeat("é", 1025) + `"`:      "payload",
	} {
		got := a.Do("POST", pushes, `{"push":{`+members+`}}`)
		if fields := got.Invalid(); !slices.Equal(fields, []string{field}) {
			t.Errorf("%.80s: %s", members, got.Body)
		}
	}
	got := a.Do("POST", pushes, `{"push":{"payload":""}}`)
	if got.Body != `{"payload":["is required"]}`+"\n" {
		t.Errorf("%s", got.Body)
	}
	for payload, cause := range map[string]string{
		"ftp://a/b": "must be a valid HTTP or HTTPS URL, such as https://example.com/", "https://u@a/": "must not have a user name or password in the URL", `https://a/\n`: "must not have line breaks or other control characters",
	} {
		if got := a.Do("POST", pushes, `{"push":{"kind":"url","payload":"`+payload+`"}}`); got.Body != `{"payload":[`+servertest.Quoted(cause)+"]}\n" {
			t.Errorf("%s: %s", payload, got.Body)
		}
	}
}

func TestFieldsThatAreAccepted(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	for members, want := range map[string]map[string]string{
		`"payload":"x","kind":""`:                         {"kind": "text"},
		`"payload":"x","kind":null`:                       {"kind": "text"},
		`"payload":"x","kind":"qr"`:                       {"kind": "qr"},
		`"payload":"x","files":[]`:                        {"kind": "text"},
		`"payload":"x","files":null`:                      {"kind": "text"},
		`"payload":"x","files":" "`:                       {"kind": "text"},
		`"payload":"https://a.example/100%","kind":"url"`: {"kind": "url"},
		`"payload":"https://a.example/","kind":"url"`:     {"kind": "url"},
		`"payload":"x","expire_after_days":1`:             {"expire_after_days": "1"},
		`"payload":"x","expire_after_days":7.0`:           {"expire_after_days": "7"},
		`"payload":"x","expire_after_days":3.000`:         {"expire_after_days": "3"},
		`"payload":"x","expire_after_days":"90"`:          {"expire_after_days": "90", "expires_at": "2026-04-01T00:00:00.000Z"},
		`"payload":"x","expire_after_views":"1"`:          {"expire_after_views": "1"},
		`"payload":"x","expire_after_views":100`:          {"expire_after_views": "100"},
	} {
		a.Do("POST", pushes, `{"push":{`+members+`}}`).Want(http.StatusCreated).Has(want)
	}
}

func TestBooleans(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	for given, want := range map[string]string{
		`true`: "true", `"true"`: "true", `"TRUE"`: "true", `"on"`: "true", `"Yes"`: "true", `"checked"`: "true", `1`: "true", `"1"`: "true",
		`false`: "false", `"false"`: "false", `0`: "false", `""`: "false", `null`: "false", `2`: "false", `"enable"`: "false", `[]`: "false", `{}`: "false", `1.0`: "false",
	} {
		got := a.Do("POST", pushes, `{"push":{"payload":"x","retrieval_step":`+given+`,"deletable_by_viewer":`+given+`}}`).Want(http.StatusCreated)
		got.Has(map[string]string{"retrieval_step": want, "deletable_by_viewer": want})
	}
}

func TestDurations(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ends := [...]string{
		"01-01T00:15", "01-01T00:30", "01-01T00:45", "01-01T01:00", "01-01T06:00", "01-01T12:00",
		"01-02T00:00", "01-03T00:00", "01-04T00:00", "01-05T00:00", "01-06T00:00", "01-07T00:00",
		"01-08T00:00", "01-15T00:00", "01-22T00:00", "01-31T00:00", "03-02T00:00", "04-01T00:00",
	}
	days := [...]string{"1", "1", "1", "1", "1", "1", "1", "2", "3", "4", "5", "6", "7", "14", "21", "30", "60", "90"}
	for code := range ends {
		for _, given := range []string{"%d", `"%d"`} {
			got := a.Do("POST", pushes, fmt.Sprintf(`{"push":{"payload":"x","expire_after_duration":`+given+`}}`, code)).Want(http.StatusCreated)
			got.Has(map[string]string{"expires_at": "2026-" + ends[code] + ":00.000Z", "expire_after_days": days[code], "days_remaining": days[code]})
		}
	}
	a.Do("POST", pushes, `{"push":{"payload":"x","expire_after_duration":0,"expire_after_days":2}}`).Want(http.StatusCreated).
		Has(map[string]string{"expires_at": "2026-01-03T00:00:00.000Z", "expire_after_days": "2"})
}

func TestAURLPushIsNotDeletableByItsViewers(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	a.Do("POST", pushes, `{"push":{"kind":"url","payload":"https://example.com","deletable_by_viewer":true}}`).
		Want(http.StatusCreated).Has(map[string]string{"deletable_by_viewer": "false"})
}

func TestDisabledKindsAreRefused(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, func(c *config.Config) { c.EnableURLPushes, c.EnableQRPushes = false, false })
	for _, kind := range []string{"url", "qr"} {
		got := a.Do("POST", pushes, `{"push":{"kind":"`+kind+`","payload":"https://example.com"}}`).Want(http.StatusUnprocessableEntity)
		if got.Body != `{"kind":["`+kind+` pushes are disabled"]}`+"\n" {
			t.Errorf("%s", got.Body)
		}
	}
}

func TestFilePushesAreDisabled(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, func(c *config.Config) { c.EnableFilePushes = false })
	ann := a.AddTokenUser("ann@example.com")
	file := "--b\r\nContent-Disposition: form-data; name=\"push[files][]\"; filename=\"a.txt\"\r\n\r\nhello\r\n--b--\r\n"
	for name, send := range map[string]func(h ...http.Header) servertest.Answer{
		"kind": func(h ...http.Header) servertest.Answer {
			return a.Do("POST", pushes, `{"push":{"kind":"file","payload":"x"}}`, h...)
		},
		"files": func(h ...http.Header) servertest.Answer {
			return a.Do("POST", pushes, `{"push":{"payload":"x","files":[{"filename":"a","content":"aGk="}]}}`, h...)
		},
		"files of kind text": func(h ...http.Header) servertest.Answer {
			return a.Do("POST", pushes, `{"push":{"payload":"x","kind":"text","files":[1]}}`, h...)
		},
		"multipart": func(h ...http.Header) servertest.Answer {
			return a.Do("POST", pushes, file, append(h, http.Header{"Content-Type": {"multipart/form-data; boundary=b"}})...)
		},
		"form": func(h ...http.Header) servertest.Answer {
			return a.Do("POST", pushes, "push[payload]=x&push[files][]=a", append(h, http.Header{"Content-Type": {"application/x-www-form-urlencoded"}})...)
		},
	} {
		if send().Want(http.StatusUnauthorized).Problem() != "unauthorized" {
			t.Errorf("%s without a token: another text", name)
		}
		if got := send(ann).Want(http.StatusUnprocessableEntity); got.Body != `{"kind":["file pushes are disabled"]}`+"\n" {
			t.Errorf("%s: %s", name, got.Body)
		}
	}
	for _, files := range []string{`{"0":{}}`, `"a"`, `1`, `true`, `[null]`} {
		if got := a.Do("POST", pushes, `{"push":{"payload":"x","files":`+files+`}}`, ann).Invalid(); !slices.Equal(got, []string{"kind"}) {
			t.Errorf("files %s: %v", files, got)
		}
	}
	form := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}
	for _, name := range []string{"push[files]", "push[files][0]", "push[files][][content]"} {
		a.Do("POST", pushes, "push[payload]=x&"+name+"=a", form).Want(http.StatusUnauthorized)
		a.Do("POST", pushes, "push[payload]=x&"+name+"=a", form, ann).Invalid()
	}
	empty := "--b\r\nContent-Disposition: form-data; name=\"push[payload]\"\r\n\r\nx\r\n--b\r\nContent-Disposition: form-data; name=\"push[files][]\"; filename=\"\"\r\n\r\n\r\n--b--\r\n"
	a.Do("POST", pushes, empty, http.Header{"Content-Type": {"multipart/form-data; boundary=b"}}, ann).Want(http.StatusCreated)
	a.Do("POST", pushes, `{"push":{"payload":"x","files":[]}}`, ann).Want(http.StatusCreated).Has(map[string]string{"kind": "text"})
	a.Do("POST", pushes, `{"push":{"payload":"x","files":null}}`).Want(http.StatusCreated)
	a.Do("POST", pushes, empty, http.Header{"Content-Type": {"multipart/form-data; boundary=b"}}).Want(http.StatusCreated)
}

func TestInputIsNeverEchoed(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	const marker = "MARKER7"
	for name, got := range map[string]servertest.Answer{
		"kind":    a.Do("POST", pushes, `{"push":{"kind":"`+marker+`","payload":"x"}}`),
		"number":  a.Do("POST", pushes, `{"push":{"payload":"x","expire_after_days":"`+marker+`"}}`),
		"syntax":  a.Do("POST", pushes, `{"push":{"payload":"x"}}`+marker),
		"key":     a.Do("POST", pushes, `{"`+marker+`":1,"`+marker+`":2}`),
		"url":     a.Do("POST", pushes, `{"push":{"kind":"url","payload":"ftp://`+marker+`"}}`),
		"type":    a.Do("POST", pushes, "x", http.Header{"Content-Type": {marker + "/x"}}),
		"token":   a.Get(pushes + "/" + marker),
		"path":    a.Get("/" + marker),
		"page":    a.Get(pushes + "/active?page=" + marker),
		"auth":    a.Get(pushes+"/active", http.Header{"Authorization": {"Bearer " + marker}}),
		"method":  a.Do(marker, pushes, ""),
		"host":    a.Do("POST", pushes, `{"push":{"payload":"x"}}`, http.Header{"Host": {marker + "\""}}),
		"pass":    a.Get(pushes + "/" + a.Create(`"payload":"x","passphrase":"p"`) + "?passphrase=" + marker),
		"query":   a.Get(pushes + "/" + a.Create(`"payload":"x"`) + "?a=%zz" + marker),
		"encoded": a.Do("POST", pushes, "x", http.Header{"Content-Encoding": {marker}}),
		"file":    a.Do("POST", pushes, servertest.FilePart(servertest.File{Name: marker, Media: "x/" + marker, Content: []byte(marker)}), servertest.Multi, a.AddTokenUser("ann@example.com")),
	} {
		if got.Status < 400 || strings.Contains(strings.ToLower(got.Body+fmt.Sprint(got.Header)), strings.ToLower(marker)) {
			t.Errorf("%s: %d %s", name, got.Status, got.Body)
		}
	}
}
