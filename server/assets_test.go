package server_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pushbox/internal/testkit/env"
	"pushbox/server/servertest"
)

// codings is a request's header Accept-Encoding.
func codings(value string) http.Header { return http.Header{"Accept-Encoding": {value}} }

func TestAssetsComeCompressedToClientsThatTakeThat(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	paths := regexp.MustCompile(`/assets/[^"]+\.(css|js|svg)`).FindAllString(a.Get("/").Want(http.StatusOK).Body, -1)
	plainSize, zippedSize := 0, 0
	for _, path := range paths {
		plain := a.Get(path, codings("identity")).Want(http.StatusOK)
		zipped := a.Get(path, codings("br, gzip")).Want(http.StatusOK)
		for _, r := range []servertest.Answer{plain, zipped} {
			if r.Header.Get("Vary") != "Accept-Encoding" || r.Header.Get("Cache-Control") != "public, max-age=31536000, immutable" ||
				r.Header.Get("Content-Length") != strconv.Itoa(len(r.Body)) {
				t.Errorf("%s: %v", path, r.Header)
			}
		}
		if plain.Header.Get("Content-Encoding") != "" || zipped.Header.Get("Content-Encoding") != "gzip" {
			t.Errorf("%s: the coding is %q, and compressed %q", path, plain.Header["Content-Encoding"], zipped.Header["Content-Encoding"])
		}
		z, err := gzip.NewReader(strings.NewReader(zipped.Body))
		env.OK(t, err)
		if got, err := io.ReadAll(z); err != nil || !bytes.Equal(got, []byte(plain.Body)) {
			t.Errorf("%s: it is not the same, %v", path, err)
		}
		plainSize, zippedSize = plainSize+len(plain.Body), zippedSize+len(zipped.Body)
	}
	if len(paths) < 3 || zippedSize > plainSize/2 {
		t.Errorf("%d assets have %d bytes, and compressed %d", len(paths), plainSize, zippedSize)
	}
	t.Logf("%d assets have %d bytes, and compressed %d", len(paths), plainSize, zippedSize)
}

func TestPagesWithoutASecretAreCompressed(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	for _, path := range []string{"/", "/help/api"} {
		plain, zipped := a.Get(path).Want(http.StatusOK), a.Get(path, codings("gzip")).Want(http.StatusOK)
		z, err := gzip.NewReader(strings.NewReader(zipped.Body))
		env.OK(t, err)
		got, err := io.ReadAll(z)
		if err != nil || string(got) != plain.Body || len(zipped.Body) > len(plain.Body)/2 || zipped.Header.Get("Content-Length") != strconv.Itoa(len(zipped.Body)) {
			t.Errorf("%s: %d bytes of %d, %v, %v", path, len(zipped.Body), len(plain.Body), zipped.Header, err)
		}
		if r := a.SendForm(map[string]string{"payload": strings.Repeat("secret ", 1000), "expire_after_days": "x"}, codings("gzip")); r.Header.Get("Content-Encoding") != "" {
			t.Error("a form that comes back is compressed")
		}
	}
}

// What a browser loads for the first screen: the page, its styles, scripts and icon. It grew past 30,000
// bytes so that a page of which a part is missing sends nothing in clear, and past 31,000 for drawings and scales of size, and
// past 32,000 for a passphrase and its strength without a fold, and past 33,000 for exact times and who may open it.
func TestTheCreatePageIsSmall(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	size := len(a.Get("/", codings("gzip")).Body)
	for _, path := range regexp.MustCompile(`/assets/[^"]+\.(css|js|svg)`).FindAllString(a.Get("/").Body, -1) {
		if !strings.Contains(path, "words") && !strings.Contains(path, "pieces") { // which the generator and large files load
			size += len(a.Get(path, codings("gzip")).Want(http.StatusOK).Body)
		}
	}
	if size > 33_500 {
		t.Errorf("it is %d bytes", size)
	}
}

// The size of a compressed page would tell something about a secret in it to an attacker who
// can put text into the same page.
func TestWhatMayHoldASecretIsNeverCompressed(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	token := a.Create(`"payload":"` + strings.Repeat("secret ", 1000) + `"`)
	for _, path := range []string{"/p/" + token, "/p/" + token + "/r", "/p/" + token + "/preview", "/api/v2/pushes/" + token + "/preview", "/api/v2/pushes/" + token, a.NewReceipt(), "/users/sign_in", "/p/unknown"} {
		if r := a.Get(path, codings("gzip")); r.Header.Get("Content-Encoding") != "" || r.Header.Get("Vary") != "" && strings.Contains(r.Header.Get("Vary"), "Encoding") {
			t.Errorf("%s: %v", path, r.Header)
		}
	}
}
