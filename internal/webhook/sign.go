package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strconv"
	"strings"
	"time"

	"pushbox/internal/secret"
	"pushbox/store"
)

// How many bytes a signing secret has, as the specification recommends.
const (
	minKey = 24
	maxKey = 64
)

// The headers of a message.
const (
	headerID        = "Webhook-Id"
	headerTimestamp = "Webhook-Timestamp"
	headerSignature = "Webhook-Signature"
)

var errSecret = errors.New("it must be whsec_ and 24 to 64 bytes in base64")

// CheckSecret refuses a text that is not a signing secret.
func CheckSecret(s secret.Text) error {
	_, err := signingKey(s)
	return err
}

// signingKey is the key that a secret stands for.
func signingKey(s secret.Text) ([]byte, error) {
	text, ok := strings.CutPrefix(s.Reveal(), store.HookSecretPrefix)
	key, err := base64.StdEncoding.DecodeString(text)
	if !ok || err != nil || len(key) < minKey || len(key) > maxKey {
		return nil, errSecret
	}
	return key, nil
}

// sign returns the values of the time stamp and of the signature of a message that is
// sent at that time.
func sign(s secret.Text, id string, at time.Time, body []byte) (stamp, signature string, err error) {
	key, err := signingKey(s)
	if err != nil {
		return "", "", err
	}
	stamp = strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, key)
	_, _ = mac.Write([]byte(id + "." + stamp + ".")) // a hash takes everything
	_, _ = mac.Write(body)
	return stamp, "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)), nil
}
