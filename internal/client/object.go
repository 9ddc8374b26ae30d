package client

import (
	"encoding/json"
	"strings"
)

// An object is a JSON object of which any part may be missing, or of another
// type than expected: that part then counts as missing.
type object map[string]json.RawMessage

// parseObject reports whether the text is an object.
func parseObject(text []byte) (object, bool) {
	var o object
	err := json.Unmarshal(text, &o)
	return o, err == nil && o != nil
}

func read[T any](o object, key string) (v T, ok bool) {
	raw, has := o[key]
	if !has || string(raw) == "null" || json.Unmarshal(raw, &v) != nil {
		var none T
		return none, false
	}
	return v, true
}

func (o object) text(key string) string {
	v, _ := read[string](o, key)
	return v
}

// number is a whole number, also one in quotes; -1 if there is none.
func (o object) number(key string) int64 {
	raw := strings.Trim(string(o[key]), `"`)
	v := int64(-1)
	if json.Unmarshal([]byte(raw), &v) != nil {
		return -1
	}
	return v
}

// first is the first text there is under one of the keys.
func (o object) first(keys ...string) string {
	for _, key := range keys {
		if text := o.text(key); text != "" {
			return text
		}
	}
	return ""
}
