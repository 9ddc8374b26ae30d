package openapi

import (
	"encoding/json"
	"testing"

	"go.yaml.in/yaml/v3"

	"pushbox/internal/testkit/env"
)

func TestObjectsKeepTheirOrderAndTakeWhatTheyMerge(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{b: 1, a: "\"<", c: [true, null, {z: x, y: 2}]}`:       `{"b":1,"a":"\"\u003c","c":[true,null,{"z":"x","y":2}]}`,
		`{a: &a {x: 1, y: 1}, b: {<<: *a, y: null, z: 3}}`:      `{"a":{"x":1,"y":1},"b":{"x":1,"y":null,"z":3}}`,
		`{a: &a {y: null}, b: {<<: [*a, {y: 2, z: 2}]}, c: *a}`: `{"a":{"y":null},"b":{"y":null,"z":2},"c":{"y":null}}`,
		`{}`: `{}`,
	} {
		var o Object
		env.OK(t, yaml.Unmarshal([]byte(text), &o))
		if got, err := json.Marshal(o); err != nil || string(got) != want {
			t.Errorf("%s is %s, %v", text, got, err)
		}
	}
	o := Object{{"a", 1}}
	o.Set("b", 2)
	if o.Set("a", 3); len(o) != 2 || o.Get("a") != 3 || o.Get("c") != nil {
		t.Errorf("it is %v", o)
	}
}
