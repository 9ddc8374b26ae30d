package main

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// arrows are the packages of pushbox that each of them may import. What is not
// listed imports none.
var arrows = map[string][]string{
	"pushbox":                            {"internal/cli"},
	"pushbox/internal/cli":               {"config", "internal/admin", "internal/backup", "internal/certs", "internal/client", "internal/doctor", "internal/durable", "internal/httpd", "internal/lang", "internal/mail", "internal/metrics", "internal/sdnotify", "internal/secret", "internal/webhook", "server", "server/web", "store", "store/bolt", "store/seal"},
	"pushbox/internal/client":            {"internal/secret"},
	"pushbox/internal/certs":             {"config", "internal/durable"},
	"pushbox/internal/doctor":            {"config", "internal/admin", "internal/backup", "internal/clientip"},
	"pushbox/internal/metrics":           {"server", "store"},
	"pushbox/internal/admin":             {"internal/httpd", "internal/secret", "store"},
	"pushbox/internal/backup":            {"internal/durable"},
	"pushbox/internal/webhook":           {"internal/secret", "store"},
	"pushbox/internal/mail":              {"internal/lang", "internal/secret", "store"},
	"pushbox/server":                     {"config", "internal/clientip", "internal/lang", "internal/limit", "internal/secret", "internal/strictjson", "server/web", "store"},
	"pushbox/server/web":                 {"internal/lang"},
	"pushbox/store":                      {"internal/limit", "internal/secret", "store/seal"},
	"pushbox/store/seal":                 {"internal/durable", "internal/secret"},
	"pushbox/store/bolt":                 {"internal/durable", "store"},
	"pushbox/store/storetest":            {"internal/secret", "store", "store/bolt", "store/seal"},
	"pushbox/internal/bench":             {"internal/tool"},
	"pushbox/internal/faults":            {"internal/tool"},
	"pushbox/internal/release":           {"internal/cli", "internal/tool"},
	"pushbox/config":                     {"internal/secret"},
	"pushbox/config/internal/genexample": {"config"},
}

// owners are the outside libraries that only one package may import.
var owners = map[string]string{
	"go.etcd.io/bbolt":                    "pushbox/store/bolt",
	"github.com/spf13/viper":              "pushbox/config",
	"github.com/julienschmidt/httprouter": "pushbox/server",
	"golang.org/x/text":                   "pushbox/internal/lang",
	"golang.org/x/net":                    "pushbox/server",
	"github.com/boombuler/barcode":        "pushbox/server",
	"github.com/pquerna/otp":              "pushbox/store",
	"github.com/wneessen/go-mail":         "pushbox/internal/mail",
	"github.com/emersion/go-smtp":         "pushbox/internal/mail/mailtest",
	"github.com/emersion/go-sasl":         "pushbox/internal/mail/mailtest",
	"github.com/hanwen/go-fuse/v2":        "pushbox/internal/faultfs",
	"filippo.io/age":                      "pushbox/internal/backup",
	"github.com/mholt/acmez/v3":           "pushbox/internal/certs",
	"github.com/letsencrypt/pebble/v2":    "pushbox/internal/acmetest",
	"github.com/spf13/cobra":              "pushbox/internal/cli",
	"github.com/prometheus":               "pushbox/internal/metrics",
	"github.com/schollz/progressbar/v3":   "pushbox/internal/cli",
}

// gauge measures bbolt itself. It is no part of the server.
const gauge = "pushbox/internal/bench"

func TestPackagesImportOnlyWhatTheyMay(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	d, seen := json.NewDecoder(strings.NewReader(string(out))), 0
	for {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		seen++
		for _, i := range p.Imports {
			inner, own := strings.CutPrefix(i, "pushbox/")
			if own && !slices.Contains(arrows[p.ImportPath], inner) {
				t.Errorf("%s imports %s", p.ImportPath, i)
			}
			for library, owner := range owners {
				if (i == library || strings.HasPrefix(i, library+"/")) && p.ImportPath != owner && p.ImportPath != gauge {
					t.Errorf("%s imports %s, which is for %s alone", p.ImportPath, i, owner)
				}
			}
		}
	}
	if seen < len(arrows) {
		t.Errorf("only %d packages were seen", seen)
	}
}
