package store_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

// A client changes what belongs to its own account, and nothing that belongs to others
// or to the instance.
func TestAClientChangesOnlyWhatBelongsToItsAccount(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	const hers, his = "ann@example.com", "bob@example.com"
	ann, bob := f.Account(hers), f.Account(his)
	hook, err := f.AddHook(ctx, storetest.Operator, his, store.NewHook{URL: secret.New("https://hooks.example.com"), Events: []record.Event{record.EventView}})
	env.OK(t, err)
	bobs, err := f.CreateToken(ctx, storetest.Operator, his, store.TokenTerms{})
	env.OK(t, err)
	if _, err := f.CreateToken(ctx, bob, his, store.TokenTerms{}); !errors.Is(err, record.ErrDenied) {
		t.Errorf("an account makes a token without its password: %v", err)
	}
	for name, change := range map[string]func(by store.Actor) error{
		"set the password of an account": func(by store.Actor) error {
			return f.SetPassword(ctx, by, his, secret.New("another good password"), false)
		},
		"disable an account": func(by store.Actor) error { return f.SetDisabled(ctx, by, his, true) },
		"rename an account":  func(by store.Actor) error { return f.RenameAccount(ctx, by, his, "eve@example.com") },
		"expire its pushes": func(by store.Actor) error {
			_, err := f.ExpirePushes(ctx, by, his)
			return err
		},
		"remove an account": func(by store.Actor) error { return f.RemoveAccount(ctx, by, his) },
		"reset a factor":    func(by store.Actor) error { return f.ResetFactors(ctx, by, his) },
		"unlink it":         func(by store.Actor) error { return f.Unlink(ctx, by, his) },
		"mail a link":       func(by store.Actor) error { return f.MailPasswordLink(ctx, by, his, "https://push.example.com", "") },
		"create a token": func(by store.Actor) error {
			_, err := f.CreateToken(ctx, by, his, store.TokenTerms{})
			return err
		},
		"revoke a token": func(by store.Actor) error {
			err := f.RevokeToken(ctx, by, bobs.ID)
			if errors.Is(err, record.ErrNotFound) { // the answer does not reveal that it exists
				err = record.ErrDenied
			}
			return err
		},
		"add a webhook": func(by store.Actor) error {
			_, err := f.AddHook(ctx, by, his, store.NewHook{URL: secret.New("https://hooks.example.com"), Events: []record.Event{record.EventView}})
			return err
		},
		"remove a webhook":  func(by store.Actor) error { return f.RemoveHook(ctx, by, hook.ID) },
		"disable a webhook": func(by store.Actor) error { return f.DisableHook(ctx, by, hook.ID, true) },
		"compact": func(by store.Actor) error {
			_, _, err := f.Compact(ctx, by, func(int64, int64) {})
			return err
		},
		"back up": func(by store.Actor) error {
			_, err := f.Backup(ctx, by, "", func(int64, int64) {})
			return err
		},
		"replace the key": func(by store.Actor) error { _, err := f.RotateKey(ctx, by, false, quiet); return err },
	} {
		for who, by := range map[string]store.Actor{"another account": ann, "an anonymous client": anonymous} {
			if err := change(by); !errors.Is(err, record.ErrDenied) {
				t.Errorf("%s, by %s: %v", name, who, err)
			}
		}
	}
	if err := f.SetDisabled(ctx, bob, his, false); !errors.Is(err, record.ErrDenied) {
		t.Errorf("an account enables itself: %v", err)
	}
	if err := f.RevokeToken(ctx, bob, bobs.ID); err != nil {
		t.Errorf("an account revokes a token of its own: %v", err)
	}
	if err := f.DisableHook(ctx, store.Actor{Role: store.System}, hook.ID, true); err != nil {
		t.Errorf("the server disables a webhook: %v", err)
	}
}

// Changes of accounts and of what belongs to them go through one file, which checks the
// permission for all of them.
func TestOneFileAloneHasTheEngineChangeAccounts(t *testing.T) {
	t.Parallel()
	const place = "administration.go"
	changing := map[string]bool{}
	for name := range strings.FieldsSeq(`CreateAccount CreateFirstAccount ChangeAccount RemoveAccount RemoveSession
		CreateToken RemoveToken CreateHook SetHook RemoveHook SetKeyRing AddAdminEvent`) {
		changing[name] = false
	}
	files, err := os.ReadDir(".")
	env.OK(t, err)
	for _, file := range files {
		if !strings.HasSuffix(file.Name(), ".go") || strings.HasSuffix(file.Name(), "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), file.Name(), nil, 0)
		env.OK(t, err)
		ast.Inspect(tree, func(n ast.Node) bool {
			call, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			engine, ok := call.X.(*ast.SelectorExpr)
			ofEngine := ok && engine.Sel.Name == "engine"
			name, ok := call.X.(*ast.Ident)
			_, changes := changing[call.Sel.Name]
			if !ofEngine && !(ok && name.Name == "cold") || !changes && call.Sel.Name != "Update" {
				return true
			}
			if file.Name() != place || !changes {
				t.Errorf("%s calls %s", file.Name(), call.Sel.Name)
			}
			changing[call.Sel.Name] = true
			return true
		})
	}
	for name, called := range changing {
		if !called {
			t.Errorf("%s does not call %s: is that its name?", place, name)
		}
	}
}

// A list of accounts is complete, however many of its numbers no longer have an account.
func TestAccountsAreListedInParts(t *testing.T) {
	t.Parallel()
	storetest.OnEachEngine(t, listsAccountsInParts)
}

func listsAccountsInParts(t *testing.T, engine func(*storetest.Setup)) {
	f := storetest.New(t, engine)
	want := map[record.AccountID]bool{}
	for i := range 2*store.PageSize + 20 {
		address := fmt.Sprintf("user%03d@example.com", i)
		one := f.Account(address)
		if want[one.Account] = true; i%7 == 3 {
			env.OK(t, f.RemoveAccount(ctx, storetest.Operator, address))
			delete(want, one.Account)
		}
	}
	parts, last, before := 0, record.AccountID(1<<63), record.AccountID(0)
	for {
		list, rest, err := f.FindAccounts(ctx, "", before)
		if err != nil || len(list) > store.PageSize {
			t.Fatalf("%d accounts, %v", len(list), err)
		}
		for _, a := range list {
			if a.ID >= last || !want[a.ID] {
				t.Errorf("account %d after %d", a.ID, last)
			}
			last = a.ID
			delete(want, a.ID)
		}
		if parts++; rest == 0 {
			break
		}
		before = rest
	}
	if parts != 3 || len(want) != 0 {
		t.Errorf("%d parts, without %v", parts, want)
	}
	found, rest, err := f.FindAccounts(ctx, " USER11", 0)
	if err != nil || rest != 0 || len(found) != 9 || found[0].Email != "user119@example.com" {
		t.Errorf("%d found, %d, %v", len(found), rest, err)
	}
	ann := f.Account("ann@example.com")
	storetest.PushFiles(t, f, ann, nil, storetest.Content(1, 1000))
	rooms, err := f.AccountRooms(ctx, []record.AccountID{ann.Account, 1, 999})
	if err != nil || len(rooms) != 1 || rooms[ann.Account].Pushes != 1 {
		t.Errorf("they take %v, %v", rooms, err)
	}
}
