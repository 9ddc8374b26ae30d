// Package drill makes the attacks of published advisories, on Password Pusher and on
// other programs of this kind, on a server on a real listener.
//
// The table in drill_test.go has whose advisory it is, its ids, the attack in a few
// words, and the function, whose comment tells what was wrong there. Each drill has a
// control, or fails where its protection is taken away.
//
//	go test ./server/harness/drill -v | grep -- '--- '
//	go test ./server/harness/drill -run 'TestDrills/.*GHSA-jf2m'
package drill
