package seal

import (
	_ "embed"
	"encoding/json"
	"testing"
	"time"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
)

//go:embed testdata/repeats.json
var repeatsJSON []byte

// repeatVectors are the values that testdata/repeats.py made, of the push of vectors.
type repeatVectors struct {
	Key      string   `json:"key"`
	RepeatID hexBytes `json:"repeat_id"`
	Fields   hexBytes `json:"fields"`
	Sealed   hexBytes `json:"sealed_repeat"`
}

func TestTheFrozenRepeatOpensOnlyWhereItBelongs(t *testing.T) {
	t.Parallel()
	v, _, ring := loadVectors(t)
	var r repeatVectors
	env.OK(t, json.Unmarshal(repeatsJSON, &r))
	fields := [32]byte(r.Fields)
	token := env.Must(ring.OpenRepeat(secret.New(r.Key), r.RepeatID, fields, r.Sealed))(t)
	env.Equal(t, "token", token.Reveal(), v.Token)
	env.Equal(t, "length", len(ring.SealRepeat(secret.New(r.Key), r.RepeatID, fields, token)), len(r.Sealed))
	for name, open := range map[string]func() (secret.Text, error){
		"another key": func() (secret.Text, error) {
			return ring.OpenRepeat(secret.New(r.Key+"x"), r.RepeatID, fields, r.Sealed)
		},
		"no key": func() (secret.Text, error) { return ring.OpenRepeat(secret.Text{}, r.RepeatID, fields, r.Sealed) },
		"another id": func() (secret.Text, error) {
			return ring.OpenRepeat(secret.New(r.Key), testID[:16], fields, r.Sealed)
		},
		"other fields": func() (secret.Text, error) {
			return ring.OpenRepeat(secret.New(r.Key), r.RepeatID, [32]byte{}, r.Sealed)
		},
		"another ring": func() (secret.Text, error) {
			return NewRing(time.Now()).OpenRepeat(secret.New(r.Key), r.RepeatID, fields, r.Sealed)
		},
	} {
		text, err := open()
		wantRefusal(t, name, []byte(text.Reveal()), err)
	}
}
