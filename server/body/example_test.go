package body_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"

	"pushbox/server/body"
)

// The same fields come from JSON and from both kinds of form, and print nothing of
// their texts.
func ExampleRead() {
	for mediaType, content := range map[string]string{
		body.TypeJSON: `{"push":{"payload":"correct horse"}}`,
		body.TypeForm: "push[payload]=correct+horse",
	} {
		hr := httptest.NewRequest("POST", "/", strings.NewReader(content))
		hr.Header.Set("Content-Type", mediaType)
		r, form := body.NewReader(hr, nil), make(body.Form)
		err := body.Read(context.Background(), &r, body.Options{Object: "push", JSON: true, MaxText: 64 << 10}, form)
		fmt.Println(form.Text("payload"), form.Text("payload").Reveal(), err)
	}
	// Output:
	// [redacted] correct horse <nil>
	// [redacted] correct horse <nil>
}
