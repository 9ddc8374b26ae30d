package store_test

import (
	"bytes"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

// traces are the forms in which a marker would give itself away.
func traces(marker string) [][]byte {
	all := [][]byte{
		[]byte(marker), []byte(strings.ToUpper(marker)), []byte(strings.ToLower(marker)), []byte(strings.ReplaceAll(marker, "-", "")),
		[]byte(hex.EncodeToString([]byte(marker))), []byte(base64.RawStdEncoding.EncodeToString([]byte(marker))),
	}
	bare := strings.ToUpper(strings.ReplaceAll(marker, "-", ""))
	if raw, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(bare); err == nil {
		all = append(all, raw)
	}
	return all
}

// holdsNone fails the test if the file of a store holds a marker, or lacks what must be there.
func holdsNone(t *testing.T, f *storetest.Fixture, there [][]byte, markers ...string) {
	t.Helper()
	content := env.Read(t, f.Path)
	for _, sealed := range there {
		if !bytes.Contains(content, sealed) {
			t.Fatalf("the file that was read lacks %x", sealed)
		}
	}
	for _, marker := range markers {
		for _, trace := range traces(marker) {
			if bytes.Contains(content, trace) {
				t.Errorf("it holds %q", trace)
			}
		}
	}
}

func TestTheFileHoldsNothingOfASessionInClear(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, unhurried)
	storetest.AddMember(t, f, email)
	by := store.Actor{Client: "203.0.113.77", IP: "203.0.113.77", UserAgent: "canary-agent-4f1c", Referrer: secret.New("https://canary-referrer.example")}
	n, err := f.SignIn(ctx, by, email, secret.New(right))
	env.OK(t, err)
	key, recovery := storetest.EnableTOTP(t, f, &n)
	k := newKeyholder(t, f)
	k.given.Code = recovery[1]
	if _, _, err := k.add(n.Secret, "canary-passkey-77d0"); err != nil {
		t.Fatal(err)
	}
	pending, err := f.SignIn(ctx, by, email, secret.New(right))
	env.OK(t, err)
	full, err := f.SignInCode(ctx, by, pending.Secret, recovery[0])
	env.OK(t, err)
	again, err := f.SignIn(ctx, by, email, secret.New(right))
	env.OK(t, err)
	markers := []string{
		right, by.IP, by.UserAgent, by.Referrer.Reveal(), key.Reveal(), "canary-passkey-77d0", string(k.device.ID),
		n.Secret.Reveal(), pending.Secret.Reveal(), full.Secret.Reveal(), again.Secret.Reveal(),
	}
	for _, c := range recovery {
		markers = append(markers, c.Reveal())
	}
	holdsNone(t, f, [][]byte{full.Digest[:], []byte(email)}, markers...)
}

func TestTheFileHoldsNothingOfAWebhookOrAMessageInClear(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	ann := f.Account("ann@example.com")
	const address = "https://canary-hooks.example/canary-path-77"
	h, err := f.AddHook(ctx, storetest.Operator, "ann@example.com", store.NewHook{URL: secret.New(address), Events: record.Events()})
	env.OK(t, err)
	p := storetest.Push(t, f, ann, func(in *store.NewPush) { in.Name, in.Views = secret.New("canary-name-4f1c"), ptr(1) })
	by := store.Actor{IP: "203.0.113.77", UserAgent: "canary-agent-4f1c"}
	if _, err := f.Retrieve(ctx, by, p.Token, secret.Text{}, nil); err != nil {
		t.Fatal(err)
	}
	due, _, err := f.DueMessages(ctx, dueHooks(9))
	if err != nil || len(due) != 3 {
		t.Fatalf("%d messages are due, %v", len(due), err)
	}
	markers := []string{address, "canary-hooks.example", "canary-path-77", h.Secret.Reveal(), "canary-name-4f1c", by.IP, by.UserAgent, p.Token.Reveal()}
	for _, m := range due {
		n, err := f.OpenNotice(ctx, m)
		env.OK(t, err)
		markers = append(markers, n.ID)
	}
	holdsNone(t, f, [][]byte{due[0].Sealed, h.Sealed}, markers...)
}
