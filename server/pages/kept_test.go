package pages

import (
	"reflect"
	"testing"
	"time"

	"pushbox/internal/limit"
	"pushbox/internal/secret"
	"pushbox/store"
)

// A view that is kept has nothing in clear that opens or shows a push.
func TestAKeptViewHasItsSecretsOnlySealed(t *testing.T) {
	t.Parallel()
	var info store.PushInfo
	fields := reflect.ValueOf(&info).Elem()
	text := reflect.TypeFor[secret.Text]()
	for _, f := range fields.Fields() {
		if f.Type() == text {
			f.Set(reflect.ValueOf(secret.New("hunter2")))
		}
	}
	info.Name, info.Note, info.Recipient, info.ReceiptCode = secret.Text{}, secret.Text{}, secret.Text{}, secret.Text{} // a view never has them
	info.Files = []store.FileInfo{{Name: secret.New("plan.pdf"), Size: 3}}
	k := newKeptViews()
	key := k.keep(limit.Holder{}, store.Viewing{PushInfo: info}, time.Minute)
	var now store.PushInfo
	now.ExpiresAt = now.At.Add(time.Hour)
	v, ok := k.show(key, now)
	if !ok || v.Payload.Reveal() != "hunter2" || v.Grant.Reveal() != "hunter2" || len(v.Files) != 1 || v.Files[0].Name.Reveal() != "plan.pdf" {
		t.Errorf("%v: it shows %+v", ok, v)
	}
	for _, kept := range k.views {
		for i, f := range reflect.ValueOf(kept.push.PushInfo).Fields() {
			if f.Type() == text && !f.Interface().(secret.Text).IsZero() {
				t.Errorf("%s is kept in clear", i.Name)
			}
		}
		if !kept.push.Files[0].Name.IsZero() {
			t.Error("the name of a file is kept in clear")
		}
	}
}
