package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

// refusedRequests is a client that wants to fill the log: each of its requests is refused, and
// they are far more than the lines that its log may have.
func refusedRequests(ctx context.Context, v *victim) []line {
	const many = 3000
	c := v.repeat(ctx, many, func(int) ask { return ask{from: attacker, path: "/p/x"} })
	v.stop()
	lines := v.log()
	size := len(bytes.Join(lines, nil))
	return []line{{"attacker", c.String()}, {"the log", fmt.Sprintf("%d lines, %d KB", len(lines), size/1000)}}
}

func field(name, text string) string {
	return "--b\r\nContent-Disposition: form-data; name=\"push[" + name + "]\"\r\n\r\n" + text + "\r\n"
}

// formOfFile is a form with a file, whose content and end are missing.
const formOfFile = "--b\r\nContent-Disposition: form-data; name=\"push[files][]\"; filename=\"f\"\r\n\r\n"

// freshAccount is a person who signs up with an address of another, and sends files.
func freshAccount(ctx context.Context, v *victim) []line {
	const many, size = 15, 8 << 20
	cookies := v.signUp(ctx, attacker, "eve@example.com", "correct horse battery")
	parts := field("kind", "file") + field("payload", "") + field("expire_after_days", "7") + field("expire_after_views", "5")
	parts += formOfFile + strings.Repeat("x", size) + "\r\n--b--\r\n"
	c := v.repeat(ctx, many, func(int) ask { return ask{from: attacker, path: "/", multipart: parts, cookies: cookies} })
	other := v.do(ctx, 0, creating(recipient, "s3cret", ""))
	return []line{
		{"attacker", fmt.Sprintf("%d of %d files of 8 MiB are stored", c.of[http.StatusSeeOther], many)},
		{"sender elsewhere", fmt.Sprintf("a push: %d", other.status)},
	}
}

// longKeys has the link of a request, and sends answers with a key that is no key, as long as a
// form allows.
func longKeys(ctx context.Context, v *victim) []line {
	const many, keySize = 10, 5_900_000
	link := v.requests(ctx, 1)[0]
	size := func() int64 {
		info, err := os.Stat(filepath.Join(v.data, "pushbox.db"))
		if err != nil {
			v.fail(err)
			return 0
		}
		return info.Size()
	}
	before := size()
	key := base64.RawURLEncoding.EncodeToString(bytes.Repeat([]byte{7}, keySize))
	body := field("payload", "x") + field("wrapped_key", key) + "--b--\r\n"
	c := v.repeat(ctx, many, func(int) ask { return ask{from: attacker, path: link, multipart: body} })
	return []line{
		{"attacker", c.String()},
		{"the database", fmt.Sprintf("%d MB more", (size()-before)/1_000_000)},
	}
}
