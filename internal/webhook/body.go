package webhook

import (
	"encoding/json"
	"fmt"
	"time"

	"pushbox/store"
)

// timeFormat is that of the API.
const timeFormat = "2006-01-02T15:04:05.000Z"

// A message is what is sent, as JSON.
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
}

// body is what is sent of a notice.
func body(n store.Notice) ([]byte, error) {
	m := message{Event: n.Event.String(), Time: n.At.UTC().Format(timeFormat)}
	if n.Event != store.EventTest {
		remaining := max(0, n.ViewLimit-n.Views)
		m.PushID, m.Kind, m.Views, m.ViewsRemaining = n.Push.String(), n.Kind.String(), &n.Views, &remaining
		m.Cause, m.IP, m.UserAgent = n.Cause.String(), n.IP, n.UserAgent
		m.Name, m.URLToken = n.Name.Reveal(), n.Token.Reveal()
	}
	b, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("encode a message of %s", m.Event) // err may quote it
	}
	return b, nil
}

// TestNotice is a notice that says nothing but that messages arrive.
func TestNotice(at time.Time) store.Notice {
	return store.Notice{ID: store.NewNoticeID(), Event: store.EventTest, At: at}
}
