package drill_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pushbox/server/servertest"
)

// A drill is an attack that was published about a program like this one, made on
// a server on a real listener.
type drill struct {
	program string
	id      string // of the advisory, or else where the attack is told
	attack  string // in a few words
	run     func(*testing.T)
}

// drills are all advisories on Password Pusher, and of the others those that could
// be true here. Each is described at its function. Each has a control, or fails
// where its protection is taken away. Onetime Secret has published no advisory: its drills
// are named after the findings of its own reviews.
//
//	go test ./server/harness/drill -run TestDrills -v | grep -- '--- '
//	go test ./server/harness/drill -run 'TestDrills/.*GHSA-jf2m'
var drills = []drill{
	{"Password Pusher", "GHSA-5chg-cq29-gfqf", "a page repeats markup that it was asked with", drillReflectedMarkup},
	{"Password Pusher", "GHSA-ffp2-8p2h-4m5j CVE-2024-52796", "made-up proxy headers get past the limits", drillForgedAddresses},
	{"Password Pusher", "GHSA-4fwj-m62q-pp47 CVE-2024-56733", "a copied cookie outlives its session", drillCopiedSession},
	{"Password Pusher", "GHSA-qfh8-f79c-x86c CVE-2026-41308", "an anonymous client pushes files by another path", drillAnonymousFiles},
	{"Password Pusher", "GHSA-76c2-66pg-fj2f CVE-2026-59802", "a url push leads to a script", drillAddressThatIsAScript},
	{"Password Pusher", "GHSA-59w3-h5v2-c4xw CVE-2026-61458", "passphrases are guessed one after the other", drillGuessedPassphrases},
	{"Password Pusher", "GHSA-jf2m-hpj9-4qx2 CVE-2026-62382", "an anonymous client counts as the owner of an anonymous push", drillAnonymousPush},
	{"Password Pusher", "GHSA-6q3c-57pp-wvpp CVE-2026-87816", "views at the same time pass the limit together", drillRacedViews},

	{"Gokapi", "GHSA-4xg4-54hm-9j77 CVE-2025-48495", "the label of an API token is markup", drillMarkupInALabel},
	{"Gokapi", "GHSA-95rc-wc32-gm53 CVE-2025-48494", "a file's name is markup in its sender's lists", drillMarkupInTheListOfUploads},
	{"Gokapi", "CVE-2026-28683", "an SVG runs where it is linked to", drillSVG},
	{"Gokapi", "GHSA-c36c-7pc2-f2ph CVE-2026-28682", "an account sees what others upload", drillUploadsOfOthers},
	{"Gokapi", "GHSA-m2hx-wjxc-9fp4 CVE-2026-29060", "a session makes a token that may more than it", drillTokenBeyondItsSession},
	{"Gokapi", "GHSA-q658-hfpg-35qc CVE-2026-29061", "a token keeps the rights that its account lost", drillTokenOfALostAccount},
	{"Gokapi", "GHSA-hcff-qv74-7hr4 CVE-2026-29084", "another site signs a visitor in", drillForcedSignIn},
	{"Gokapi", "GHSA-45vh-rpc8-hxpp CVE-2026-30961", "a file that is too large comes in pieces", drillLargeFileInPieces},
	{"Gokapi", "GHSA-j6jp-78w8-34x6 CVE-2026-30943", "who may see a push replaces or deletes it", drillPushOfAnother},
	{"Gokapi", "GHSA-qwc6-vc2v-2ggj CVE-2026-30955", "bodies without an end take all memory", drillEndlessBodies},

	{"PrivateBin", "GHSA-8j72-p2wm-6738 CVE-2020-5223", "a file's name is markup for its recipient", drillMarkupInAFileName},
	{"PrivateBin", "GHSA-867c-p784-5q6g CVE-2025-62796", "a file's name makes links and sends people on", drillLinkInAFileName},
	{"PrivateBin", "GHSA-cqcc-mm6x-vmvw CVE-2022-24833", "an SVG runs in its preview", drillSVGPreview},
	{"PrivateBin", "GHSA-f2xf-7x3g-4272 CVE-2026-55696", "a web page runs where its link is opened", drillWebPage},
	{"PrivateBin", "GHSA-mqqj-fx8h-437j CVE-2024-39899", "an address that holds ours is taken for ours", drillAddressInAnother},
	{"PrivateBin", "GHSA-g2j9-g8r5-rg82 CVE-2025-64714", "a cookie names a file of the server", drillPathInACookie},

	{"yopass", "GHSA-6r69-c6wg-7g8m CVE-2026-107840", "each made-up method gets a label", drillMadeUpMethods},
	{"yopass", "jhaals/yopass#2652", "two download what is there once", drillRacedDownloads},
	{"yopass", "jhaals/yopass#2154", "a scanner of mail spends the view", drillScanners},

	{"ots", "GHSA-h5fq-653g-gxrm", "a negative time means for ever", drillNegativeTime},

	// Onetime Secret has published no advisory; these are findings of its own reviews,
	// in docs/security of its repository.
	{"Onetime Secret", "2026-06-22 A3", "a made-up host gets into links", drillMadeUpHost},
	{"Onetime Secret", "2026-06-22 A7", "a password without an end keeps Argon2 busy", drillEndlessPassword},
	{"Onetime Secret", "2026-06-22 C3", "an old path asks for passphrases without a limit", drillOldPaths},
	{"Onetime Secret", "2026-06-22 P1", "the API takes the cookie of the pages", drillCookieAtTheAPI},
	{"Onetime Secret", "2026-06-22 P5", "a name writes lines into the log", drillLinesInTheLog},
	{"Onetime Secret", "2026-06-22 S1 S2", "answers have no policy and can be framed", drillHeaders},
	{"Onetime Secret", "2026-08-14 M-7", "an anonymous client creates without a limit", drillUnlimitedPushes},
	{"Onetime Secret", "2026-08-14 M-14", "a session that was removed goes on", drillRemovedSession},
}

func TestDrills(t *testing.T) {
	t.Parallel()
	seen := make(map[string]bool)
	for _, d := range drills {
		name := d.id + " " + d.program + ", " + d.attack
		if seen[name] || d.id == "" || d.attack == "" {
			t.Errorf("%q is there twice, or not told", name)
		}
		seen[name] = true
		t.Run(strings.ReplaceAll(name, "/", "-"), func(t *testing.T) {
			t.Parallel()
			d.run(t)
		})
	}
}

var ctx = context.Background()

const (
	day    = 24 * time.Hour
	pushes = "/api/v2/pushes"
)

// chunkOf is a piece of a body whose length was not told.
func chunkOf(piece []byte) []byte {
	return fmt.Appendf(nil, "%x\r\n%s\r\n", len(piece), piece)
}

// answered is the status of what comes on a connection; 0 if nothing does.
func answered(l *servertest.Line) int {
	l.T.Helper()
	defer l.Close()
	res, err := http.ReadResponse(bufio.NewReader(l), nil)
	if err != nil {
		return 0
	}
	res.Body.Close()
	return res.StatusCode
}

// An endlessBody continues until the server reads no more of it, or has read far too
// much.
type endlessBody struct {
	begin string
	sent  atomic.Int64
}

var errEnough = errors.New("far too much was taken")

func (e *endlessBody) Read(p []byte) (int, error) {
	if e.sent.Load() > 64<<20 {
		return 0, errEnough
	}
	for i := range p {
		p[i] = 'x'
	}
	n := copy(p, e.begin)
	e.begin = e.begin[n:]
	e.sent.Add(int64(len(p)))
	return len(p), nil
}
