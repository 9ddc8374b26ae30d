package record

import (
	"encoding/binary"
	"time"
)

// MaxDeliveries is how many tries a webhook keeps; then the oldest are removed.
const MaxDeliveries = 20

// A Delivery is a try to send a message to a webhook.
type Delivery struct {
	At     time.Time
	Event  Event
	Status int   // of the answer; 0: there was none
	Fault  Fault // why there was none
}

// Delivered reports whether the receiver accepted the message.
func (d Delivery) Delivered() bool { return d.Status/100 == 2 }

// A Fault says why a webhook did not answer.
type Fault uint8

// The faults. The numbers are stored.
const (
	FaultNone        Fault = iota // it answered
	FaultDenied                   // the settings do not allow its address
	FaultName                     // its name could not be looked up
	FaultTLS                      // its certificate, or its TLS, is not valid
	FaultSlow                     // it did not answer in time
	FaultUnreachable              // it refuses connections, or cannot be reached
	FaultBroken                   // the connection broke
	faultCount
)

var faultNames = [...]string{"", "denied", "name", "tls", "slow", "unreachable", "broken"}

// String is a word for the fault.
func (f Fault) String() string {
	if f < faultCount {
		return faultNames[f]
	}
	return ""
}

const maxStatus = 999

// append appends the record to b.
func (d Delivery) append(b []byte) []byte {
	return binary.AppendUvarint(append(AppendTime(b, d.At), byte(d.Event), byte(d.Fault)), uint64(d.Status))
}

// delivery reads what append wrote.
func (r *Reader) delivery() Delivery {
	d := Delivery{At: r.Time(), Event: Event(r.Byte()), Fault: Fault(r.Byte()), Status: int(r.Uvarint(maxStatus))}
	r.Bad = r.Bad || d.At.IsZero() || d.Event >= EventCount || d.Fault >= faultCount
	return d
}

// With returns the webhook with more tries. It keeps only the newest MaxDeliveries.
func (h Hook) With(tried []Delivery) Hook {
	all := append(append([]Delivery(nil), h.Tried...), tried...)
	h.Tried = all[max(0, len(all)-MaxDeliveries):]
	return h
}
