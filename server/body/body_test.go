package body_test

import (
	"bytes"
	"encoding/json"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/server/servertest"
)

const pushes = "/api/v2/pushes"

// A bodyKind is a way to send a push.
type bodyKind struct {
	name   string
	encode func(fields map[string]string) (contentType, body string)
}

func bodyKinds() []bodyKind {
	return []bodyKind{
		{"JSON", func(fields map[string]string) (string, string) {
			b, _ := json.Marshal(map[string]any{"push": fields})
			return "application/json", string(b)
		}},
		{"form", func(fields map[string]string) (string, string) {
			values := make(url.Values)
			for k, v := range fields {
				values.Set("push["+k+"]", v)
			}
			return "application/x-www-form-urlencoded", values.Encode()
		}},
		{"multipart", func(fields map[string]string) (string, string) {
			var b bytes.Buffer
			w := multipart.NewWriter(&b)
			for k, v := range fields {
				_ = w.WriteField("push["+k+"]", v)
			}
			_ = w.Close()
			return w.FormDataContentType(), b.String()
		}},
	}
}

func TestEveryKindOfBodyMakesTheSamePush(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	const payload = "two\r\nlines \"quoted\" \\ + & = % é \U0001F511 \x01"
	for _, kind := range bodyKinds() {
		contentType, body := kind.encode(map[string]string{
			"payload": payload, "passphrase": "p", "name": "n+1", "note": "o", "expire_after_days": "3", "expire_after_views": "04",
			"retrieval_step": "no", "deletable_by_viewer": "ON", "kind": "text", "unknown": "x", "utf8": "✓",
		})
		got := a.Do("POST", pushes, body, http.Header{"Content-Type": {contentType}}).Want(http.StatusCreated)
		got.Has(map[string]string{
			"name": "n+1", "note": "o", "expire_after_days": "3", "expire_after_views": "4",
			"retrieval_step": "false", "deletable_by_viewer": "true", "passphrase_protected": "true",
		})
		shown := a.Get(pushes + "/" + got.Text("url_token") + "?passphrase=p").Want(http.StatusOK)
		if shown.Text("payload") != payload {
			t.Errorf("%s: %q", kind.name, shown.Text("payload"))
		}
	}
}

func TestMediaTypes(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	const body = `{"push":{"payload":"x"}}`
	for contentType, want := range map[string]int{
		"application/json":                                  http.StatusCreated,
		"Application/JSON; Charset=UTF-8":                   http.StatusCreated,
		"application/json; charset=latin1":                  http.StatusUnsupportedMediaType,
		"text/plain":                                        http.StatusUnsupportedMediaType,
		"application/xml":                                   http.StatusUnsupportedMediaType,
		"application/vnd.api+json":                          http.StatusCreated, // Rails reads it as JSON
		"application/hal+json":                              http.StatusUnsupportedMediaType,
		"application/json; charset=utf8":                    http.StatusCreated,
		"application/json; charset=us-ascii":                http.StatusCreated,
		"":                                                  http.StatusBadRequest, // a form
		"nonsense;":                                         http.StatusUnsupportedMediaType,
		"application/x-www-form-urlencoded":                 http.StatusBadRequest,
		"multipart/form-data":                               http.StatusBadRequest,
		"multipart/form-data; boundary=x":                   http.StatusBadRequest,
		"multipart/mixed; boundary=x":                       http.StatusUnsupportedMediaType,
		"application/x-www-form-urlencoded; charset=UTF-16": http.StatusUnsupportedMediaType,
	} {
		got := a.Do("POST", pushes, body, http.Header{"Content-Type": {contentType}})
		if got.Status != want {
			t.Errorf("%q: %d %s", contentType, got.Status, got.Body)
		}
		if want == http.StatusUnsupportedMediaType && got.Problem() != "unsupported-media-type" {
			t.Errorf("%q: %s", contentType, got.Body)
		}
	}
	for encoding, want := range map[string]int{"gzip": 415, "br": 415, "identity": 201, "Identity": 201} {
		if got := a.Do("POST", pushes, body, http.Header{"Content-Encoding": {encoding}}); got.Status != want {
			t.Errorf("encoding %q: %d", encoding, got.Status)
		}
	}
}

func TestBadBodies(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	deep := func(n int) string {
		return `{"push":{"payload":"x","a":` + strings.Repeat("[", n-2) + strings.Repeat("]", n-2) + `}}`
	}
	for name, test := range map[string]struct {
		body string
		want int
	}{
		"empty object":           {`{}`, 400},
		"push null":              {`{"push":null}`, 400},
		"push empty":             {`{"push":{}}`, 400},
		"push a text":            {`{"push":"x"}`, 400},
		"push a list":            {`{"push":[{"payload":"x"}]}`, 400},
		"push in other case":     {`{"Push":{"payload":"x"}}`, 400},
		"a list":                 {`[]`, 400},
		"a number":               {`1`, 400},
		"cut":                    {`{"push":{"payload":"x"}`, 400},
		"a second value":         {`{"push":{"payload":"x"}} {}`, 400},
		"white space after":      {`{"push":{"payload":"x"}}` + " \r\n\t", 201},
		"duplicate key":          {`{"push":{"payload":"x","payload":"y"}}`, 400},
		"duplicate push":         {`{"push":{"payload":"x"},"push":{"payload":"y"}}`, 400},
		"duplicate by escape":    {`{"push":{"payload":"x","p\u0061yload":"y"}}`, 400},
		"duplicate in unknown":   {`{"push":{"payload":"x"},"z":{"a":1,"a":2}}`, 400},
		"invalid UTF-8":          {"{\"push\":{\"payload\":\"\xff\"}}", 400},
		"lone surrogate":         {`{"push":{"payload":"\ud800"}}`, 400},
		"surrogate pair":         {`{"push":{"payload":"\ud83d\udd11"}}`, 201},
		"lone low surrogate":     {`{"push":{"payload":"\udd11"}}`, 400},
		"byte order mark":        {"\ufeff" + `{"push":{"payload":"x"}}`, 400},
		"nesting of 16":          {deep(16), 201},
		"nesting of 17":          {deep(17), 400},
		"unknown fields":         {`{"push":{"payload":"x","nope":{"a":[1]}},"other":1}`, 201},
		"trailing comma":         {`{"push":{"payload":"x",}}`, 400},
		"a comment":              {`{"push":{"payload":"x"}}//`, 400},
		"single quotes":          {`{'push':{'payload':'x'}}`, 400},
		"a raw control":          {"{\"push\":{\"payload\":\"a\nb\"}}", 400},
		"an escaped NUL is kept": {`{"push":{"payload":"a\u0000b"}}`, 201},
	} {
		got := a.Do("POST", pushes, test.body)
		if got.Status != test.want || test.want == 400 && got.Problem() != "bad-request" {
			t.Errorf("%s: %d %s", name, got.Status, got.Body)
		}
	}
	a.Do("POST", pushes, "", http.Header{"Content-Type": {"application/json"}}).Want(http.StatusBadRequest)
}

func TestBadForms(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	form := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}
	for body, want := range map[string]int{
		"push[payload]=x":                               201,
		"push%5Bpayload%5D=x&utf8=%E2%9C%93":            201,
		"push[payload]=x&push[payload]=y":               400,
		"push[payload]=%ff":                             400,
		"push[payload]=%zz":                             400,
		"push[payload]=x;y":                             201,
		"payload=x":                                     400,
		"push=x":                                        400,
		"push[payload]=x&push[a][b]=c&push[]=d":         201,
		strings.Repeat("a=b&", 99) + "push[payload]=x":  201,
		strings.Repeat("a=b&", 100) + "push[payload]=x": 400,
	} {
		if got := a.Do("POST", pushes, body, form); got.Status != want {
			t.Errorf("%.40q: %d %s", body, got.Status, got.Body)
		}
	}
	multi := http.Header{"Content-Type": {"multipart/form-data; boundary=b"}}
	part := "--b\r\nContent-Disposition: form-data; name=\"push[payload]\"\r\n\r\nx\r\n"
	for body, want := range map[string]int{
		part + "--b--\r\n":        201,
		part:                      400,
		part + part + "--b--\r\n": 400,
		"--b--\r\n":               400,
		strings.Replace(part, "x", "\xff", 1) + "--b--": 400,
	} {
		if got := a.Do("POST", pushes, body, multi); got.Status != want {
			t.Errorf("%.40q: %d %s", body, got.Status, got.Body)
		}
	}
}

func TestTheBodyIsBounded(t *testing.T) {
	t.Parallel()
	const limit = 64 << 10
	a := servertest.New(t, func(c *config.Config) { c.Limits.MaxBody = limit })
	for _, kind := range bodyKinds() {
		_, empty := kind.encode(map[string]string{"payload": ""})
		for extra, want := range map[int]int{0: http.StatusCreated, 1: http.StatusRequestEntityTooLarge} {
			contentType, body := kind.encode(map[string]string{"payload": strings.Repeat("x", limit-len(empty)+extra)})
			got := a.Do("POST", pushes, body, http.Header{"Content-Type": {contentType}})
			if got.Status != want || want != http.StatusCreated && got.Problem() != "payload-too-large" {
				t.Errorf("%s of %d bytes: %d", kind.name, len(body), got.Status)
			}
		}
	}
}

func TestATextOfAMebibyteFitsHoweverItIsEscaped(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	for extra, want := range map[int]int{0: 201, 1: 422} {
		body := `{"push":{"payload":"` + strings.Repeat(`\u0001`, 1<<20+extra) + `"}}`
		if got := a.Do("POST", pushes, body); got.Status != want {
			t.Errorf("%d bytes more: %d %.100s", extra, got.Status, got.Body)
		}
	}
}

func TestOnlyAmpersandsSeparate(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	form := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}
	token := a.Do("POST", pushes, "push[payload]=WIFI:S:guests;T:WPA;P:x;;&push[passphrase]=a;b", form).Want(http.StatusCreated).Text("url_token")
	a.Get(pushes + "/" + token + "?passphrase=a;b").Want(http.StatusOK).Has(map[string]string{"payload": "WIFI:S:guests;T:WPA;P:x;;"})
	a.Do("GET", pushes+"/"+token, "passphrase=a;b", form).Want(http.StatusOK)
}

func TestNoFieldOfAMultipartBodyIsDropped(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	part := func(head, content string) string {
		return "--b\r\nContent-Disposition: form-data; " + head + "\r\n\r\n" + content + "\r\n"
	}
	multi := http.Header{"Content-Type": {"multipart/form-data; boundary=b"}}
	body := part(`name="push[payload]"; filename="secret.txt"`, "x") + part(`name="logo"; filename="logo.png"`, "png") +
		part(`name="push[other]"; filename="a"`, "y") + part(`name="push[passphrase]"`, "p") + part(`name="push[expire_after_views]"`, "1")
	got := a.Do("POST", pushes, body+"--b--\r\n", multi).Want(http.StatusCreated)
	got.Has(map[string]string{"passphrase_protected": "true", "expire_after_views": "1"})
	token := got.Text("url_token")
	a.Do("GET", pushes+"/"+token, part(`name="passphrase"`, "p")+"--b--\r\n", multi).Want(http.StatusOK).Has(map[string]string{"payload": "x"})
	a.Do("POST", pushes, body, multi).Want(http.StatusBadRequest)
}

func TestAFieldGivenTwiceIsRefused(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	form := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}
	token := a.Create(`"payload":"x","passphrase":"p"`)
	for name, got := range map[string]servertest.Answer{
		"query":     a.Get(pushes + "/" + token + "?passphrase=p&passphrase=q"),
		"form":      a.Do("GET", pushes+"/"+token, "passphrase=p&passphrase=q", form),
		"page":      a.Get(pushes+"/active?page=1&page=2", a.AddTokenUser("ann@example.com")),
		"push":      a.Do("POST", pushes, "push[payload]=x&push[payload]=y", form),
		"too many":  a.Get(pushes + "/" + token + "?" + strings.Repeat("a&", 101)),
		"not UTF-8": a.Get(pushes + "/" + token + "?passphrase=%ff"),
		"percent":   a.Get(pushes + "/" + token + "?passphrase=100%"),
	} {
		if got.Status != http.StatusBadRequest || got.Problem() != "bad-request" {
			t.Errorf("%s: %d %s", name, got.Status, got.Body)
		}
	}
}

// An early refusal must not wait for a body that the client holds back.
func TestARefusalDoesNotWaitForABodyThatIsHeldBack(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	for status, head := range map[string]string{
		" 415 ": "Content-Type: text/plain\r\nContent-Length: 100\r\n",
		" 413 ": "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 99999999\r\n",
		" 401 ": "Content-Type: application/json\r\nContent-Length: 100\r\nAuthorization: Bearer bad\r\n",
	} {
		if got := a.Raw("POST " + pushes + " HTTP/1.1\r\nHost: box\r\nExpect: 100-continue\r\n" + head + "\r\n"); !strings.Contains(got, status) {
			t.Errorf("not%s: %s", status, got)
		}
	}
}
