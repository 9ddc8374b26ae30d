package store

import (
	"errors"
	"strings"
	"testing"
	"time"

	"pushbox/internal/secret"
	"pushbox/store/record"
)

// rfcKey is the secret of the examples of RFC 6238.
var rfcKey = []byte("12345678901234567890")

// rfcCodes are those examples, appendix B: of their eight digits the last six.
var rfcCodes = map[int64]string{
	59: "287082", 1111111109: "081804", 1111111111: "050471", 1234567890: "005924", 2000000000: "279037", 20000000000: "353130",
}

func TestTheCodesOfTheStandardAreAccepted(t *testing.T) {
	t.Parallel()
	for at, code := range rfcCodes {
		step := at / totpPeriod
		start, end := time.Unix(step*totpPeriod, 0), time.Unix((step+1)*totpPeriod, 0).Add(-time.Nanosecond)
		for _, c := range []struct {
			at   time.Time
			used int64
			want int64
		}{
			{time.Unix(at, 0), 0, step},
			{start, 0, step},
			{end, 0, step},
			{start.Add(-totpPeriod * time.Second), 0, step}, // a step ahead
			{end.Add(totpPeriod * time.Second), 0, step},    // a step behind
			{start.Add(-totpPeriod*time.Second - time.Nanosecond), 0, 0},
			{end.Add(totpPeriod*time.Second + time.Nanosecond), 0, 0},
			{time.Unix(at, 0), step - 1, step},
			{time.Unix(at, 0), step, 0},
			{time.Unix(at, 0), step + 1, 0},
		} {
			if c.at.Unix() < 0 {
				continue
			}
			if got := totpStep(rfcKey, secret.New(code), c.at, c.used); got != c.want {
				t.Errorf("%s at %v, used %d: step %d, want %d", code, c.at.UTC(), c.used, got, c.want)
			}
		}
	}
}

func TestWhatIsNoCode(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"", "28708", "2870822", "287083", "87082", "94287082", "٢٨٧٠٨٢", "287082\x00"} {
		if step := totpStep(rfcKey, secret.New(code), time.Unix(59, 0), 0); step != 0 {
			t.Errorf("%q is of step %d", code, step)
		}
	}
}

func TestASecretIsReadAsItWasOffered(t *testing.T) {
	t.Parallel()
	const offered = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
	key, err := parseTOTP(secret.New(offered))
	if err != nil || string(key) != string(rfcKey) {
		t.Errorf("%q, %v", key, err)
	}
	for _, text := range []string{"", offered[:31], offered[:24], offered + "GEZDGNBV", strings.ToLower(offered), offered[:31] + "1", offered[:31] + "=", " " + offered} {
		key, err := parseTOTP(secret.New(text))
		var invalid *record.InvalidError
		if !errors.As(err, &invalid) || key != nil || text != "" && strings.Contains(err.Error(), text) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestRecoveryCodesAreOfTheirAccount(t *testing.T) {
	t.Parallel()
	codes, digests := newRecovery(7)
	again, _ := newRecovery(7)
	if len(codes) != RecoveryCodes || len(digests) != RecoveryCodes*record.RecoverySize {
		t.Fatalf("%d codes, %d bytes", len(codes), len(digests))
	}
	seen := make(map[string]bool)
	for i, c := range append(codes, again...) {
		text := c.Reveal()
		if parts := strings.Split(text, "-"); len(parts) != 4 || len(text) != 4*4+3 || seen[text] {
			t.Errorf("code %d is %s", i, text)
		}
		seen[text] = true
	}
	for i, c := range codes {
		want := digests[i*record.RecoverySize : (i+1)*record.RecoverySize]
		if recoveryDigest(7, cleanCode(c)) != want || recoveryDigest(8, cleanCode(c)) == want {
			t.Errorf("code %d has another digest", i)
		}
	}
}

func TestAProofIsUsedUpOnce(t *testing.T) {
	t.Parallel()
	codes, digests := newRecovery(7)
	a := record.Account{ID: 7, TOTP: "sealed", TOTPStep: 100, Recovery: digests}
	digest := func(i int) string { return recoveryDigest(7, cleanCode(codes[i])) }
	changed := func(change func(*record.Account)) record.Account {
		b := a
		change(&b)
		return b
	}
	for name, c := range map[string]struct {
		account record.Account
		proof   proof
		want    error
		step    int64
		left    string
	}{
		"a later step":      {a, proof{"sealed", 101, ""}, nil, 101, digests},
		"the step used":     {a, proof{"sealed", 100, ""}, record.ErrCredentials, 100, digests},
		"a step before":     {a, proof{"sealed", 99, ""}, record.ErrCredentials, 100, digests},
		"the first code":    {a, proof{"sealed", 0, digest(0)}, nil, 100, digests[16:]},
		"one between":       {a, proof{"sealed", 0, digest(4)}, nil, 100, digests[:64] + digests[80:]},
		"the last code":     {a, proof{"sealed", 0, digest(9)}, nil, 100, digests[:144]},
		"no code":           {a, proof{"sealed", 0, strings.Repeat("x", 16)}, record.ErrCredentials, 100, digests},
		"between two codes": {a, proof{"sealed", 0, digests[8:24]}, record.ErrCredentials, 100, digests},
		"nothing":           {a, proof{"sealed", 0, ""}, record.ErrCredentials, 100, digests},
		"no codes left":     {changed(func(a *record.Account) { a.Recovery = "" }), proof{"sealed", 0, digest(0)}, record.ErrCredentials, 100, ""},
		"another secret":    {a, proof{"other", 101, ""}, record.ErrSession, 100, digests},
		"disabled":          {changed(func(a *record.Account) { a.Disabled = true }), proof{"sealed", 101, ""}, record.ErrSession, 100, digests},
		"removing":          {changed(func(a *record.Account) { a.Removing = true }), proof{"sealed", 101, ""}, record.ErrSession, 100, digests},
	} {
		next, pending, err := c.proof.rule(c.account)
		if !errors.Is(err, c.want) || pending || next.TOTPStep != c.step || next.Recovery != c.left {
			t.Errorf("%s: step %d, %d bytes of codes, %v", name, next.TOTPStep, len(next.Recovery), err)
		}
		if _, _, err := c.proof.rule(next); err == nil {
			t.Errorf("%s: it is accepted twice", name)
		}
	}
}
