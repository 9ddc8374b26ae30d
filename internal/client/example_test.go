package client_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"time"

	"pushbox/internal/client"
	"pushbox/internal/secret"
)

// A push is created on the home server of a client, and retrieved by its link.
func Example() {
	const token = "abcdefghijklmnopqrstuvwxyz234567ab"
	var api *httptest.Server // any server with the API of Password Pusher, version 2
	api = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Method == http.MethodPost {
			w.WriteHeader(http.StatusCreated)
		}
		_, _ = io.WriteString(w, `{"url_token":"`+token+`","html_url":"`+api.URL+`/p/`+token+`",
			"expired":false,"payload":"my secret","files":[],"views_remaining":0,"expire_after_days":7,"expire_after_views":1}`)
	}))
	defer api.Close()

	ctx := context.Background()
	home, err := client.ParseServer(api.URL)
	if err != nil {
		log.Fatal(err)
	}
	c := client.New(client.Options{Home: home, Stall: time.Minute})
	made, err := c.Create(ctx, client.NewPush{Kind: "text", Payload: secret.New("my secret"), Views: 1}, nil)
	if err != nil {
		log.Fatal(err)
	}
	link, err := client.ParseLink(made.Link.Reveal())
	if err != nil {
		log.Fatal(err)
	}
	got, err := c.Retrieve(ctx, link, secret.Text{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(got.Payload, got.Payload.Reveal(), got.ViewsRemaining)
	// Output: [redacted] my secret 0
}
