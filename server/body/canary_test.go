package body

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"pushbox/internal/limit"
	"pushbox/internal/testkit/env"
)

const canary = "canary-of-a-secret-3b1f"

// canaryBodies are bodies of every type whose fields, members and contents are all
// secret.
func canaryBodies() map[string]string {
	return map[string]string{
		TypeJSON:                      `{"push":{"payload":"` + canary + `","passphrase":"` + canary + `","number":1,"yes":true,"list":["` + canary + `"]},"password":"` + canary + `"}`,
		TypeForm:                      "push[payload]=" + canary + "&push[list][]=" + canary + "&password=" + canary,
		TypeMultipart + ";boundary=b": "--b\r\nContent-Disposition: form-data; name=\"push[payload]\"\r\n\r\n" + canary + "\r\n--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\n" + canary + "\r\n--b--",
	}
}

// wantNoCanary fails the test if printing a value gives the secret away.
func wantNoCanary(t *testing.T, what string, v any) {
	t.Helper()
	env.Hides(t, what, v, canary)
	if j, err := json.Marshal(v); err == nil && strings.Contains(string(j), canary) {
		t.Errorf("JSON of %s has the secret: %s", what, j)
	}
}

// A canaryForm is a Sink that looks at each value as it arrives.
type canaryForm struct {
	Form
	t    *testing.T
	seen int
}

func (c *canaryForm) Field(name string, v Value) error {
	if v.Shape == String && v.Text.Reveal() == canary {
		c.seen++
	}
	wantNoCanary(c.t, "a value", v)
	wantNoCanary(c.t, "a value's address", &v)
	return c.Form.Field(name, v)
}

func TestNothingThatCarriesASecretPrintsIt(t *testing.T) {
	t.Parallel()
	for mediaType, content := range canaryBodies() {
		hr := httptest.NewRequest("POST", "/", strings.NewReader(content))
		hr.Header.Set("Content-Type", mediaType)
		memory := limit.NewMemory(1<<20, memoryWait).Reserve(limit.Holder{})
		r, form := NewReader(hr, nil), &canaryForm{Form: make(Form), t: t}
		err := Read(t.Context(), &r, Options{Object: "push", Flat: true, JSON: true, MaxText: 1 << 16, Memory: &memory}, form)
		if err != nil || form.seen < 2 {
			t.Fatalf("%s: %d secrets came, %v", mediaType, form.seen, err)
		}
		if printed := fmt.Sprint(form.Form); !strings.Contains(printed, "[redacted]") {
			t.Errorf("%s: nothing says that a text was left out: %s", mediaType, printed)
		}
		for what, v := range map[string]any{
			"a form": form.Form, "a sink": form, "a text": form.Text("payload"),
			"the reader": r, "the reader's address": &r, "the options": r.options,
		} {
			wantNoCanary(t, what, v)
		}
	}
	pairs, err := ParseQuery("passphrase=" + canary)
	if err != nil || pairs[0].Text.Reveal() != canary {
		t.Fatal(pairs, err)
	}
	for what, v := range map[string]any{"pairs": pairs, "the pairs' address": &pairs, "a pair": pairs[0]} {
		wantNoCanary(t, what, v)
	}
}

func TestNoErrorOfABodyHasASecret(t *testing.T) {
	t.Parallel()
	for mediaType, content := range canaryBodies() {
		for i := range len(content) {
			for _, bad := range []string{content[:i], content[:i] + "\xff%" + content[i:], content + content[:i]} {
				hr := httptest.NewRequest("POST", "/", strings.NewReader(bad))
				hr.Header.Set("Content-Type", mediaType)
				r := NewReader(hr, nil)
				err := Read(t.Context(), &r, Options{Object: "push", Flat: true, JSON: true, MaxText: 1 << 16}, make(Form))
				for ; err != nil; err = errors.Unwrap(err) {
					wantNoCanary(t, "an error", err)
					wantNoCanary(t, "an error's text", err.Error())
				}
			}
		}
	}
}
