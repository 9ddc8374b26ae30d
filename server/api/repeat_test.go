package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/internal/testkit/env"
	"pushbox/server/servertest"
)

const aKey = "order-4711-0123456789abcdef"

func withKey(key string) http.Header { return http.Header{"Idempotency-Key": {key}} }

// wantRepeated fails the test unless an answer is that of the first create again, or of another push.
func wantRepeated(t *testing.T, name string, first, got servertest.Answer, repeated bool) {
	t.Helper()
	got.Want(http.StatusCreated)
	same := got.Text("url_token") == first.Text("url_token") && got.Body == first.Body
	if says := got.Header.Get("Idempotency-Replayed") == "true"; says != repeated || same != repeated {
		t.Errorf("%s: repeated %t, the same %t: %s", name, says, same, got.Body)
	}
}

func TestACreateIsRepeated(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ann, bob := a.AddTokenUser("ann@example.com"), a.AddTokenUser("bob@example.com")
	const body = `{"push":{"payload":"s3cret","passphrase":"1234","name":"n","networks":["10.0.0.0/8"]}}`
	first := a.Do("POST", pushes, body, ann, withKey(aKey)).Want(http.StatusCreated)
	wantRepeated(t, "again", first, a.Do("POST", pushes, body, ann, withKey(aKey)), true)
	wantRepeated(t, "in quotation marks", first, a.Do("POST", pushes, body, ann, withKey(`"`+aKey+`"`)), true)
	wantRepeated(t, "another order of fields", first, a.Do("POST", pushes, `{"push":{"networks":["10.0.0.0/8"],"name":"n","payload":"s3cret","passphrase":"1234"}}`, ann, withKey(aKey)), true)
	wantRepeated(t, "another key", first, a.Do("POST", pushes, body, ann, withKey(aKey+"x")), false)
	wantRepeated(t, "no key", first, a.Do("POST", pushes, body, ann), false)
	wantRepeated(t, "another account", first, a.Do("POST", pushes, body, bob, withKey(aKey)), false)
	anonymous := a.Do("POST", pushes, body, withKey(aKey))
	wantRepeated(t, "no account", first, anonymous, false)
	wantRepeated(t, "no account again", anonymous, a.Do("POST", pushes, body, withKey(aKey)), true)
	elsewhere := http.Header{"X-Forwarded-For": {"203.0.113.7"}}
	wantRepeated(t, "another network", anonymous, a.Do("POST", pushes, body, withKey(aKey), elsewhere), false)

	log := a.Get(pushes+"/"+first.Text("url_token")+"/audit", ann).Want(http.StatusOK)
	if n := strings.Count(log.Body, `"kind"`); n != 1 {
		t.Errorf("its log has %d entries: %s", n, log.Body)
	}
	for _, other := range []string{
		`{"push":{"payload":"s3cret","passphrase":"1235","name":"n"}}`, `{"push":{"payload":"s3cret","passphrase":"1234"}}`,
		`{"push":{"payload":"s3cret","passphrase":1234,"name":"n","networks":["10.0.0.0/8"]}}`, `{"push":{"payload":"s3cret","passphrase":"1234","name":"n","note":"","networks":["10.0.0.0/8"]}}`,
		`{"push":{"payload":"s3cret","passphrase":"1234","name":"n","networks":["10.0.0.0/9"]}}`,
	} {
		got := a.Do("POST", pushes, other, ann, withKey(aKey))
		if fields := got.Invalid(); !slices.Equal(fields, []string{"Idempotency-Key"}) {
			t.Errorf("%s: %d %s", other, got.Status, got.Body)
		}
	}
	_ = a.Do("DELETE", pushes+"/"+first.Text("url_token"), "", ann).Want(http.StatusOK)
	ended := a.Do("POST", pushes, body, ann, withKey(aKey)).Want(http.StatusCreated)
	ended.Has(map[string]string{"url_token": first.Text("url_token"), "expired": "true", "name": "n"})
}

func TestVersion1TakesKeys(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ann := a.AddTokenUser("ann@example.com")
	const body = `{"password":{"payload":"s3cret"}}`
	first := a.Do("POST", "/p.json", body, ann, withKey(aKey)).Want(http.StatusCreated)
	wantRepeated(t, "again", first, a.Do("POST", "/p.json", body, ann, withKey(aKey)), true)
	a.Do("POST", pushes, `{"push":{"payload":"s3cret"}}`, ann, withKey(aKey)).Want(http.StatusUnprocessableEntity)
}

func TestKeysHaveBounds(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	long := strings.Repeat("k", 300)
	for key, ok := range map[string]bool{
		long[:15]: false, long[:16]: true, long[:255]: true, long[:256]: false, "": false,
		`"` + long[:15] + `"`: false, `"` + long[:16] + `"`: true, `"` + long[:255] + `"`: true, `"` + long[:256] + `"`: false,
		"a key with spaces": true, "a key with ümläuts": false, "a key with\ta tab": false, "~!#$%&'()*+,-./:;<=>?@[]^_`{|}": true,
	} {
		got := a.Do("POST", pushes, `{"push":{"payload":"x"}}`, withKey(key))
		if want := map[bool]int{true: http.StatusCreated, false: http.StatusBadRequest}[ok]; got.Status != want {
			t.Errorf("%q: %d %s", key, got.Status, got.Body)
		}
		if !ok && !strings.Contains(got.Body, "16 to 255 printable ASCII characters") {
			t.Errorf("%q: %s", key, got.Body)
		}
	}
	a.Do("POST", pushes, `{"push":{"payload":"x"}}`, http.Header{"Idempotency-Key": {aKey, aKey}}).Want(http.StatusBadRequest)
}

func TestAFailedCreateCanBeMendedUnderItsKey(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	a.Do("POST", pushes, `{"push":{"payload":""}}`, withKey(aKey)).Want(http.StatusUnprocessableEntity)
	a.Do("POST", pushes, `{"push":{"payload":"x"`, withKey(aKey)).Want(http.StatusBadRequest)
	a.Do("POST", pushes, `{"push":{"payload":"x"}}`, withKey(aKey)).Want(http.StatusCreated)
}

func TestAnUploadIsRepeated(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ann := a.AddTokenUser("ann@example.com")
	file := func(name, media string, size int) servertest.File {
		return servertest.File{Name: name, Media: media, Content: servertest.BytesOf(size)}
	}
	p := servertest.FilePush{Files: []servertest.File{file("a.bin", "text/plain", 200_000), file("b.bin", "text/plain", 7)}, Before: map[string]string{"name": "n"}}
	for kind, encode := range servertest.FileKinds {
		send := func(p servertest.FilePush) servertest.Answer {
			contentType, body := encode(p)
			key := withKey(fmt.Sprintf("%s of %s", aKey, kind))
			return a.Post(contentType, body, http.Header{"Authorization": ann["Authorization"], "Idempotency-Key": key["Idempotency-Key"]})
		}
		first := send(p).Want(http.StatusCreated)
		wantRepeated(t, kind, first, send(p), true)
		for what, files := range map[string][]servertest.File{
			"another name":    {file("c.bin", "text/plain", 200_000), p.Files[1]},
			"another type":    {file("a.bin", "text/html", 200_000), p.Files[1]},
			"another size":    {file("a.bin", "text/plain", 200_001), p.Files[1]},
			"one file":        {p.Files[0]},
			"another order":   {p.Files[1], p.Files[0]},
			"another content": {{Name: "a.bin", Media: "text/plain", Content: append(servertest.BytesOf(199_999), 'x')}, p.Files[1]},
		} {
			other := p
			other.Files = files
			if got := send(other); got.Status != http.StatusUnprocessableEntity {
				t.Errorf("%s, %s: %d %s", kind, what, got.Status, got.Body)
			}
		}
		a.WantFiles(first.Text("url_token"), p.Files...)
	}
}

// The first create may have used up the room: its repeat uses none.
func TestARepeatNeedsNoRoom(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, func(c *config.Config) { c.Limits.AccountBytes = 300_000 })
	ann := a.AddTokenUser("ann@example.com")
	contentType, body := servertest.FileKinds["multipart"](servertest.FilePush{Files: []servertest.File{{Name: "a", Media: "text/plain", Content: servertest.BytesOf(200_000)}}})
	send := func(key string) servertest.Answer {
		return a.Post(contentType, body, http.Header{"Authorization": ann["Authorization"], "Idempotency-Key": {key}})
	}
	first := send(aKey).Want(http.StatusCreated)
	if got := send(aKey + "x"); got.Status != http.StatusTooManyRequests {
		t.Errorf("another push: %d %s", got.Status, got.Body)
	}
	wantRepeated(t, "again", first, send(aKey), true)
}

// A lost answer is what keys are for: the client goes away, and asks again.
func TestOfManyRequestsAtOnceOneMakesThePush(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	answers := make(chan servertest.Answer, 8)
	for range cap(answers) {
		go func() {
			answers <- a.Do("POST", pushes, `{"push":{"payload":"s3cret","passphrase":"p"}}`, withKey(aKey))
		}()
	}
	made := make(map[string]bool)
	first := 0
	for range cap(answers) {
		got := (<-answers).Want(http.StatusCreated)
		made[got.Text("url_token")] = true
		if got.Header.Get("Idempotency-Replayed") == "" {
			first++
		}
	}
	if len(made) != 1 || first != 1 {
		t.Errorf("%d pushes, %d times the first", len(made), first)
	}
	if c := env.Must(a.Store.Count(ctx))(t); c.Pushes != 1 {
		t.Errorf("the store has %d", c.Pushes)
	}
}
