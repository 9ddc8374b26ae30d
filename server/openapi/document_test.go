package openapi

import (
	"encoding/json"
	"testing"
)

func TestMembersKeepTheirOrderAndAreUnique(t *testing.T) {
	t.Parallel()
	var o Ordered[int]
	for i, name := range []string{"b", "a", "b", `"<`} {
		o.Add(name, i)
	}
	if got := encoded(t, o); got != `{"b":2,"a":1,"\"\u003c":3}` {
		t.Errorf("it is %s", got)
	}
	if got := encoded(t, Ordered[int](nil)); got != `{}` {
		t.Errorf("without members it is %s", got)
	}
	if got := encoded(t, []Types{{"string"}, {"string", "null"}}); got != `["string",["string","null"]]` {
		t.Errorf("types are %s", got)
	}
	if o.Get("c") != nil || *o.Get("a") != 1 {
		t.Error("a member is not found, or one that is not there")
	}
}

func encoded(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
