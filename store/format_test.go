package store

import (
	"encoding"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/golden"
	"pushbox/store/record"
)

// What records are made of, each without anything and with all that it can have. A change
// of testdata/records.txt is one of the format: each engine then takes another schema number.
func TestRecordsHaveTheirFormat(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for _, r := range []encoding.BinaryAppender{
		&record.Push{}, &record.Entry{}, &record.Grant{}, &record.Account{}, &record.APIToken{}, &record.Session{}, &record.Hook{}, &record.Message{}, &record.Request{}, &record.AdminEvent{}, &record.LogHead{}, &record.Repeat{},
	} {
		noteForm(t, &b, reflect.TypeOf(r).Elem().Name(), func() []byte {
			made, err := r.AppendBinary(nil)
			env.OK(t, err)
			return made
		}, func() { fillForm(reflect.ValueOf(r).Elem(), new(int)) })
	}
	numbers := make(record.LastNumbers)
	noteForm(t, &b, "LastNumbers", func() []byte { return env.Must(numbers.AppendBinary(nil))(t) }, func() {
		for i, of := range record.Numbered() {
			numbers[of] = uint64(i) + 2
		}
	})
	var list [1]FileInfo
	noteForm(t, &b, "files", func() []byte { return encodeFiles(list[:]) }, func() { fillForm(reflect.ValueOf(&list).Elem(), new(int)) })
	var target HookTarget
	noteForm(t, &b, "HookTarget", target.encode, nil)
	target = HookTarget{URL: secret.New("address"), Secret: secret.New("key")}
	noteForm(t, &b, "HookTarget", func() []byte { return target.encode() }, func() { target.Form = record.FormText })
	var n Notice
	noteForm(t, &b, "Notice", func() []byte { return n.encode() }, func() { fillForm(reflect.ValueOf(&n).Elem(), new(int)) })
	var m Mail
	noteForm(t, &b, "Mail", func() []byte { return m.encode(record.ID{1}) }, func() {
		m = Mail{About: MailCode, ID: "id", To: secret.New("to"), Base: "base", Language: "language", Code: secret.New("code")}
	})
	var a record.Account
	a.SetPasskeyList([]record.Passkey{{ID: record.PasskeyID{1}, Key: []byte("key"), Count: 2, Created: time.UnixMilli(3), Used: time.UnixMilli(4), Sealed: []byte("sealed")}})
	noteForm(t, &b, "passkeys", func() []byte { return []byte(a.Passkeys) }, nil)
	golden.File(t, "testdata/records.txt", b.String())
}

// noteForm notes what made makes, before and after change.
func noteForm(t *testing.T, b *strings.Builder, name string, made func() []byte, change func()) {
	t.Helper()
	fmt.Fprintf(b, "%s %x\n", name, made())
	if change == nil {
		return
	}
	change()
	fmt.Fprintf(b, "%s %x\n", name, made())
}

// fillForm gives each exported part of a value something that differs from the others.
func fillForm(v reflect.Value, n *int) {
	*n++
	switch one := v.Addr().Interface().(type) {
	case *time.Time:
		*one = time.UnixMilli(1_700_000_000_000 + int64(*n))
		return
	case *secret.Text:
		*one = secret.New(fmt.Sprint("text ", *n))
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		v.SetString(fmt.Sprint("text ", *n))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(*n))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fillForm(v.Index(0), n)
	case reflect.Array:
		for i := range v.Len() {
			fillForm(v.Index(i), n)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Type != reflect.SliceOf(v.Type()) {
				fillForm(v.Field(i), n)
			}
		}
	}
}
