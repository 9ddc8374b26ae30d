package docs

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pushbox/internal/testkit/env"
)

// requirements are how many requirements of ASVS 5.0.0 each section has up to level 2, in V6, V7, V11
// and V12 up to level 3. Their numbers begin at 1 and have no gap.
const requirements = `1.1:2 1.2:9 1.3:11 1.4:3 1.5:2 2.1:3 2.2:3 2.3:4 2.4:1 3.2:2 3.3:4 3.4:6 3.5:5 3.7:2 4.1:3 4.2:1 4.3:2 4.4:4
	5.1:1 5.2:3 5.3:2 5.4:3 6.1:3 6.2:12 6.3:8 6.4:6 6.5:8 6.6:4 6.7:2 6.8:4 7.1:3 7.2:4 7.3:2 7.4:5 7.5:3 7.6:2 8.1:2 8.2:3 8.3:1 8.4:1
	9.1:3 9.2:4 10.1:2 10.2:2 10.3:4 10.4:11 10.5:5 10.6:2 10.7:3 11.1:4 11.2:5 11.3:5 11.4:4 11.5:2 11.6:2 11.7:2 12.1:5 12.2:2 12.3:5
	13.1:1 13.2:5 13.3:2 13.4:5 14.1:2 14.2:4 14.3:3 15.1:3 15.2:3 15.3:7 16.1:1 16.2:5 16.3:4 16.4:3 16.5:3 17.1:1 17.2:4 17.3:2`

var verified = regexp.MustCompile(`(?m)^\| (\d+\.\d+\.\d+) \| [123] \| [^|]+ \| (met|with settings|in part|not met|–) \| ([^|]+) \|$`)

// TestTheMapOfASVSIsWhole: each requirement has its row, the sums are right, and the summary names all
// rows that are not met.
func TestTheMapOfASVSIsWhole(t *testing.T) {
	t.Parallel()
	var want, got []string
	for _, section := range strings.Fields(requirements) {
		name, count, _ := strings.Cut(section, ":")
		for i := range env.Must(strconv.Atoi(count))(t) {
			want = append(want, fmt.Sprintf("%s.%d", name, i+1))
		}
	}
	text := string(readFile(t, "docs/asvs.md"))
	summary, _, _ := strings.Cut(text, "\n## V1 ")
	sums := make(map[string]int)
	for _, row := range verified.FindAllStringSubmatch(text, -1) {
		got = append(got, row[1])
		sums[row[2]]++
		listed := regexp.MustCompile(`\b` + regexp.QuoteMeta(row[1]) + `\b`).MatchString(summary)
		if listed != (row[2] == "not met" || row[2] == "in part") {
			t.Errorf("%s is %s, and in the summary: %v", row[1], row[2], listed)
		}
		if row[2] == "met" && row[3] == "" {
			t.Errorf("%s has no reason", row[1])
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("the rows are %v", got)
	}
	for state, count := range sums {
		if !strings.Contains(summary, fmt.Sprintf("| %s | %d |", state, count)) {
			t.Errorf("%d rows are %q", count, state)
		}
	}
}

// TestTheMapOfASVSNamesTestsThatExist: a test that was renamed would prove nothing.
func TestTheMapOfASVSNamesTestsThatExist(t *testing.T) {
	t.Parallel()
	exist := make(map[string]bool)
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)[A-Z]\w*)\(`)
	for _, file := range goTests(t) {
		for _, m := range declared.FindAllSubmatch(env.Must(os.ReadFile(file))(t), -1) {
			exist[string(m[1])] = true
		}
	}
	named := regexp.MustCompile("`((?:Test|Fuzz)[A-Z]\\w*|(?:e2e|server)/[\\w./]+)`").FindAllSubmatch(readFile(t, "docs/asvs.md"), -1)
	for _, m := range named {
		name := string(m[1])
		if strings.Contains(name, "/") {
			readFileOrDir(t, name)
		} else if !exist[name] {
			t.Errorf("there is no %s", name)
		}
	}
	if len(named) < 200 {
		t.Errorf("%d are named", len(named))
	}
}

// TestCryptographyIsInTheInventory finds each package that imports cryptography, and compares what it
// imports with the table.
func TestCryptographyIsInTheInventory(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports", "-deps", ".")
	cmd.Dir = absolute(t, ".")
	got := make(map[string]string)
	for d := json.NewDecoder(strings.NewReader(string(env.Must(cmd.Output())(t)))); d.More(); {
		var p struct {
			ImportPath string
			Imports    []string
		}
		env.OK(t, d.Decode(&p))
		var uses []string
		for _, i := range p.Imports {
			if i == "crypto" || strings.HasPrefix(i, "crypto/") || strings.HasPrefix(i, "golang.org/x/crypto/") {
				uses = append(uses, path.Base(i))
			}
		}
		if name, own := strings.CutPrefix(p.ImportPath, "pushbox/"); own && len(uses) > 0 {
			slices.Sort(uses)
			got[name] = strings.Join(uses, ", ")
		}
	}
	_, table, _ := strings.Cut(string(readFile(t, "docs/asvs.md")), "\n## Inventory of cryptography\n")
	want := make(map[string]string)
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\| ([^|]+) \\| [^|]+ \\|$").FindAllStringSubmatch(table, -1) {
		want[m[1]] = m[2]
	}
	if !maps.Equal(got, want) {
		t.Errorf("packages use\n%v\nand the inventory has\n%v", got, want)
	}
}

// goTests returns the files of all Go tests.
func goTests(t *testing.T) (files []string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", "ls-files", "-co", "--exclude-standard", "*_test.go")
	cmd.Dir = absolute(t, ".")
	for name := range strings.FieldsSeq(string(env.Must(cmd.Output())(t))) {
		files = append(files, filepath.Join(cmd.Dir, name))
	}
	return files
}

func readFileOrDir(t *testing.T, name string) {
	t.Helper()
	_, err := os.Stat(absolute(t, name))
	env.OK(t, err)
}
