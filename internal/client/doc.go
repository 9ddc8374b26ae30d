// Package client speaks the JSON API of Password Pusher, version 2, as a client
// of pushbox or of Password Pusher itself.
//
// What it reads it reads leniently: a retrieval may have been the last one, so an
// answer that is odd in one place is still taken for what it has. What it sends
// away is watched closely: the API token goes to its own server alone, a
// passphrase to the server of its link, and a redirect is followed for downloads
// only, which carry neither. No error holds a link, a token, a passphrase or a
// payload.
package client
