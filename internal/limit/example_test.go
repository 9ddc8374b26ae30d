package limit_test

import (
	"context"
	"fmt"
	"time"

	"pushbox/internal/limit"
)

// A Rate allows a burst, and then as many events as its rate gives.
func ExampleRate() {
	var now time.Duration // a test's clock; a server uses the time since its start
	requests := limit.NewRate(2, 1000, func() time.Duration { return now })
	for range 3 {
		ok, retryAfter := requests.Allow("192.0.2.7")
		fmt.Println(ok, retryAfter)
	}
	now += 30 * time.Second
	ok, _ := requests.Allow("192.0.2.7")
	fmt.Println("later:", ok)
	// Output:
	// true 0s
	// true 0s
	// false 30s
	// later: true
}

// A Window counts wrong passphrases. The caller asks it before it checks a passphrase,
// and adds a wrong one afterwards.
func ExampleWindow() {
	var now time.Duration
	wrong := limit.NewWindow(3, time.Minute, 1000, func() time.Duration { return now })
	guess := func(client string) {
		if full, retryAfter := wrong.Full(client); full {
			fmt.Println("locked for", retryAfter)
			return
		}
		wrong.Add(client) // the passphrase was wrong
		fmt.Println("wrong")
	}
	for range 4 {
		guess("192.0.2.7")
		now += 10 * time.Second
	}
	// Output:
	// wrong
	// wrong
	// wrong
	// locked for 30s
}

// Each download takes a slot. One client cannot take them all.
func ExampleSlots() {
	downloads := limit.NewSlots(16)
	client := limit.Holder{Client: "192.0.2.7"}
	fmt.Println(downloads.Take(client), downloads.Take(client), downloads.Take(client))
	downloads.Free(client)
	fmt.Println(downloads.Taken(), "slot is taken")
	// Output:
	// true true false
	// 1 slot is taken
}

// A request reserves memory before it reads a long text, and gives back what the text
// did not need.
func ExampleMemory() {
	memory := limit.NewMemory(1<<20, time.Second)
	r := memory.Reserve(limit.Holder{})
	defer r.Release()
	if err := r.Resize(context.Background(), 512<<10); err != nil { // ErrBusy: answer 503
		return
	}
	text := make([]byte, 100<<10)
	r.Shrink(int64(len(text)))
	fmt.Println(memory.Held(), "bytes are held")
	// Output: 102400 bytes are held
}

// A Queue runs as many checks of passwords at a time as there are cores.
func ExampleQueue() {
	checks := limit.NewPool(2).NewQueue(2, 64, 1)
	err := checks.Do(context.Background(), "", func() error { // ErrBusy: answer 503
		fmt.Println("checked")
		return nil
	})
	fmt.Println(err)
	// Output:
	// checked
	// <nil>
}
