package store_test

import (
	"bytes"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store"
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
	content, err := os.ReadFile(f.Path)
	env.OK(t, err)
	if !bytes.Contains(content, full.Digest[:]) || !bytes.Contains(content, []byte(email)) {
		t.Fatal("the sessions are not in the file that was read")
	}
	for _, marker := range markers {
		for _, trace := range traces(marker) {
			if bytes.Contains(content, trace) {
				t.Errorf("it holds %q", trace)
			}
		}
	}
}
