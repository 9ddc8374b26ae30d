package cli

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"pushbox/store"
)

func (a *app) webhook() *cobra.Command {
	return group("webhook", "Manage webhooks, which tell an account what happens to its pushes",
		a.webhookAdd(), a.webhookList(), a.webhookRemove(), a.webhookTest())
}

// hookID reads the ID of a webhook.
func hookID(text string) (store.HookID, error) {
	id, err := strconv.ParseUint(text, 10, 64)
	if err != nil || id == 0 {
		return 0, withHint(usagef("ID is not a number"), "it is the first column of `pushbox webhook list EMAIL`")
	}
	return store.HookID(id), nil
}

// ofHook says which webhook an error is about.
func ofHook(id store.HookID, err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return withHint(fmt.Errorf("webhook %d: %w", id, err), "`pushbox webhook list EMAIL` shows an account's webhooks")
	}
	return err
}
