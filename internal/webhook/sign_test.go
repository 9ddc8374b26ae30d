package webhook

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"pushbox/internal/secret"
	"pushbox/server"
)

func TestTimesAreThoseOfTheAPI(t *testing.T) {
	t.Parallel()
	if timeFormat != server.StampLayout {
		t.Errorf("webhooks write times as %s, the API as %s", timeFormat, server.StampLayout)
	}
}

// The example of the specification's own libraries.
func TestTheSignatureIsThatOfTheSpecification(t *testing.T) {
	t.Parallel()
	stamp, signature, err := sign(secret.New("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"), "msg_p5jXN8AQM9LWM0D4loKWxJek",
		time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`))
	if err != nil || stamp != "1614265330" || signature != "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=" {
		t.Errorf("got %s %s, %v", stamp, signature, err)
	}
}

func TestASecretHasAKeyOfItsLength(t *testing.T) {
	t.Parallel()
	of := func(n int) string { return "whsec_" + base64.StdEncoding.EncodeToString(make([]byte, n)) }
	for text, ok := range map[string]bool{
		of(23): false, of(24): true, of(32): true, of(64): true, of(65): false, "": false, "whsec_": false,
		strings.TrimPrefix(of(32), "whsec_"): false, of(32) + "!": false, strings.ToUpper(of(32)): false,
	} {
		if err := CheckSecret(secret.New(text)); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
}
