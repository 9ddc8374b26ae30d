package certs

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"testing"
	"time"
)

const hour, day = time.Hour, 24 * time.Hour

func TestWhenACertificateIsRenewed(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		name           string
		life           time.Duration
		obtained, wish time.Duration // after the start; negative: none
		want           time.Duration
	}{
		{"a third before the end", 90 * day, -1, -1, 60 * day},
		{"a month before the end", 365 * day, -1, -1, 335 * day},
		{"a short one", 6 * hour, 0, -1, 4 * hour},
		{"one that was old when it came", 90 * day, 80 * day, -1, 85 * day},
		{"as the authority wishes", 90 * day, 0, 50 * day, 50 * day},
		{"later than the authority may wish", 90 * day, 0, 80 * day, 60 * day},
		{"not as soon as it has come", 90 * day, 2 * hour, 0, 3 * hour},
		{"nor after a restart", 90 * day, -1, 0, hour},
		{"at once where it has long been there", 90 * day, -1, 10 * day, 10 * day},
		{"a short one that is wished away", 90 * time.Minute, 0, 0, hour},
	} {
		d, leaf := &domain{}, &x509.Certificate{NotBefore: start, NotAfter: start.Add(test.life)}
		if test.obtained >= 0 {
			d.obtained = start.Add(test.obtained)
		}
		if test.wish >= 0 {
			d.advice.SelectedTime = start.Add(test.wish)
		}
		if got := d.advised(leaf).Sub(start); got != test.want {
			t.Errorf("%s: after %v, want %v", test.name, got, test.want)
		}
	}
}

func TestRetriesAreFewAndDoNotEnd(t *testing.T) {
	t.Parallel()
	d, now := &domain{name: "a.example"}, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i, want := range []time.Duration{2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 16 * time.Minute, 32 * time.Minute, hour, hour} {
		d.failed(now, errors.New("down"))
		if got := d.next.Sub(now); got != want {
			t.Errorf("after failure %d it waits %v, want %v", i+1, got, want)
		}
	}
	d.served(&tls.Certificate{Leaf: &x509.Certificate{}}, now)
	if d.failed(now, errors.New("down")); d.next.Sub(now) != firstRetry {
		t.Errorf("after a success it waits %v", d.next.Sub(now))
	}
}

// A pushbox that replaces what the authority does not know would never get one.
func TestWhatFailedIsOrderedAsNew(t *testing.T) {
	t.Parallel()
	leaf := &x509.Certificate{}
	d := &domain{cert: &tls.Certificate{Leaf: leaf}}
	if d.replaces() != nil {
		t.Error("an authority without advice is told what is replaced")
	}
	d.advice.UniqueIdentifier = "id"
	if d.replaces() != leaf {
		t.Error("an authority with advice is not told what is replaced")
	}
	d.failures = 1
	if d.replaces() != nil {
		t.Error("after a failure it is told again")
	}
}
