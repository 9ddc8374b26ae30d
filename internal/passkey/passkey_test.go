package passkey_test

import (
	"errors"
	"strings"
	"testing"

	"pushbox/internal/passkey"
	"pushbox/internal/secret"
	"pushbox/internal/testkit/passkeytest"
)

const origin = "https://push.example.com:8443"

var challenge = []byte("0123456789abcdef")

func site(t testing.TB) passkey.Site {
	t.Helper()
	s, ok := passkey.SiteOf(origin)
	if !ok {
		t.Fatal(origin)
	}
	return s
}

func TestWhereBrowsersHavePasskeys(t *testing.T) {
	t.Parallel()
	for origin, want := range map[string]bool{
		"https://push.example.com": true, "https://push.example.com:8443": true, "https://push": true,
		"http://localhost": true, "http://localhost:5100": true, "http://push.localhost": true,
		"http://push.example.com": false, "https://192.0.2.7": false, "https://[2001:db8::1]": false, "http://127.0.0.1:5100": false,
		"": false, "https://": false, "push.example.com": false, "ftp://push.example.com": false, "https://notlocalhost:x": false, "http://evillocalhost": false,
	} {
		if s, ok := passkey.SiteOf(origin); ok != want || ok && s.Origin() != origin {
			t.Errorf("%q: %v", origin, ok)
		}
	}
}

func TestWhatABrowserIsAskedFor(t *testing.T) {
	t.Parallel()
	s := site(t)
	known := []passkey.Ref{{ID: []byte{0xfb, 0xff}, Transports: []string{"usb"}}}
	for got, want := range map[string]string{
		s.Creation(challenge, passkey.User{Handle: []byte{1}, Name: "ann@example.com"}, known): `{"challenge":"MDEyMzQ1Njc4OWFiY2RlZg","rp":{"id":"push.example.com","name":"push.example.com"},` +
			`"user":{"id":"AQ","name":"ann@example.com","displayName":"ann@example.com"},` +
			`"pubKeyCredParams":[{"type":"public-key","alg":-7},{"type":"public-key","alg":-8},{"type":"public-key","alg":-257}],` +
			`"excludeCredentials":[{"type":"public-key","id":"-_8","transports":["usb"]}],` +
			`"authenticatorSelection":{"residentKey":"preferred","userVerification":"preferred"},"attestation":"none"}`,
		s.Request(challenge, known): `{"challenge":"MDEyMzQ1Njc4OWFiY2RlZg","rpId":"push.example.com","allowCredentials":[{"type":"public-key","id":"-_8","transports":["usb"]}],"userVerification":"preferred"}`,
		s.Request(challenge, nil):   `{"challenge":"MDEyMzQ1Njc4OWFiY2RlZg","rpId":"push.example.com","allowCredentials":[],"userVerification":"required"}`,
	} {
		if got != want {
			t.Errorf("%s\nnot\n%s", got, want)
		}
	}
}

// Whatever an answer says, it is refused in one way, without its texts, and ends nothing.
func FuzzAnswers(f *testing.F) {
	d := passkeytest.New(f, origin)
	s := site(f)
	created, used := d.Create(s.Creation(challenge, passkey.User{Handle: []byte{1}, Name: "ann"}, nil)), d.Get(s.Request(challenge, nil))
	for _, text := range []string{created, used, "", "{}", "null", `{"id":"AA","rawId":"AA","type":"public-key","response":{}}`, strings.ReplaceAll(created, "o2", "gg")} {
		f.Add(text)
	}
	key := d.PublicKey()
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := s.Made(secret.New(text), challenge); err != nil && !errors.Is(err, passkey.ErrAnswer) || text == created && err != nil {
			t.Errorf("made: %v", err)
		}
		u, err := passkey.ReadUse(secret.New(text))
		if err == nil {
			_, err = u.Check(s, challenge, key, true)
		}
		if err != nil && !errors.Is(err, passkey.ErrAnswer) || text == used && err != nil {
			t.Errorf("used: %v", err)
		}
	})
}
