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
	"pushbox/store/record"
)

// Bounds of a signing secret in bytes, as the specification recommends.
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

func signingKey(s secret.Text) ([]byte, error) {
	text, ok := strings.CutPrefix(s.Reveal(), store.HookSecretPrefix)
	key, err := base64.StdEncoding.DecodeString(text)
	if !ok || err != nil || len(key) < minKey || len(key) > maxKey {
		return nil, errSecret
	}
	return key, nil
}

func sign(s secret.Text, id string, at time.Time, body []byte) (stamp, signature string, err error) {
	key, err := signingKey(s)
	if err != nil {
		return "", "", err
	}
	stamp = strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, key)
	_, _ = mac.Write([]byte(id + "." + stamp + ".")) // a hash returns no error
	_, _ = mac.Write(body)
	return stamp, "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)), nil
}

const timeFormat = "2006-01-02T15:04:05.000Z"

type message struct {
	Event          string `json:"event"`
	Time           string `json:"time"`
	PushID         string `json:"push_id,omitempty"`
	Kind           string `json:"kind,omitempty"`
	Views          *int   `json:"views,omitempty"`
	ViewsRemaining *int   `json:"views_remaining,omitempty"`
	Cause          string `json:"cause,omitempty"`
	IP             string `json:"ip,omitempty"`
	UserAgent      string `json:"user_agent,omitempty"`
	Name           string `json:"name,omitempty"`
	URLToken       string `json:"url_token,omitempty"`
	RequestID      string `json:"request_id,omitempty"`
}

func newMessage(n store.Notice) message {
	m := message{Event: n.Event.String(), Time: n.At.UTC().Format(timeFormat)}
	if n.Event != record.EventTest {
		remaining := max(0, n.ViewLimit-n.Views)
		m.PushID, m.Kind, m.Views, m.ViewsRemaining = n.Push.String(), n.Kind.String(), &n.Views, &remaining
		m.Cause, m.IP, m.UserAgent = n.Cause.String(), n.IP, n.UserAgent
		m.Name, m.URLToken = n.Name.Reveal(), n.URLToken.Reveal()
		if n.Request != (record.RequestID{}) {
			m.RequestID = n.Request.String()
		}
	}
	return m
}

// TestNotice returns a notice of a test event, which belongs to no push.
func TestNotice(at time.Time) store.Notice {
	return store.Notice{ID: store.NewNoticeID(), Event: record.EventTest, At: at}
}
