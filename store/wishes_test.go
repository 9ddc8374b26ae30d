package store_test

import (
	"errors"
	"strings"
	"testing"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

func TestANameIsNothingButAName(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	storetest.AddMember(t, f, email)
	n := storetest.SignIn(t, f)
	for name, ok := range map[string]bool{
		"":                        true,
		"Ann":                     true,
		"J.R. O’Neil-Smith, Ph.D": true,
		"Smith & Sons":            true,
		"山田 太郎":                   true,
		"بن علي":                  true,
		strings.Repeat("ä", store.MaxAccountName):   true,
		strings.Repeat("ä", store.MaxAccountName+1): false,
		"<b>Ann</b>":               false,
		"ann@bank.example":         false,
		"Ann (ann at bank)":        false,
		"bank.example":             false,
		"visit: bank.example":      false,
		"www.a.bank.example!":      false,
		"https://x":                false,
		"Ann\u202egro.knab":        false, // a bidirectional override
		"Ann\u200b":                false, // a space without width
		"Ann\x07":                  false,
		"Ann\xff":                  false,
		"Zoë ❤️":                   true,
		"Boss （boss＠bank．example）": false, // full-width characters, which programs may read as plain ones
		"boss＠bank":                false,
		"bank．example":             false,
		"bank。example":             false,
		"bank\u2024example":        false, // a leader of one dot
		"\u3164":                   false, // fillers
		"Ann\u115f":                false,
		"Ann\u2800":                false,
	} {
		var bad *record.InvalidError
		err := f.SetWishes(ctx, anonymous, n.Secret, store.Wishes{Name: name})
		if ok && err != nil || !ok && (!errors.As(err, &bad) || bad.Fields[store.FieldName] == nil) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if err := f.SetWishes(ctx, anonymous, secret.New("no session"), store.Wishes{}); !errors.Is(err, record.ErrSession) {
		t.Errorf("without a session: %v", err)
	}
}

// wish has the account of a session say what its user wishes.
func wish(t *testing.T, f *storetest.Fixture, session store.NewSession, w store.Wishes) {
	t.Helper()
	env.OK(t, f.SetWishes(ctx, anonymous, session.Secret, w))
}

func TestRecipientsSeeTheNameOfAConfirmedAccountWithItsAddress(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, sendsMail)
	a := storetest.AddMember(t, f, email)
	n := storetest.SignIn(t, f)
	p, err := f.CreatePush(ctx, store.Actor{Account: a.ID}, store.NewPush{Kind: record.Text, Payload: secret.New("x")})
	env.OK(t, err)
	sender := func() store.Sender {
		t.Helper()
		v, err := f.Look(ctx, p.Token)
		env.OK(t, err)
		return v.Sender
	}
	if got := sender(); got != (store.Sender{}) {
		t.Errorf("without a name recipients see %v", got)
	}
	wish(t, f, n, store.Wishes{Name: "  Ann   Lee ", Language: "fr"})
	if got := sender(); got != (store.Sender{Name: "Ann Lee", Email: email}) {
		t.Errorf("recipients see %v", got)
	}
	if _, err := f.MailPush(ctx, store.Actor{Account: a.ID}, p.Token, *mailing("bob@example.net")); err != nil {
		t.Fatal(err)
	}
	if got := letters(t, f); len(got) != 1 || got[0].Sender != "Ann Lee ("+email+")" || got[0].Language != "de" {
		t.Errorf("the mails are %v", got)
	}
	env.OK(t, f.RenameAccount(ctx, storetest.Operator, email, "eve@example.net"))
	if got, err := f.AccountByID(ctx, a.ID); err != nil || got.Name != "" || got.Language != "" || sender() != (store.Sender{}) {
		t.Errorf("after a new address: %+v, %v", got, err)
	}
}

func TestAnAddressThatIsNotConfirmedHasNoNameForRecipients(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	a, err := f.SignUp(ctx, anonymous, email, secret.New(right))
	env.OK(t, err)
	wish(t, f, storetest.SignIn(t, f), store.Wishes{Name: "Your Bank"})
	p, err := f.CreatePush(ctx, store.Actor{Account: a.ID}, store.NewPush{Kind: record.Text, Payload: secret.New("x")})
	env.OK(t, err)
	if v, err := f.Look(ctx, p.Token); err != nil || v.Sender != (store.Sender{}) {
		t.Errorf("recipients see %v, %v", v.Sender, err)
	}
	env.OK(t, f.ConfirmAccount(ctx, storetest.Operator, email))
	if v, err := f.Look(ctx, p.Token); err != nil || v.Sender.Name != "Your Bank" {
		t.Errorf("then recipients see %v, %v", v.Sender, err)
	}
}
