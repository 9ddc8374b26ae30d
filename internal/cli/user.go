package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"pushbox/store"
)

func (a *app) user() *cobra.Command {
	return group("user", "Manage accounts",
		a.userAdd(), a.userList(), a.userPasswd(), a.userResetMFA(), a.userDisable(), a.userEnable(), a.userRemove())
}

// ofAccount says which account an error is about.
func ofAccount(email string, err error) error {
	switch {
	case errors.Is(err, store.ErrNotFound):
		return withHint(fmt.Errorf("account %s: %w", email, err), "`pushbox user list` shows every account")
	case errors.Is(err, store.ErrExists):
		return withHint(fmt.Errorf("account %s: %w", email, err), "`pushbox user passwd %s` sets another password", email)
	default:
		return ofInput(err)
	}
}

// ofInput tells what to do about an input that was refused.
func ofInput(err error) error {
	if invalid := (*store.InvalidError)(nil); errors.As(err, &invalid) {
		return withHint(err, "correct it and run the command again")
	}
	return err
}
