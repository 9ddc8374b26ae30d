package strictjson_test

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"pushbox/internal/strictjson"
	"pushbox/internal/testkit/env"
)

const createBody = `{"push":{"kind":"text","payload":"correct horse battery staple, and what else one sends: ` +
	`a line or two of text\nwith an escape","passphrase":"open sesame","name":"for Alice","note":"the staging database",` +
	`"expire_after_days":7,"expire_after_views":5,"retrieval_step":true,"deletable_by_viewer":true}}`

type create struct {
	Kind       string `json:"kind"`
	Payload    string `json:"payload"`
	Passphrase string `json:"passphrase"`
	Name       string `json:"name"`
	Note       string `json:"note"`
	Days       string `json:"-"`
	Views      string `json:"-"`
	Step       bool   `json:"retrieval_step"`
	Deletable  bool   `json:"deletable_by_viewer"`
	NDays      int    `json:"expire_after_days"`
	NViews     int    `json:"expire_after_views"`
}

func (c *create) member(d *strictjson.Decoder, key string) (err error) {
	switch key {
	case "kind":
		c.Kind, err = d.String(100)
	case "payload":
		c.Payload, err = d.String(1 << 20)
	case "passphrase":
		c.Passphrase, err = d.String(1024)
	case "name":
		c.Name, err = d.String(255)
	case "note":
		c.Note, err = d.String(10 << 10)
	case "expire_after_days":
		c.Days, err = d.Number()
	case "expire_after_views":
		c.Views, err = d.Number()
	case "retrieval_step":
		c.Step, err = d.Bool()
	case "deletable_by_viewer":
		c.Deletable, err = d.Bool()
	}
	return err
}

func decodeCreate(text string) (c create, err error) {
	d := strictjson.NewDecoder(strings.NewReader(text))
	err = d.Object(func(string) error {
		return d.Object(func(key string) error { return c.member(d, key) })
	})
	if err == nil {
		err = d.End()
	}
	return c, err
}

func TestACreateRequestIsReadInAFewLines(t *testing.T) {
	t.Parallel()
	c, err := decodeCreate(createBody)
	if err != nil || c.Name != "for Alice" || c.Days != "7" || c.Views != "5" || !c.Step || !c.Deletable {
		t.Errorf("%+v, %v", c, err)
	}
}

func BenchmarkCreate(b *testing.B) {
	b.SetBytes(int64(len(createBody)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := decodeCreate(createBody); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCreateWithEncodingJSON(b *testing.B) {
	b.SetBytes(int64(len(createBody)))
	b.ReportAllocs()
	for b.Loop() {
		var body struct{ Push create }
		env.OK(b, json.NewDecoder(strings.NewReader(createBody)).Decode(&body))
	}
}

func BenchmarkLongString(b *testing.B) {
	text := `"` + strings.Repeat("QUJD", 1<<18) + `"`
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		env.OK(b, strictjson.NewDecoder(strings.NewReader(text)).End())
	}
}

func BenchmarkLongStringAsAStream(b *testing.B) {
	text := `"` + strings.Repeat("QUJD", 1<<18) + `"`
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		r, err := strictjson.NewDecoder(strings.NewReader(text)).Text()
		env.OK(b, err)
		if _, err := io.Copy(io.Discard, base64.NewDecoder(base64.StdEncoding, r)); err != nil {
			b.Fatal(err)
		}
	}
}
