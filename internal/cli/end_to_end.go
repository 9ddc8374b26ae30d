package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"os"
	"path/filepath"
	"strings"

	"pushbox/internal/client"
	"pushbox/internal/endtoend"
	"pushbox/internal/hint"
	"pushbox/internal/secret"
	"pushbox/store"
)

// encryptPush replaces text and files of a push by what they are under a new key.
func encryptPush(in *client.NewPush) (key endtoend.Key, err error) {
	if in.Payload.Len() > endtoend.MaxText {
		return key, hint.With(fmt.Errorf("the text is longer than %d bytes, the most that fit when encrypted", endtoend.MaxText), "push it as a file: pushbox push --end-to-end FILE")
	}
	key = endtoend.NewKey()
	content := endtoend.Content{Text: in.Payload}
	for i, f := range in.Files {
		content.Files = append(content.Files, endtoend.File{Name: f.Name, Type: mime.TypeByExtension(filepath.Ext(f.Name))})
		size := f.Size
		if size >= 0 {
			size = endtoend.EncryptedSize(size)
		}
		in.Files[i] = client.Upload{Name: fmt.Sprintf("%d.bin", i+1), Size: size, Content: encryptedFile{key.Encrypt(i+1, f.Content), f.Content}}
	}
	in.Payload, err = key.Seal(content)
	if err == nil && in.Payload.Len() > store.MaxText {
		err = hint.With(errors.New("the names of the files are too long"), "rename them, or push fewer at once")
	}
	return key, err
}

// An encryptedFile is read encrypted; to close it closes the file.
type encryptedFile struct {
	io.Reader
	io.Closer
}

// linkWithKey adds a key to a link that a server gave.
func linkWithKey(link secret.Text, key endtoend.Key) string {
	if key.IsZero() {
		return link.Reveal()
	}
	address, _, _ := strings.Cut(link.Reveal(), "#")
	return address + "#" + key.Fragment().Reveal()
}

// readLink reads the argument LINK of get, or standard input if that is "-". The key is
// zero if the link has none.
func (a *app) readLink(ctx context.Context, arg string) (l client.Link, key endtoend.Key, err error) {
	address, fragment, has, err := a.readAddress(ctx, arg)
	if err != nil {
		return l, key, err
	}
	if l, err = parseLink(address); err != nil || !has {
		return l, key, err
	}
	if key, err = endtoend.ParseFragment(fragment); err != nil {
		err = hint.With(err, "copy the whole link, in quotes, or ask the sender for it; nothing was retrieved yet")
	}
	return l, key, err
}

// readAddress splits an argument, or the link on standard input if that is "-", at "#".
// has reports whether there is a fragment.
func (a *app) readAddress(ctx context.Context, arg string) (address, fragment string, has bool, err error) {
	if arg == "-" {
		var text secret.Text
		if a.console.terminal {
			text, err = a.console.hidden(ctx, "Link: ")
		} else if text, err = readLine(a.console.in); err != nil {
			err = hint.With(fmt.Errorf("the link on standard input: %w", err), "pass the link alone, in one line")
		}
		if err != nil {
			return "", "", false, err
		}
		arg = text.Reveal()
	}
	address, fragment, has = strings.Cut(arg, "#")
	return address, fragment, has, nil
}

// decryptPush replaces what a server has of a push by what the sender encrypted.
// Without a key it changes nothing.
func decryptPush(p *client.Push, key endtoend.Key) error {
	if key.IsZero() {
		return nil
	}
	content, err := key.Open(p.Payload)
	if err == nil && len(content.Files) != len(p.Files) {
		err = endtoend.ErrOpen
	}
	if err != nil {
		return err
	}
	p.Payload = content.Text
	for i := range p.Files {
		p.Files[i].Name = content.Files[i].Name
	}
	return nil
}

// A decryptedFile decrypts what is downloaded into it.
type decryptedFile struct {
	*os.File
	decrypter *endtoend.Decrypter
}

// Write takes the next part of the encrypted file.
func (d decryptedFile) Write(p []byte) (int, error) { return d.decrypter.Write(p) }

// Truncate drops everything: a download begins again with the first byte, or not at all.
func (d decryptedFile) Truncate(int64) error {
	d.decrypter.Reset()
	return d.File.Truncate(0)
}
