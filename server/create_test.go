package server_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"pushbox/config"
)

// invalid returns the fields that a 422 complains of.
func (r answer) invalid() []string {
	r.t.Helper()
	r.want(http.StatusUnprocessableEntity)
	for _, messages := range r.object() {
		for _, m := range messages.([]any) {
			if m.(string) == "" {
				r.t.Errorf("an empty message: %s", r.body)
			}
		}
	}
	keys := r.keys()
	slices.Sort(keys)
	return keys
}

func TestFieldsThatAreRefused(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	for members, field := range map[string]string{
		`"payload":""`:                                                   "payload",
		`"payload":" \t\n"`:                                              "payload",
		`"payload":null`:                                                 "payload",
		`"payload":1`:                                                    "payload",
		`"payload":["x"]`:                                                "payload",
		`"name":"n"`:                                                     "payload",
		`"kind":"secret","payload":"x"`:                                  "kind",
		`"kind":1,"payload":"x"`:                                         "kind",
		`"kind":"url","payload":"x"`:                                     "payload",
		`"kind":"url","payload":"ftp://a/b"`:                             "payload",
		`"kind":"url","payload":"https://u@a/"`:                          "payload",
		`"kind":"url","payload":"https://a/\n"`:                          "payload",
		`"payload":"x","expire_after_days":0`:                            "expire_after_days",
		`"payload":"x","expire_after_days":91`:                           "expire_after_days",
		`"payload":"x","expire_after_days":-1`:                           "expire_after_days",
		`"payload":"x","expire_after_days":"-1"`:                         "expire_after_days",
		`"payload":"x","expire_after_days":1.0`:                          "expire_after_days",
		`"payload":"x","expire_after_days":1e1`:                          "expire_after_days",
		`"payload":"x","expire_after_days":"1.5"`:                        "expire_after_days",
		`"payload":"x","expire_after_days":""`:                           "expire_after_days",
		`"payload":"x","expire_after_days":" 1"`:                         "expire_after_days",
		`"payload":"x","expire_after_days":true`:                         "expire_after_days",
		`"payload":"x","expire_after_days":null`:                         "expire_after_days",
		`"payload":"x","expire_after_days":[1]`:                          "expire_after_days",
		`"payload":"x","expire_after_days":{}`:                           "expire_after_days",
		`"payload":"x","expire_after_days":99999999999999999999`:         "expire_after_days",
		`"payload":"x","expire_after_views":0`:                           "expire_after_views",
		`"payload":"x","expire_after_views":101`:                         "expire_after_views",
		`"payload":"x","expire_after_views":"x"`:                         "expire_after_views",
		`"payload":"x","expire_after_duration":18`:                       "expire_after_duration",
		`"payload":"x","expire_after_duration":-1`:                       "expire_after_duration",
		`"payload":"x","expire_after_duration":"day"`:                    "expire_after_duration",
		`"payload":"x","name":1`:                                         "name",
		`"payload":"x","note":{}`:                                        "note",
		`"payload":"x","passphrase":true`:                                "passphrase",
		`"payload":"x","name":"` + strings.Repeat("n", 256) + `"`:        "name",
		`"payload":"x","note":"` + strings.Repeat("n", 10241) + `"`:      "note",
		`"payload":"x","passphrase":"` + strings.Repeat("n", 1025) + `"`: "passphrase",
		`"kind":"qr","payload":"` + strings.Repeat("é", 1025) + `"`:      "payload",
	} {
		got := a.do("POST", pushes, `{"push":{`+members+`}}`)
		if fields := got.invalid(); !slices.Equal(fields, []string{field}) {
			t.Errorf("%.80s: %s", members, got.body)
		}
	}
	got := a.do("POST", pushes, `{"push":{"payload":""}}`)
	if got.body != `{"payload":["is required"]}`+"\n" {
		t.Errorf("%s", got.body)
	}
}

func TestFieldsThatAreTaken(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	for members, want := range map[string]map[string]string{
		`"payload":"x","kind":""`:                                        {"kind": "text"},
		`"payload":"x","kind":null`:                                      {"kind": "text"},
		`"payload":"x","kind":"qr"`:                                      {"kind": "qr"},
		`"payload":"x","files":[]`:                                       nil, // needs an account: below
		`"payload":"https://a.example/","kind":"url"`:                    {"kind": "url"},
		`"payload":"x","expire_after_days":1`:                            {"expire_after_days": "1"},
		`"payload":"x","expire_after_days":"90"`:                         {"expire_after_days": "90", "expires_at": "2026-04-01T00:00:00.000Z"},
		`"payload":"x","expire_after_views":"1"`:                         {"expire_after_views": "1"},
		`"payload":"x","expire_after_views":100`:                         {"expire_after_views": "100"},
		`"payload":"x","name":"` + strings.Repeat("n", 255) + `"`:        {"kind": "text"},
		`"payload":"x","note":"` + strings.Repeat("n", 10240) + `"`:      {"kind": "text"},
		`"payload":"x","passphrase":"` + strings.Repeat("n", 1024) + `"`: {"passphrase_protected": "true"},
		`"kind":"qr","payload":"` + strings.Repeat("é", 1024) + `"`:      {"kind": "qr"},
	} {
		got := a.do("POST", pushes, `{"push":{`+members+`}}`)
		if want == nil {
			got.want(http.StatusUnauthorized)
			continue
		}
		got.want(http.StatusCreated).has(want)
	}
}

func TestBooleans(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	for given, want := range map[string]string{
		`true`: "true", `"true"`: "true", `"TRUE"`: "true", `"on"`: "true", `"Yes"`: "true", `"checked"`: "true", `1`: "true", `"1"`: "true",
		`false`: "false", `"false"`: "false", `0`: "false", `""`: "false", `null`: "false", `2`: "false", `"enable"`: "false", `[]`: "false", `{}`: "false", `1.0`: "false",
	} {
		got := a.do("POST", pushes, `{"push":{"payload":"x","retrieval_step":`+given+`,"deletable_by_viewer":`+given+`}}`).want(http.StatusCreated)
		got.has(map[string]string{"retrieval_step": want, "deletable_by_viewer": want})
	}
}

func TestDurations(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	ends := [...]string{
		"01-01T00:15", "01-01T00:30", "01-01T00:45", "01-01T01:00", "01-01T06:00", "01-01T12:00",
		"01-02T00:00", "01-03T00:00", "01-04T00:00", "01-05T00:00", "01-06T00:00", "01-07T00:00",
		"01-08T00:00", "01-15T00:00", "01-22T00:00", "01-31T00:00", "03-02T00:00", "04-01T00:00",
	}
	days := [...]string{"1", "1", "1", "1", "1", "1", "1", "2", "3", "4", "5", "6", "7", "14", "21", "30", "60", "90"}
	for code := range ends {
		for _, given := range []string{"%d", `"%d"`} {
			got := a.do("POST", pushes, fmt.Sprintf(`{"push":{"payload":"x","expire_after_duration":`+given+`}}`, code)).want(http.StatusCreated)
			got.has(map[string]string{"expires_at": "2026-" + ends[code] + ":00.000Z", "expire_after_days": days[code], "days_remaining": days[code]})
		}
	}
	a.do("POST", pushes, `{"push":{"payload":"x","expire_after_duration":0,"expire_after_days":2}}`).want(http.StatusCreated).
		has(map[string]string{"expires_at": "2026-01-03T00:00:00.000Z", "expire_after_days": "2"})
}

func TestAURLPushIsNotDeletableByItsViewers(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	a.do("POST", pushes, `{"push":{"kind":"url","payload":"https://example.com","deletable_by_viewer":true}}`).
		want(http.StatusCreated).has(map[string]string{"deletable_by_viewer": "false"})
}

func TestKindsThatAreSwitchedOff(t *testing.T) {
	t.Parallel()
	a := newAPI(t, func(c *config.Config) { c.EnableURLPushes, c.EnableQRPushes = false, false })
	for _, kind := range []string{"url", "qr"} {
		got := a.do("POST", pushes, `{"push":{"kind":"`+kind+`","payload":"https://example.com"}}`).want(http.StatusUnprocessableEntity)
		if got.body != `{"kind":["`+kind+` pushes are disabled"]}`+"\n" {
			t.Errorf("%s", got.body)
		}
	}
}

func TestFilePushesAreDisabled(t *testing.T) {
	t.Parallel()
	a := newAPI(t, func(c *config.Config) { c.EnableFilePushes = false })
	ann := a.user("ann@example.com")
	file := "--b\r\nContent-Disposition: form-data; name=\"push[files][]\"; filename=\"a.txt\"\r\n\r\nhello\r\n--b--\r\n"
	for name, send := range map[string]func(h ...http.Header) answer{
		"kind": func(h ...http.Header) answer {
			return a.do("POST", pushes, `{"push":{"kind":"file","payload":"x"}}`, h...)
		},
		"files": func(h ...http.Header) answer {
			return a.do("POST", pushes, `{"push":{"payload":"x","files":[{"filename":"a","content":"aGk="}]}}`, h...)
		},
		"files of kind text": func(h ...http.Header) answer {
			return a.do("POST", pushes, `{"push":{"payload":"x","kind":"text","files":[1]}}`, h...)
		},
		"multipart": func(h ...http.Header) answer {
			return a.do("POST", pushes, file, append(h, http.Header{"Content-Type": {"multipart/form-data; boundary=b"}})...)
		},
		"form": func(h ...http.Header) answer {
			return a.do("POST", pushes, "push[payload]=x&push[files][]=a", append(h, http.Header{"Content-Type": {"application/x-www-form-urlencoded"}})...)
		},
	} {
		if send().want(http.StatusUnauthorized).problem() != "unauthorized" {
			t.Errorf("%s without a token: another text", name)
		}
		if got := send(ann).want(http.StatusUnprocessableEntity); got.body != `{"kind":["file pushes are disabled"]}`+"\n" {
			t.Errorf("%s: %s", name, got.body)
		}
	}
	for _, files := range []string{`{"0":{}}`, `"a"`, `1`, `true`, `[null]`} {
		if got := a.do("POST", pushes, `{"push":{"payload":"x","files":`+files+`}}`, ann).invalid(); !slices.Equal(got, []string{"kind"}) {
			t.Errorf("files %s: %v", files, got)
		}
	}
	form := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}
	for _, name := range []string{"push[files]", "push[files][0]", "push[files][][content]"} {
		a.do("POST", pushes, "push[payload]=x&"+name+"=a", form).want(http.StatusUnauthorized)
		a.do("POST", pushes, "push[payload]=x&"+name+"=a", form, ann).invalid()
	}
	empty := "--b\r\nContent-Disposition: form-data; name=\"push[payload]\"\r\n\r\nx\r\n--b\r\nContent-Disposition: form-data; name=\"push[files][]\"; filename=\"\"\r\n\r\n\r\n--b--\r\n"
	a.do("POST", pushes, empty, http.Header{"Content-Type": {"multipart/form-data; boundary=b"}}, ann).want(http.StatusCreated)
	a.do("POST", pushes, `{"push":{"payload":"x","files":[]}}`, ann).want(http.StatusCreated).has(map[string]string{"kind": "text"})
	a.do("POST", pushes, `{"push":{"payload":"x","files":null}}`).want(http.StatusUnauthorized)
}

func TestInputIsNeverEchoed(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	const marker = "MARKER7"
	for name, got := range map[string]answer{
		"kind":    a.do("POST", pushes, `{"push":{"kind":"`+marker+`","payload":"x"}}`),
		"number":  a.do("POST", pushes, `{"push":{"payload":"x","expire_after_days":"`+marker+`"}}`),
		"syntax":  a.do("POST", pushes, `{"push":{"payload":"x"}}`+marker),
		"key":     a.do("POST", pushes, `{"`+marker+`":1,"`+marker+`":2}`),
		"url":     a.do("POST", pushes, `{"push":{"kind":"url","payload":"ftp://`+marker+`"}}`),
		"type":    a.do("POST", pushes, "x", http.Header{"Content-Type": {marker + "/x"}}),
		"token":   a.get(pushes + "/" + marker),
		"path":    a.get("/" + marker),
		"page":    a.get(pushes + "/active?page=" + marker),
		"auth":    a.get(pushes+"/active", http.Header{"Authorization": {"Bearer " + marker}}),
		"method":  a.do(marker, pushes, ""),
		"host":    a.do("POST", pushes, `{"push":{"payload":"x"}}`, http.Header{"Host": {marker + "\""}}),
		"pass":    a.get(pushes + "/" + a.create(`"payload":"x","passphrase":"p"`) + "?passphrase=" + marker),
		"query":   a.get(pushes + "/" + a.create(`"payload":"x"`) + "?a=%zz" + marker),
		"encoded": a.do("POST", pushes, "x", http.Header{"Content-Encoding": {marker}}),
	} {
		if got.status < 400 || strings.Contains(strings.ToLower(got.body+fmt.Sprint(got.header)), strings.ToLower(marker)) {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
}
