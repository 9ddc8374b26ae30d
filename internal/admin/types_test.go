package admin_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pushbox/internal/admin"
)

func TestASecretPrintsNothingAndCrossesWhole(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "hunter2-marker", "\x00\xff\xfe", "ünïcode\n"} {
		in := admin.Credentials{Email: alice, Password: clear(text)}
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
			if out := fmt.Sprintf(verb, in); text != "" && strings.Contains(out, text) {
				t.Errorf("%s printed %s", verb, out)
			}
		}
		b, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		var out admin.Credentials
		if err := json.Unmarshal(b, &out); err != nil {
			t.Fatal(err)
		}
		if out.Password.Reveal() != text {
			t.Errorf("%q came out as %q", text, out.Password.Reveal())
		}
	}
}

func TestASecretThatIsMangledIsRefusedWithoutBeingQuoted(t *testing.T) {
	t.Parallel()
	var c admin.Credentials
	for _, b := range []string{`{"Password":"hunter2-marker!"}`, `{"Password":17}`} {
		err := json.Unmarshal([]byte(b), &c)
		if err == nil {
			t.Errorf("%s was read", b)
		} else if strings.Contains(err.Error(), "marker") {
			t.Errorf("the error quotes it: %v", err)
		}
	}
}
