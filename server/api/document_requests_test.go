package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/internal/testkit/env"
	"pushbox/server/servertest"
)

// newPushes are members of a push to be created, and whether the server accepts them.
var newPushes = map[string]bool{
	`"payload":"x"`:                true,
	`"payload":"x","kind":"text"`:  true,
	`"payload":""`:                 false,
	`"name":"n"`:                   false,
	``:                             false,
	`"payload":"x","kind":"video"`: false,
	`"payload":"x","kind":1`:       false,
	`"payload":"https://a.example/","kind":"url"`:                              true,
	`"payload":"HTTP://a.example/","kind":"url"`:                               true,
	`"payload":"ftp://a.example/","kind":"url"`:                                false,
	`"payload":"x","kind":"url"`:                                               false,
	`"kind":"qr"`:                                                              false,
	`"payload":"x","expire_after_days":1`:                                      true,
	`"payload":"x","expire_after_days":90`:                                     true,
	`"payload":"x","expire_after_days":0`:                                      false,
	`"payload":"x","expire_after_days":91`:                                     false,
	`"payload":"x","expire_after_days":1.5`:                                    false,
	`"payload":"x","expire_after_days":"x"`:                                    false,
	`"payload":"x","expire_after_days":true`:                                   false,
	`"payload":"x","expire_after_views":100`:                                   true,
	`"payload":"x","expire_after_views":101`:                                   false,
	`"payload":"x","expire_after_views":-1`:                                    false,
	`"payload":"x","expire_after_duration":0`:                                  true,
	`"payload":"x","expire_after_duration":17`:                                 true,
	`"payload":"x","expire_after_duration":18`:                                 false,
	`"payload":"x","expire_after_duration":"day"`:                              false,
	`"payload":"x","retrieval_step":false`:                                     true,
	`"payload":"x","another":"key"`:                                            true,
	`"payload":"x","note":[]`:                                                  false,
	`"kind":"file"`:                                                            false,
	`"kind":"file","payload":"x","files":[]`:                                   false,
	`"files":[{"content":"aGk="}]`:                                             true,
	`"files":[{"content":"aGk="}],"kind":"file"`:                               true,
	`"files":[{"content":"aGk="}],"kind":"qr"`:                                 false,
	`"files":[{"content":"aGk="}],"kind":"text"`:                               false,
	`"files":[{"content":"aGk="}],"kind":"qr","payload":"x"`:                   true,
	`"files":[{"content":"aGk="}],"kind":"text","payload":"x"`:                 true,
	`"files":[{"content":"aGk="}],"kind":"url","payload":"https://a.example/"`: true,
	`"files":[{"content":"aGk="}],"kind":"url","payload":"x"`:                  false,
	`"files":[{"content":"aGk=","filename":"a"}]`:                              true,
	`"files":[{"content":"aGk=","filename":null}]`:                             true,
	`"files":[{"content":"aGk=","filename":1}]`:                                false,
	`"files":[{"content":"aGk=","content_type":{}}]`:                           false,
	`"files":[{"content":1}]`:                                                  false,
	`"files":[{"content":"*"}]`:                                                false,
	`"files":[{"filename":"a"}]`:                                               false,
	`"files":["a"]`:                                                            false,
	`"files":"a"`:                                                              false,
	`"files":[` + strings.Repeat(`{"content":""},`, 9) + `{"content":""}]`:     true,
	`"files":[` + strings.Repeat(`{"content":""},`, 10) + `{"content":""}]`:    false,
	`"payload":"` + strings.Repeat("x", 1<<20) + `"`:                           true,
	`"payload":"` + strings.Repeat("x", 1<<20+1) + `"`:                         false,
	`"kind":"qr","payload":"` + strings.Repeat("é", 1024) + `"`:                true,
	`"kind":"qr","payload":"` + strings.Repeat("é", 1025) + `"`:                false,
	`"payload":"x","name":"` + strings.Repeat("n", 255) + `"`:                  true,
	`"payload":"x","name":"` + strings.Repeat("n", 256) + `"`:                  false,
	`"payload":"x","note":"` + strings.Repeat("n", 10241) + `"`:                false,
	`"payload":"x","passphrase":"` + strings.Repeat("n", 1024) + `"`:           true,
	`"payload":"x","passphrase":"` + strings.Repeat("n", 1025) + `"`:           false,
}

// softPushes are members of a push that the server accepts and the schema does not
// promise: clients generated from it have plain types.
var softPushes = []string{
	`"payload":1`, `"payload":1.50`, `"payload":false`, `"payload":"x","name":1`, `"payload":"x","note":null`, `"payload":"x","passphrase":true`,
	`"payload":"x","expire_after_days":""`, `"payload":"x","expire_after_days":null`, `"payload":"x","expire_after_views":" "`,
	`"payload":"x","expire_after_days":"90"`, `"payload":"x","deletable_by_viewer":"yes"`, `"payload":"x","retrieval_step":0`,
	`"payload":"x","files":null`, `"payload":"x","files":""`,
}

// The schema of a create request accepts and refuses the same bodies as the server.
func TestTheServerAcceptsWhatTheRequestSchemaAccepts(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ann := a.AddTokenUser("ann@example.com")
	d := documentOf(a)
	d.compiler.AssertContent()
	schema := d.schema(d.byID["create"].pointer + "/requestBody/content/application~1json/schema")
	for members, valid := range newPushes {
		body := `{"push":{` + members + `}}`
		err := schema.Validate(parsed(t, body))
		got := a.Do("POST", pushes, body, ann)
		if (err == nil) != valid || (got.Status == http.StatusCreated) != valid {
			t.Errorf("%.80s: the schema says %v, the server %d %.200s", members, err, got.Status, got.Body)
		}
		if !valid && got.Status != http.StatusUnprocessableEntity && members != "" {
			t.Errorf("%.80s: %d", members, got.Status)
		}
	}
	for _, members := range softPushes {
		body := `{"push":{` + members + `}}`
		if schema.Validate(parsed(t, body)) == nil {
			t.Errorf("the schema takes %s", members)
		}
		a.Do("POST", pushes, body).Want(http.StatusCreated)
	}
	for _, body := range []string{`{}`, `{"push":null}`, `{"push":[]}`, `{"push":"x"}`, `[]`, `"x"`} {
		if schema.Validate(parsed(t, body)) == nil {
			t.Errorf("the schema takes %s", body)
		}
		a.Do("POST", pushes, body, ann).Want(http.StatusBadRequest)
	}
}

func TestTheServerAcceptsWhatTheFormSchemasAccept(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	d := documentOf(a)
	ann := a.AddTokenUser("ann@example.com")
	for fields, valid := range map[string]bool{
		`{"push[payload]":"x"}`: true,
		`{"push[payload]":"x","push[expire_after_days]":3,"push[retrieval_step]":true}`: true,
		`{"push[payload]":"x","push[expire_after_days]":91}`:                            false,
		`{"push[kind]":"qr","push[payload]":"x","push[name]":"n"}`:                      true,
		`{"push[kind]":"url","push[payload]":"x"}`:                                      false,
		`{"push[kind]":"video","push[payload]":"x"}`:                                    false,
		`{"push[payload]":""}`:                                                          false,
		`{"push[name]":"n"}`:                                                            false,
		`{"push[payload]":"x","push[expire_after_views]":"few"}`:                        false,
	} {
		var texts map[string]any
		env.OK(t, json.Unmarshal([]byte(fields), &texts))
		var form []string
		parts := ""
		for name, text := range texts {
			form = append(form, name+"="+fmt.Sprint(text))
			parts += servertest.TextPart(name, fmt.Sprint(text))
		}
		for media, body := range map[string]string{
			"application/x-www-form-urlencoded": strings.Join(form, "&"),
			"multipart/form-data":               parts + "--b--\r\n",
		} {
			at := d.byID["create"].pointer + "/requestBody/content/" + strings.Replace(media, "/", "~1", 1) + "/schema"
			err := d.schema(at).Validate(parsed(t, fields))
			got := a.Post(media+"; boundary=b", body, ann)
			if (err == nil) != valid || (got.Status == http.StatusCreated) != valid {
				t.Errorf("%s %s: the schema says %v, the server %d", media, fields, err, got.Status)
			}
		}
	}
}

// Files are parts of multipart/form-data. A urlencoded form cannot have them.
func TestOnlyMediaTypesWithFilesDocumentThem(t *testing.T) {
	t.Parallel()
	files := func(d *document, media string) bool {
		content := d.at("#/components/schemas/" + media).(map[string]any)["properties"].(map[string]any)
		_, inJSON := content["files"]
		_, inParts := content["push[files][]"]
		return inJSON || inParts
	}
	all, none := documentOf(servertest.New(t)), documentOf(servertest.New(t, settings["text alone"]))
	for name, want := range map[string]bool{"NewPush": true, "NewPushMultipart": true, "NewPushForm": false} {
		if files(all, name) != want || files(none, name) {
			t.Errorf("%s: %v, and where files are off %v", name, files(all, name), files(none, name))
		}
	}
}

func TestBoundsInTheDocumentAreThoseOfTheSettings(t *testing.T) {
	t.Parallel()
	other := documentOf(servertest.New(t, settings["other bounds"], servertest.FileLimits(2, 4096)))
	alone := documentOf(servertest.New(t, settings["text alone"]))
	for _, test := range []struct {
		d       *document
		members string
		valid   bool
	}{
		{other, `"kind":"url","payload":"https://a.example/","expire_after_days":30`, true},
		{other, `"kind":"url","payload":"https://a.example/","expire_after_days":31`, false},
		{other, `"kind":"text","payload":"x","expire_after_days":90`, true},
		{other, `"kind":"text","payload":"x","expire_after_days":91`, false},
		{other, `"kind":"file","expire_after_days":90,"files":[{"content":""}]`, true},
		{other, `"files":[{"content":""},{"content":""}]`, true},
		{other, `"files":[{"content":""},{"content":""},{"content":""}]`, false},
		{alone, `"kind":"text","payload":"x"`, true},
		{alone, `"kind":"url","payload":"https://a.example/"`, false},
		{alone, `"kind":"qr","payload":"x"`, false},
		{alone, `"kind":"file","payload":"x"`, false},
	} {
		schema := test.d.schema("#/components/schemas/NewPush")
		if err := schema.Validate(parsed(t, "{"+test.members+"}")); (err == nil) != test.valid {
			t.Errorf("%s: %v", test.members, err)
		}
	}
	said := other.at("#/components/schemas/NewPush/properties").(map[string]any)
	for name, want := range map[string]string{
		"expire_after_days":  "Bounds: text, qr, file: 1 to 90; url: 1 to 30. If absent: 7.",
		"expire_after_views": "Bounds: 1 to 100. If absent: text, url, file: 5; qr: 1.",
		"retrieval_step":     "If absent: text: false; url, qr, file: true.",
		"files":              "Bounds: at most 2 files, each at most 4KiB. If absent: none.",
		"payload":            "Bounds: text, url, file: at most 1MiB; qr: at most 1024 characters.",
	} {
		if got := said[name].(map[string]any)["description"].(string); !strings.HasSuffix(got, want) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// Generators of clients make types from the schemas: a field with a default is one that
// is always there, and no generator has a type for a text that may be a number.
func TestFieldsOfRequestsHavePlainTypesAndStayOptional(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, servertest.SendsMail)
	if strings.Contains(a.Get("/api/v2/openapi.json").Body, `"default":`) {
		t.Error("a schema has a default")
	}
	d := documentOf(a)
	for _, name := range []string{"NewPush", "NewPushForm", "NewPushMultipart", "NewMail"} {
		schema := d.at("#/components/schemas/" + name).(map[string]any)
		for field, s := range schema["properties"].(map[string]any) {
			if kind, plain := s.(map[string]any)["type"].(string); !plain {
				t.Errorf("%s: %s is of type %v", name, field, kind)
			}
		}
		if required, has := schema["required"]; has && name != "NewMail" {
			t.Errorf("%s requires %v", name, required)
		}
	}
}

func TestThePagesOfListsAreThoseOfTheDocument(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, func(c *config.Config) { c.Limits.TokenPerMinute = 0 })
	d := documentOf(a)
	ann := a.AddTokenUser("ann@example.com")
	for i, p := range d.byID["active"].Parameters {
		if p.Name != "page" {
			t.Fatalf("there is a parameter %s", p.Name)
		}
		schema := d.schema(d.byID["active"].pointer + "/parameters/" + strconv.Itoa(i) + "/schema")
		for page, valid := range map[string]bool{"1": true, "200": true, "0": false, "201": false, "-1": false, "1.5": false, "true": false} {
			got := a.Get(pushes+"/active?page="+page, ann)
			if err := schema.Validate(parsed(t, page)); (err == nil) != valid || (got.Status == http.StatusOK) != valid {
				t.Errorf("page %s: the schema says %v, the server %d", page, err, got.Status)
			}
		}
	}
}
