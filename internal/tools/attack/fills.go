package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// manyRequests is how often one client is refused: far more lines than its log may have.
const manyRequests = 3000

// refusedRequests is a client that wants to fill the log: each of its requests is refused.
func refusedRequests(ctx context.Context, v *victim) ([]line, error) {
	var c counter
	for range manyRequests {
		status, _, err := v.do(ctx, ask{from: attacker, path: "/p/x"})
		if err != nil {
			return nil, err
		}
		c.add(status)
	}
	v.stop()
	lines, size := 0, 0
	for l := range bytes.Lines(v.said.Bytes()) {
		lines, size = lines+1, size+len(l)
	}
	return []line{{"attacker", c.String()}, {"the log", fmt.Sprintf("%d lines, %d KB", lines, size/1000)}}, nil
}

const (
	manyFiles = 15
	fileSize  = 8 << 20
)

// field is a part of a form with parts: a field of a push.
func field(name, text string) string {
	return "--b\r\nContent-Disposition: form-data; name=\"push[" + name + "]\"\r\n\r\n" + text + "\r\n"
}

// freshAccount is a person who signs up with an address of another, and sends files.
func freshAccount(ctx context.Context, v *victim) ([]line, error) {
	form := url.Values{"email": {"eve@example.com"}, "password": {"correct horse battery"}}
	if status, _, err := v.do(ctx, ask{from: attacker, path: "/users/sign_up", form: form}); err != nil || status != http.StatusSeeOther {
		return nil, fmt.Errorf("sign up: status %d, %w", status, err)
	}
	status, res, err := v.do(ctx, ask{from: attacker, path: "/users/sign_in", form: form})
	if err != nil || status != http.StatusSeeOther {
		return nil, fmt.Errorf("sign in: status %d, %w", status, err)
	}
	parts := ""
	for name, text := range map[string]string{"kind": "file", "payload": "", "expire_after_days": "7", "expire_after_views": "5"} {
		parts += field(name, text)
	}
	parts += formOfFile + strings.Repeat("x", fileSize) + "\r\n--b--\r\n"
	taken := 0
	for range manyFiles {
		status, _, err := v.do(ctx, ask{from: attacker, path: "/", multipart: parts, cookies: res.Cookies()})
		if err != nil {
			return nil, err
		}
		if status == http.StatusSeeOther {
			taken++
		}
	}
	other, _, err := v.create(ctx, recipient, "s3cret", "")
	return []line{
		{"attacker", fmt.Sprintf("%d of %d files of 8 MiB are stored", taken, manyFiles)},
		{"sender elsewhere", fmt.Sprintf("a push: %d", other)},
	}, err
}

// freeze gives wrong passphrases for a push of a sender without an account, until no passphrase
// opens it. The sender has the receipt.
func freeze(ctx context.Context, v *victim) ([]line, error) {
	form := url.Values{
		"push[kind]": {"text"}, "push[payload]": {"s3cret"}, "push[passphrase]": {"4711"},
		"push[expire_after_days]": {"7"}, "push[expire_after_views]": {"5"},
	}
	status, res, err := v.do(ctx, ask{from: recipient, path: "/", form: form})
	if err != nil || status != http.StatusSeeOther {
		return nil, fmt.Errorf("create: status %d, %w", status, err)
	}
	receipt := res.Header.Get("Location")
	token, _, _ := strings.Cut(strings.TrimPrefix(receipt, "/p/"), "/")
	for n := range maxGuesses {
		status, _, err := v.open(ctx, fmt.Sprintf("10.%d.0.1", n), token, "wrong")
		if err != nil {
			return nil, err
		}
		if status != http.StatusUnauthorized {
			break
		}
	}
	during, _, err := v.open(ctx, recipient, token, "4711")
	if err != nil {
		return nil, err
	}
	if _, _, err = v.do(ctx, ask{from: recipient, path: receipt + "/thaw", form: url.Values{}}); err != nil {
		return nil, err
	}
	after, _, err := v.open(ctx, recipient, token, "4711")
	return []line{
		{"recipient who is the first", fmt.Sprintf("right PIN: %d", during)},
		{"the same, after the sender used the button of the receipt", fmt.Sprintf("right PIN: %d", after)},
	}, err
}

const (
	manyAnswers = 10
	keySize     = 5_900_000 // bytes: a form may be little longer
)

// longKeys has the link of a request, and sends answers with a key that is no key.
func longKeys(ctx context.Context, v *victim) ([]line, error) {
	link, err := v.request(ctx)
	if err != nil {
		return nil, err
	}
	size := func() (int64, error) {
		info, err := os.Stat(filepath.Join(v.data, "pushbox.db"))
		if err != nil {
			return 0, err
		}
		return info.Size(), nil
	}
	before, err := size()
	if err != nil {
		return nil, err
	}
	key := base64.RawURLEncoding.EncodeToString(bytes.Repeat([]byte{7}, keySize))
	body := field("payload", "x") + field("wrapped_key", key) + "--b--\r\n"
	var c counter
	for range manyAnswers {
		status, _, err := v.do(ctx, ask{from: attacker, path: link, multipart: body})
		if err != nil {
			return nil, err
		}
		c.add(status)
	}
	after, err := size()
	return []line{
		{"attacker", c.String()},
		{"the database", fmt.Sprintf("%d MB more", (after-before)/1_000_000)},
	}, err
}
