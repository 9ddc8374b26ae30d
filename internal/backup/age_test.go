package backup

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"filippo.io/age/armor"

	"pushbox/internal/testkit/env"
)

func TestWhatIsEncryptedOpensForItsRecipientsAlone(t *testing.T) {
	t.Parallel()
	ann, annFile := newRecipient(t)
	bob, bobFile := newRecipient(t)
	_, eveFile := newRecipient(t)
	for _, size := range []int{0, 1, copyStep - 1, copyStep, copyStep + 1, 3*copyStep + 17} {
		plain := content(size)
		sealed := sent(t, Writer{Recipients: recipients(t, ann, bob)}, plain)
		if size > 64 && bytes.Contains(sealed, plain[:64]) {
			t.Error("it is there in clear")
		}
		for _, name := range []string{annFile, bobFile} {
			r, encrypted, err := Decrypt(bytes.NewReader(sealed), identities(t, name))
			if err != nil || !encrypted {
				t.Fatalf("%d bytes: encrypted %t, %v", size, encrypted, err)
			}
			if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, plain) {
				t.Errorf("%d bytes became %d, %v", size, len(got), err)
			}
		}
		for who, c := range map[string]struct {
			with Identities
			want error
		}{"another identity": {identities(t, eveFile), ErrIdentity}, "no identity": {Identities{}, ErrEncrypted}} {
			if _, encrypted, err := Decrypt(bytes.NewReader(sealed), c.with); !encrypted || !errors.Is(err, c.want) {
				t.Errorf("for %s: encrypted %t, %v", who, encrypted, err)
			}
		}
	}
}

func TestWhatIsNotEncryptedIsReadAsItIs(t *testing.T) {
	t.Parallel()
	_, annFile := newRecipient(t)
	for _, plain := range [][]byte{nil, {0}, content(5), content(copyStep + 1)} {
		same := sent(t, Writer{}, plain)
		r, encrypted, err := Decrypt(bytes.NewReader(same), identities(t, annFile))
		if err != nil || encrypted {
			t.Fatalf("encrypted %t, %v", encrypted, err)
		}
		if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, plain) {
			t.Errorf("%d bytes became %d, %v", len(plain), len(got), err)
		}
	}
}

func TestWhatIsArmoredOpens(t *testing.T) {
	t.Parallel()
	ann, annFile := newRecipient(t)
	var text bytes.Buffer
	w := armor.NewWriter(&text)
	_, err := w.Write(sent(t, Writer{Recipients: recipients(t, ann)}, content(1000)))
	env.OK(t, errors.Join(err, w.Close()))
	r, encrypted, err := Decrypt(&text, identities(t, annFile))
	if err != nil || !encrypted {
		t.Fatal(encrypted, err)
	}
	if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, content(1000)) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

func TestWhatWasChangedOrCutIsNotReadToItsEnd(t *testing.T) {
	t.Parallel()
	ann, annFile := newRecipient(t)
	sealed := sent(t, Writer{Recipients: recipients(t, ann)}, content(200_000))
	changed := bytes.Clone(sealed)
	changed[len(changed)-1] ^= 1
	for name, b := range map[string][]byte{"changed": changed, "cut": sealed[:len(sealed)-1], "half": sealed[:len(sealed)/2]} {
		r, _, err := Decrypt(bytes.NewReader(b), identities(t, annFile))
		if err == nil {
			_, err = io.ReadAll(r)
		}
		if !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRecipientsAndIdentitiesAreNotTakenForEachOther(t *testing.T) {
	t.Parallel()
	ann, annFile := newRecipient(t)
	secret, err := os.ReadFile(annFile)
	env.OK(t, err)
	if _, err := ParseRecipients([]string{ann}, []string{annFile}); !errors.Is(err, ErrSecret) || !strings.Contains(err.Error(), annFile) {
		t.Errorf("a file of identities: %v", err)
	}
	for _, text := range []string{string(secret), ann + "x", "age1", "someone@example.com", ""} {
		if _, err := ParseRecipients([]string{text}, nil); err == nil || strings.Contains(err.Error(), "AGE-SECRET-KEY-1") {
			t.Errorf("%d characters: %v", len(text), err)
		}
	}
	for _, text := range []string{ann, "AGE-SECRET-KEY-1?", ""} {
		if _, err := LoadIdentities(file(t, text+"\n")); err == nil || strings.Contains(err.Error(), "?") {
			t.Errorf("a file without an identity: %v", err)
		}
	}
	if all, err := ParseRecipients(nil, []string{file(t, "# ann\n"+ann+"\n\n"+ann+"\n")}); err != nil || len(all) != 2 {
		t.Errorf("a file of two: %d, %v", len(all), err)
	}
	if all, err := ParseRecipients(nil, nil); err != nil || len(all) != 0 {
		t.Errorf("none: %d, %v", len(all), err)
	}
}
