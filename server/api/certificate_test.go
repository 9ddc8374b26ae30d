package api_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"pushbox/internal/certificate"
	"pushbox/server/servertest"
)

// certified asks for a certificate until the push is erased.
func certified(t testing.TB, get func() servertest.Answer) servertest.Answer {
	t.Helper()
	for range 60 {
		got := get()
		if got.Status == http.StatusOK {
			return got
		}
		if got.Want(http.StatusServiceUnavailable); got.Header.Get("Retry-After") == "" {
			t.Fatalf("no Retry-After: %v", got.Header)
		}
	}
	t.Fatal("it is never erased")
	return servertest.Answer{}
}

func TestAnOwnerGetsACertificateOfTheEnd(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ann, bob := a.AddTokenUser("ann@example.com"), a.AddTokenUser("bob@example.com")
	token := a.Create(`"payload":"payload-marker","name":"name-marker","deletable_by_viewer":false`, ann)
	path := pushes + "/" + token + "/certificate"
	if got := a.Get(path, ann).Want(http.StatusConflict); got.Object()["code"] != "live" {
		t.Errorf("a live push: %s", got.Body)
	}
	a.Do("DELETE", pushes+"/"+token, "", ann).Want(http.StatusOK)
	a.Get(path).Want(http.StatusUnauthorized)
	a.Get(path, bob).Want(http.StatusForbidden)
	a.Get(pushes+"/"+strings.Repeat("a", 34)+"/certificate", ann).Want(http.StatusNotFound)

	got := certified(t, func() servertest.Answer { return a.Get(path, ann) })
	line, _, _ := strings.Cut(a.Get(certificate.KeyPath).Want(http.StatusOK).Body, "\n")
	key := strings.TrimPrefix(line, certificate.Before)
	s, err := certificate.Check([]byte(got.Body), key)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(token))
	p := s.Push
	if p.Cause != "deleted" || !slices.Equal(p.DeletedBy, []string{"sender", "administrator"}) || p.Kind != "text" || p.Views != 0 || p.TokenSHA256 != hex.EncodeToString(sum[:]) {
		t.Errorf("%+v", p)
	}
	for _, secret := range []string{token, "payload-marker", "name-marker", "ann@example.com"} {
		if words := fmt.Sprint(s); strings.Contains(words, secret) {
			t.Errorf("it says %q: %s", secret, words)
		}
	}

	got = certified(t, func() servertest.Answer { return a.Get(pushes+"/"+p.Handle+"/certificate", ann) })
	if s, err := certificate.Check([]byte(got.Body), key); err != nil || s.Push.Handle != p.Handle || s.Push.TokenSHA256 != "" {
		t.Errorf("by the handle: %+v, %v", s.Push, err)
	}
	a.Get(pushes+"/"+p.Handle+"/certificate", bob).Want(http.StatusNotFound)
}
