package openapi

import (
	"context"
	"net/http"
	"os"
	"slices"
	"testing"
)

// TestAGeneratedClientSpeaksToTheServer needs the generated client.gen.go and the server
// that tools.test.js starts.
func TestAGeneratedClientSpeaksToTheServer(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	client, err := NewClientWithResponses(os.Getenv("OPENAPI_SERVER"), WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+os.Getenv("OPENAPI_TOKEN"))
		return nil
	}))
	check(t, err)

	version, err := client.VersionWithResponse(ctx)
	check(t, err)
	want(t, "version", version.JSON200.ApiVersion, "2.1")

	once := &CreateParams{IdempotencyKey: new("a key of a push by oapi-codegen")}
	in := NewPushJSON{Push: NewPush{
		Payload: new("by oapi-codegen"), Passphrase: new("p"), ExpireAfterViews: new(3), DeletableByViewer: new(false),
	}}
	made, err := client.CreateWithResponse(ctx, once, in)
	check(t, err)
	want(t, "create", made.StatusCode(), http.StatusCreated)
	push := made.JSON201
	again, err := client.CreateWithResponse(ctx, once, in)
	check(t, err)
	want(t, "create again", again.JSON201.UrlToken, push.UrlToken)
	want(t, "views", push.ExpireAfterViews, 3)
	want(t, "days, by default", push.ExpireAfterDays, 7)

	wrong, err := client.ShowWithResponse(ctx, push.UrlToken, &ShowParams{Passphrase: new("q")})
	check(t, err)
	want(t, "wrong passphrase", wrong.JSON401.Error, "That passphrase is incorrect.")
	shown, err := client.ShowWithResponse(ctx, push.UrlToken, &ShowParams{Passphrase: new("p")})
	check(t, err)
	want(t, "payload", *shown.JSON200.Payload, "by oapi-codegen")

	preview, err := client.PreviewWithResponse(ctx, push.UrlToken)
	check(t, err)
	want(t, "preview", preview.JSON200.Url, push.HtmlUrl)

	active, err := client.ActiveWithResponse(ctx, nil)
	check(t, err)
	if !slices.ContainsFunc(*active.JSON200, func(p SentPush) bool { return p.UrlToken == push.UrlToken }) {
		t.Error("the push is not among the active ones")
	}

	audit, err := client.AuditWithResponse(ctx, push.UrlToken, nil)
	check(t, err)
	kinds := []AuditEntryKind{}
	for _, entry := range audit.JSON200.Logs {
		kinds = append(kinds, entry.Kind)
	}
	if !slices.Equal(kinds, []AuditEntryKind{"creation", "failed_passphrase", "owner_view"}) {
		t.Errorf("audit: %q", kinds)
	}

	refused, err := client.CreateWithResponse(ctx, nil, NewPushJSON{Push: NewPush{Payload: new("")}})
	check(t, err)
	want(t, "payload that is not accepted", (*refused.JSON422.Payload)[0], "is required")

	deleted, err := client.DeleteWithResponse(ctx, push.UrlToken)
	check(t, err)
	want(t, "deleted", deleted.JSON200.Deleted, true)
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func want[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v instead of %v", what, got, want)
	}
}
