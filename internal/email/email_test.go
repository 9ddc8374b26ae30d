package email

import (
	"strings"
	"testing"
)

func TestAddressesThatMailCanBeSentTo(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", MaxLength-len("@b.example"))
	for address, want := range map[string]bool{
		"ann@example.com": true, "a+b.c_d-e'f@x.co": true, "root@localhost": true, long + "@b.example": true, "x@xn--bcher-kva.example": true,
		long + "a@b.example": false, "": false, "ann": false, "@example.com": false, "ann@": false, "a@b@c": false, "ann @example.com": false,
		"Ann <ann@example.com>": false, "<ann@example.com>": false, "ann@example.com (Ann)": false, `"a b"@example.com`: false, "ann@[127.0.0.1]": false,
		"ann@example.com\r\nBcc: eve@example.com": false, "ann@example.com\n": false, "a\x00@b.example": false, "änn@example.com": false, "ann@bücher.example": false,
		"a,b@example.com": false, "a;b@example.com": false, "a:b@example.com": false, `a\b@example.com`: false,
	} {
		if got := IsSendable(address); got != want {
			t.Errorf("%q: %v", address, got)
		}
	}
}

func TestAnAddressHasNoName(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"ann@example.com": true, "änn@bücher.example": true,
		"": false, "ann": false, "Ann <ann@example.com>": false, "<ann@example.com>": false, " ann@example.com": false, "ann@example.com\n": false,
	} {
		if got := IsAddress(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
