package seal_test

import (
	"errors"
	"fmt"
	"time"

	"pushbox/internal/secret"
	"pushbox/store/seal"
)

// A payload is sealed under the key of its push, and that key under the key ring, the
// token of the link and a passphrase. To read it again takes all of them.
func Example() {
	var (
		ring       = seal.NewRing(time.Now())
		id         = []byte("the ID of the push")
		token      = secret.New("buh66o4a4mxwylwsvsqqtnesvubzm5jgqn")
		passphrase = secret.New("correct horse")
		kind       = byte(1)
	)
	dek := seal.NewDEK()
	wrap := ring.Wrap(time.Now(), id, token, passphrase, dek, seal.Cost{})
	payload := dek.SealPayload(id, kind, secret.New("my secret"))

	_, err := ring.OpenWrap(wrap, id, token, secret.New("a guess"))
	fmt.Println(errors.Is(err, seal.ErrPassphrase))

	opened, err := ring.OpenWrap(wrap, id, token, passphrase)
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := opened.OpenPayload(id, kind, payload)
	fmt.Println(text.Reveal(), err)
	fmt.Println(dek, text)

	// Output:
	// true
	// my secret <nil>
	// [redacted] [redacted]
}

// A file is sealed in chunks. Each can be opened without the others.
func ExampleFileCipher() {
	cipher := seal.NewDEK().FilesKey().File([]byte("a file of a push"))
	content := make([]byte, seal.ChunkSize+3)
	first := cipher.Seal(nil, 0, false, content[:seal.ChunkSize])
	second := cipher.Seal(nil, 1, true, content[seal.ChunkSize:])

	plain, err := cipher.Open(nil, 1, true, second)
	fmt.Println(len(plain), err)
	_, err = cipher.Open(nil, 1, true, first) // moved
	fmt.Println(errors.Is(err, seal.ErrOpen))

	// Output:
	// 3 <nil>
	// true
}
