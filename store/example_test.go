package store_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"pushbox/internal/secret"
	"pushbox/store"
	"pushbox/store/bolt"
	"pushbox/store/record"
	"pushbox/store/seal"
)

// A push of one view is created and retrieved. The second retrieval finds it expired.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "store")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	engine, _, err := bolt.Open(ctx, bolt.Options{Path: filepath.Join(dir, "pushbox.db")})
	if err != nil {
		fmt.Println(err)
		return
	}
	days, views := store.Range{Default: 7, Min: 1, Max: 90}, store.Range{Default: 1, Min: 1, Max: 100}
	s, err := store.Open(ctx, engine, seal.NewRootKey(), store.Options{
		Terms: map[record.Kind]store.Terms{record.Text: {Enabled: true, Days: days, Views: views}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close(ctx)

	sender := store.Actor{IP: "192.0.2.1"}
	push, err := s.CreatePush(ctx, sender, store.NewPush{Kind: record.Text, Payload: secret.New("my secret")})
	if err != nil {
		fmt.Println(err)
		return
	}
	recipient := store.Actor{IP: "192.0.2.2"}
	for range 2 {
		got, err := s.Retrieve(ctx, recipient, push.Token, secret.Text{}, nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%q, live: %t\n", got.Payload.Reveal(), got.Live())
	}

	// Output:
	// "my secret", live: true
	// "", live: false
}
