package backup

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"filippo.io/age/armor"

	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/unnamed"
)

func TestAFileIsThereWhenItIsWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	all := content(3 * copyStep)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	spoiled := func(name string) (*os.File, error) { return os.Open(file(t, "something else")) }
	for name, c := range map[string]struct {
		ctx  context.Context
		w    Writer
		from io.Reader
		want error // nil: any
	}{
		"it cannot be read":           {t.Context(), Writer{}, io.MultiReader(bytes.NewReader(all), iotest.ErrReader(broken)), broken},
		"it is shorter than it was":   {t.Context(), Writer{}, bytes.NewReader(all[1:]), nil},
		"it is longer than it was":    {t.Context(), Writer{}, io.MultiReader(bytes.NewReader(all), strings.NewReader("x")), nil},
		"it is interrupted":           {ended, Writer{}, bytes.NewReader(all), context.Canceled},
		"others need the room":        {t.Context(), Writer{CheckSpace: func(string) error { return broken }}, bytes.NewReader(all), broken},
		"something else is read back": {t.Context(), Writer{open: spoiled}, bytes.NewReader(all), nil},
		"it cannot be opened again":   {t.Context(), Writer{open: func(string) (*os.File, error) { return nil, broken }}, bytes.NewReader(all), broken},
	} {
		dir := t.TempDir()
		err := c.w.File(c.ctx, filepath.Join(dir, "box.db"), c.from, int64(len(all)))
		if err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
		wantNames(t, dir)
	}
}

func TestAFileIsForItsOwnerAloneAndReplacesNoneUnlessTold(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "box.db")
	write := func(w Writer, text string) error {
		return w.File(t.Context(), path, strings.NewReader(text), int64(len(text)))
	}
	env.OK(t, write(Writer{}, "first"))
	env.ErrorIs(t, "it replaced a file", write(Writer{}, "second"), fs.ErrExist)
	env.OK(t, write(Writer{Replace: true}, "third"))
	got, err := os.ReadFile(path)
	info, statErr := os.Stat(path)
	if err := errors.Join(err, statErr); err != nil || string(got) != "third" || info.Mode() != 0o600 {
		t.Errorf("%q, %v, %v", got, info.Mode(), err)
	}
	wantNames(t, dir, "box.db")
}

func TestAWriterLooksForRoomAgainAndAgainAndTellsHowFarItIs(t *testing.T) {
	t.Parallel()
	dir, looked, last := t.TempDir(), 0, int64(0)
	const size = (2*stepsPerCheck + 1) * copyStep
	w := Writer{
		CheckSpace: func(d string) error {
			if looked++; d != dir {
				t.Errorf("it looks at %s", d)
			}
			return nil
		},
		Progress: func(done, total int64) {
			if done < last || total != size {
				t.Errorf("%d of %d after %d", done, total, last)
			}
			last = done
		},
	}
	if err := w.File(t.Context(), filepath.Join(dir, "box.db"), bytes.NewReader(make([]byte, size)), size); err != nil || looked != 3 || last != size {
		t.Errorf("it looked %d times, %d bytes were told: %v", looked, last, err)
	}
}

func TestWhatAKilledWriterLeftGoesAndWhatARunningOneHasStays(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, dir, staleAfter+time.Minute, "pushbox-backup.new-1", "pushbox-backup", "pushbox.db.new-2", "notes.new-3")
	put(t, dir, staleAfter-time.Minute, "pushbox-backup.new-4")
	odd := filepath.Join(dir, "pushbox-backup.new-5") // is no file, and cannot be removed
	long := time.Now().Add(-staleAfter - time.Minute)
	env.OK(t, errors.Join(os.MkdirAll(filepath.Join(odd, "x"), 0o700), os.Chtimes(odd, long, long)))
	env.OK(t, (Writer{}).File(t.Context(), filepath.Join(dir, "box.db"), strings.NewReader(""), 0))
	wantNames(t, dir, "box.db", "notes.new-3", "pushbox-backup", "pushbox-backup.new-4", "pushbox-backup.new-5", "pushbox.db.new-2")
}

// A file that no recipient seals has the pages of a database.
func TestAnUnfinishedFileIsOverwrittenUnlessItIsSealed(t *testing.T) {
	t.Parallel()
	ann, _ := newRecipient(t)
	broken := errors.New("broken")
	for name, to := range map[string]Recipients{"in clear": nil, "sealed": recipients(t, ann)} {
		var f unnamed.File
		w := Writer{Recipients: to, open: func(path string) (*os.File, error) {
			f = unnamed.Open(t, path)
			return nil, broken
		}}
		env.ErrorIs(t, name, w.File(t.Context(), filepath.Join(t.TempDir(), "box.db"), strings.NewReader("text"), 4), broken)
		if to == nil {
			f.Want(t, name, "")
		} else if b, err := io.ReadAll(f); err != nil || !bytes.HasPrefix(b, []byte("age-encryption.org")) {
			t.Errorf("%s: %.40q, %v", name, b, err)
		}
	}
}

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
		env.ErrorIs(t, name, err, ErrDamaged)
	}
}

func TestRecipientsAndIdentitiesAreNotTakenForEachOther(t *testing.T) {
	t.Parallel()
	ann, annFile := newRecipient(t)
	secret := env.Read(t, annFile)
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
