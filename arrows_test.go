package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pushbox/internal/testkit/golden"
)

// owners are the outside libraries that only the packages behind them may import.
var owners = map[string]string{
	"go.etcd.io/bbolt":                    "pushbox/store/bolt pushbox/store/bolt/page",
	"github.com/jackc/pgx":                "pushbox/store/postgres pushbox/internal/testkit/pgtest",
	"github.com/spf13/viper":              "pushbox/config",
	"github.com/julienschmidt/httprouter": "pushbox/server",
	"golang.org/x/text":                   "pushbox/internal/lang pushbox/internal/email",
	"golang.org/x/net":                    "pushbox/internal/pageproof pushbox/server/display pushbox/server/servertest",
	"github.com/boombuler/barcode":        "pushbox/server/display",
	"github.com/go-ldap/ldap/v3":          "pushbox/internal/directory pushbox/internal/testkit/ldaptest",
	"github.com/go-webauthn":              "pushbox/internal/passkey",
	"github.com/wneessen/go-mail":         "pushbox/internal/mail",
	"github.com/emersion/go-smtp":         "pushbox/internal/testkit/mailtest",
	"github.com/emersion/go-sasl":         "pushbox/internal/testkit/mailtest",
	"github.com/hanwen/go-fuse/v2":        "pushbox/internal/testkit/faultfs",
	"github.com/coreos/go-oidc/v3":        "pushbox/internal/openid",
	"golang.org/x/oauth2":                 "pushbox/internal/openid",
	"filippo.io/age":                      "pushbox/internal/backup",
	"github.com/mholt/acmez/v3":           "pushbox/internal/certs",
	"github.com/letsencrypt/pebble/v2":    "pushbox/internal/testkit/acmetest",
	"github.com/spf13/cobra":              "pushbox/internal/cli",
	"github.com/prometheus":               "pushbox/internal/metrics",
}

// gauge measures bbolt and pgx themselves. It is not part of the server.
const gauge = "pushbox/internal/tools/bench"

// kits are the packages for tests and for work on pushbox, with the packages of pushbox
// that each may import. No package of the product imports one.
var kits = map[string]string{
	"internal/harness/disk": "", "internal/harness/docs": "", "internal/harness/kill": "",
	"internal/harness/proxy": "", "internal/harness/scale": "", "internal/harness/slow": "", "internal/harness/soak": "",
	"internal/proctest":            "internal/cli internal/testkit/env internal/tools/tool store store/bolt store/record store/seal",
	"internal/testkit/acmetest":    "internal/testkit/env",
	"internal/testkit/certtest":    "internal/testkit/env",
	"internal/testkit/env":         "",
	"internal/testkit/faultfs":     "internal/testkit/env",
	"internal/testkit/golden":      "internal/testkit/env",
	"internal/testkit/ldaptest":    "internal/testkit/certtest internal/testkit/env",
	"internal/testkit/mailtest":    "internal/testkit/certtest internal/testkit/env",
	"internal/testkit/oidctest":    "internal/testkit/env",
	"internal/testkit/passkeytest": "internal/testkit/env",
	"internal/testkit/pgtest":      "internal/secret internal/testkit/env",
	"internal/testkit/unnamed":     "internal/testkit/env",
	"internal/testkit/wraptest":    "internal/secret internal/testkit/env",
	"internal/tools/attack":        "internal/tools/tool",
	"internal/tools/bench":         "internal/tools/tool",
	"internal/tools/faults":        "internal/testkit/env internal/tools/tool",
	"internal/tools/release":       "internal/cli internal/tools/tool",
	"internal/tools/tool":          "",
	"server/harness/drill":         "", "server/harness/linear": "",
	"server/servertest":    "config internal/endtoend internal/instance internal/secret internal/testkit/env server server/action server/pages store store/record store/seal store/storetest",
	"store/harness/damage": "", "store/harness/forgery": "", "store/harness/golden": "", "store/harness/model": "",
	"store/harness/power": "", "store/harness/residue": "",
	"store/storetest":             "internal/secret internal/testkit/env internal/testkit/pgtest store store/bolt store/cold store/postgres store/record store/seal",
	"store/storetest/conformance": "internal/limit store store/cold store/record",
}

// layers are the packages of the product. Each may import only packages of later lines.
var layers = []string{
	"main",
	"internal/cli",
	"internal/daemon internal/moving",
	"internal/doctor",
	"internal/instance",
	"internal/admin internal/backup internal/certs internal/client internal/directory internal/mail internal/metrics internal/pwpush/settings internal/sdnotify internal/webhook",
	"server",
	"server/api server/pages",
	"server/manage",
	"server/intake",
	"server/action",
	"server/deadline store/postgres",
	"config server/body server/web store store/bolt",
	"store/cold",
	"store/bolt/page",
	"store/record store/seal",
	"internal/durable internal/endtoend internal/httpd internal/openid internal/pageproof internal/passkey internal/pwpush",
	"internal/certificate internal/clientip internal/email internal/environ internal/hint internal/humanize internal/lang internal/limit internal/retry internal/rights internal/safename internal/secret internal/strictjson internal/terminal server/display server/openapi store/clock",
	"internal/weburl",
}

// layer returns the line of layers that has a package, or -1.
func layer(name string) int {
	return slices.IndexFunc(layers, func(line string) bool { return slices.Contains(strings.Fields(line), name) })
}

// imports returns what each package imports, by import path, without the imports of its
// tests.
func imports(t *testing.T) map[string][]string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string][]string)
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all[p.ImportPath] = p.Imports
	}
}

// TestPackagesImportOnlyWhatTheyMay checks that imports of the product lead down its
// layers, and that ARCHITECTURE.md shows them. To write a new import there:
//
//	go test . -run PackagesImportOnly -update
func TestPackagesImportOnlyWhatTheyMay(t *testing.T) {
	t.Parallel()
	all, lines := imports(t), make([][]string, len(layers))
	for _, path := range slices.Sorted(maps.Keys(all)) {
		name := cmp.Or(strings.TrimPrefix(strings.TrimPrefix(path, "pushbox"), "/"), "main")
		may, isKit := kits[name]
		above := layer(name)
		if !isKit && above < 0 {
			t.Errorf("%s is in no layer, and is no kit", path)
			continue
		}
		var inner []string
		for _, i := range all[path] {
			own, ok := strings.CutPrefix(i, "pushbox/")
			if !ok {
				continue
			}
			inner = append(inner, own)
			if (own == "store" || own == "store/cold") && (strings.HasPrefix(name, "store/bolt") || name == "store/postgres") {
				t.Errorf("%s imports %s: an engine decides nothing, and knows store/record alone", path, i)
			}
			if !isKit && layer(own) <= above || isKit && !slices.Contains(strings.Fields(may), own) {
				t.Errorf("%s imports %s", path, i)
			}
		}
		if !isKit && len(inner) > 0 {
			lines[above] = append(lines[above], arrow(name, inner))
		}
	}
	if len(all) < 40 {
		t.Errorf("only %d packages were seen", len(all))
	}
	const begins, ends = "<!-- imports: go test . -run PackagesImportOnly -update -->", "<!-- the end of the imports -->"
	golden.Section(t, "ARCHITECTURE.md", begins, ends, "\n"+strings.Join(slices.Concat(lines...), "")+"\n")
}

// An engine keeps what it is given: errors of what is decided above it are not in its code. That a
// sender has no room (RoomError) is decided where the room is counted, in the engines.
func TestEnginesNameNoErrorOfADecisionAboveThem(t *testing.T) {
	t.Parallel()
	decided := strings.Fields("ErrToken ErrUnconfirmed ErrQuota QuotaError ErrTokens ErrLastAdmin ErrSession ErrRequests ErrIdentityTaken ErrOwnAccount ErrCode ErrStale ErrDenied ErrCredentials")
	seen := 0
	for _, dir := range []string{"store/bolt", "store/postgres"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			seen++
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range decided {
				if regexp.MustCompile(`record\.` + e + `\b`).Match(text) {
					t.Errorf("%s names %s", name, e)
				}
			}
		}
	}
	if seen < 40 {
		t.Errorf("only %d files were seen", seen)
	}
}

// arrow is the line of a package, or several lines if it imports many.
func arrow(name string, imported []string) string {
	const widest = 120
	line := "    " + name + " →"
	indent := strings.Repeat(" ", len([]rune(line)))
	var text strings.Builder
	for _, word := range strings.Fields(grouped(imported)) {
		if len([]rune(line+word)) >= widest {
			text.WriteString(line + "\n")
			line = indent
		}
		line += " " + word
	}
	return text.String() + line + "\n"
}

// grouped lists packages, with those of internal as internal/{a, b}.
func grouped(imported []string) string {
	var outer, inner []string
	for _, i := range imported {
		if name, ok := strings.CutPrefix(i, "internal/"); ok {
			inner = append(inner, name)
		} else {
			outer = append(outer, i)
		}
	}
	switch len(inner) {
	case 0:
	case 1:
		outer = append(outer, "internal/"+inner[0])
	default:
		outer = append(outer, "internal/{"+strings.Join(inner, ", ")+"}")
	}
	return strings.Join(outer, ", ")
}

func TestPackagesImportOnlyTheirLibraries(t *testing.T) {
	t.Parallel()
	for path, imported := range imports(t) {
		for _, i := range imported {
			for library, owner := range owners {
				if (i == library || strings.HasPrefix(i, library+"/")) && !slices.Contains(append(strings.Fields(owner), gauge), path) {
					t.Errorf("%s imports %s, which is for %s alone", path, i, owner)
				}
			}
		}
	}
}
