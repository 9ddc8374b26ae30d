package admin

import (
	"context"

	"pushbox/store"
)

// The operations on accounts.
var (
	// UserAdd adds an account: *store.InvalidError, store.ErrExists.
	UserAdd = Op[Credentials, User]{name: "user/add", do: userAdd}
	// UserList lists every account, oldest first.
	UserList = Op[None, []User]{name: "user/list", do: userList}
	// UserPasswd replaces a password and ends the account's sessions:
	// *store.InvalidError, store.ErrNotFound.
	UserPasswd = Op[Credentials, None]{name: "user/passwd", do: userPasswd}
	// UserResetMFA takes an account's second factor away: store.ErrNotFound.
	UserResetMFA = Op[Address, None]{name: "user/reset-mfa", do: userResetMFA}
	// UserDisable makes every token and session of an account invalid:
	// store.ErrNotFound.
	UserDisable = Op[Address, None]{name: "user/disable", do: userDisable}
	// UserEnable undoes UserDisable: store.ErrNotFound.
	UserEnable = Op[Address, None]{name: "user/enable", do: userEnable}
	// UserRemove removes an account with its tokens, its pushes and their audit
	// logs: store.ErrNotFound.
	UserRemove = Op[Address, None]{name: "user/remove", do: userRemove}
)

// The operations on API tokens, and on the whole.
var (
	// TokenCreate makes a token: *store.InvalidError, store.ErrNotFound.
	TokenCreate = Op[TokenRequest, NewToken]{name: "token/create", do: tokenCreate}
	// TokenList lists an account's tokens, oldest first: store.ErrNotFound.
	TokenList = Op[Address, []Token]{name: "token/list", do: tokenList}
	// TokenRevoke ends a token at once: store.ErrNotFound.
	TokenRevoke = Op[TokenRef, None]{name: "token/revoke", do: tokenRevoke}
	// Check reads the whole store and returns a sentence for each thing that is
	// wrong.
	Check = Op[None, []string]{name: "check", do: check}
	// CheckDeep is Check that also compares all payloads and files with their
	// digests, and tells how many bytes it has read.
	CheckDeep = Op[None, DeepResult]{name: "check/deep", long: checkDeep}
	// Compact gives the space that the database does not use back to the file
	// system, and tells how many bytes it has copied: store.ErrBusy if a
	// compaction runs, store.ErrFull if there is no room for the copy.
	Compact = Op[None, CompactResult]{name: "compact", long: compact}
	// Backup makes a verified copy of the store in a file beside the database, which
	// is whoever asked for it to move away or remove, and tells how many bytes it has
	// copied: store.ErrBusy if a compaction or a backup runs, store.ErrFull if there
	// is no room for the copy.
	Backup = Op[None, BackupResult]{name: "backup", long: backup}
)

// operations is every operation that a server answers.
func operations() []operation {
	return []operation{
		UserAdd, UserList, UserPasswd, UserResetMFA, UserDisable, UserEnable, UserRemove,
		TokenCreate, TokenList, TokenRevoke, Check, CheckDeep, Compact, Backup,
		KeyID, KeyRotate,
		WebhookAdd, WebhookList, WebhookRemove, WebhookTarget, WebhookEnable,
	}
}

func userAdd(ctx context.Context, s *store.Store, in Credentials) (User, error) {
	a, err := s.AddAccount(ctx, in.Email, in.Password.Text)
	return newUser(a), err
}

func userList(ctx context.Context, s *store.Store, _ None) ([]User, error) {
	accounts, err := s.Accounts(ctx)
	return each(accounts, newUser), err
}

func userPasswd(ctx context.Context, s *store.Store, in Credentials) (None, error) {
	return None{}, s.SetPassword(ctx, in.Email, in.Password.Text)
}

func userResetMFA(ctx context.Context, s *store.Store, in Address) (None, error) {
	return None{}, s.ResetTOTP(ctx, in.Email)
}

func userDisable(ctx context.Context, s *store.Store, in Address) (None, error) {
	return None{}, s.SetDisabled(ctx, in.Email, true)
}

func userEnable(ctx context.Context, s *store.Store, in Address) (None, error) {
	return None{}, s.SetDisabled(ctx, in.Email, false)
}

func userRemove(ctx context.Context, s *store.Store, in Address) (None, error) {
	return None{}, s.RemoveAccount(ctx, in.Email)
}

func tokenCreate(ctx context.Context, s *store.Store, in TokenRequest) (NewToken, error) {
	t, err := s.CreateToken(ctx, in.Email, in.Label, in.Lifetime)
	return NewToken{Token: newToken(t.APIToken), Secret: Clear{t.Secret}}, err
}

func tokenList(ctx context.Context, s *store.Store, in Address) ([]Token, error) {
	tokens, err := s.Tokens(ctx, in.Email)
	return each(tokens, newToken), err
}

func tokenRevoke(ctx context.Context, s *store.Store, in TokenRef) (None, error) {
	return None{}, s.RevokeToken(ctx, in.ID)
}

func check(ctx context.Context, s *store.Store, _ None) ([]string, error) {
	return s.Check(ctx)
}

func compact(ctx context.Context, s *store.Store, _ None, tell Progress) (CompactResult, error) {
	before, after, err := s.Compact(ctx, tell)
	return CompactResult{Before: before, After: after}, err
}

func each[From, To any](list []From, f func(From) To) []To {
	out := make([]To, len(list))
	for i, v := range list {
		out[i] = f(v)
	}
	return out
}
