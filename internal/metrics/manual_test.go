package metrics_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"

	"pushbox/internal/metrics"
	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/golden"
	"pushbox/store"
)

const (
	manual = "../../docs/monitoring.md"
	alerts = "../../deploy/prometheus-alerts.yml"
	board  = "../../deploy/grafana-dashboard.json"

	tableBegins = "<!-- the metrics: go test ./internal/metrics -update -->"
	tableEnds   = "<!-- the end of them -->"
)

// ours are the names of the metrics that are not those of any Go program.
func ours(all map[string]*dto.MetricFamily) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(all)), func(name string) bool {
		return strings.HasPrefix(name, "go_") || strings.HasPrefix(name, "process_")
	})
}

// table is what the manual has to say of the metrics.
func table(all map[string]*dto.MetricFamily) string {
	var b strings.Builder
	b.WriteString("| Metric | Type | Labels | What it is |\n|---|---|---|---|\n")
	for _, name := range ours(all) {
		f := all[name]
		var labels []string
		for _, l := range f.Metric[0].Label {
			labels = append(labels, "`"+l.GetName()+"`")
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", name, strings.ToLower(f.GetType().String()), strings.Join(labels, ", "), f.GetHelp())
	}
	return b.String()
}

// TestTheManualHasEveryMetric compares the table with the registry.
func TestTheManualHasEveryMetric(t *testing.T) {
	t.Parallel()
	all := allFamilies(t)
	if n := len(ours(all)); n < 20 {
		t.Errorf("there are only %d metrics", n)
	}
	golden.Section(t, manual, tableBegins, tableEnds, table(all))
}

var metricName = regexp.MustCompile(`\b(?:pushbox|process)_[a-z_]+[a-z]\b`)

// An alert rule that reads a metric that does not exist never fires.
func TestManualAlertsAndDashboardNameOnlyMetricsThatThereAre(t *testing.T) {
	t.Parallel()
	all := allFamilies(t)
	for _, file := range []string{manual, alerts, board} {
		text := env.Read(t, file)
		names := metricName.FindAllString(string(text), -1)
		for _, name := range names {
			family := regexp.MustCompile(`_(bucket|count|sum)$`).ReplaceAllString(name, "")
			if all[name] == nil && (all[family] == nil || all[family].GetType() != dto.MetricType_HISTOGRAM) {
				t.Errorf("%s: there is no %s", file, name)
			}
		}
		if len(names) < 8 {
			t.Errorf("%s names %d metrics", file, len(names))
		}
	}
}

func TestTheDashboardShowsEveryMetric(t *testing.T) {
	t.Parallel()
	text := env.Read(t, board)
	for _, name := range ours(allFamilies(t)) {
		if !strings.Contains(string(text), name) {
			t.Errorf("%s lacks %s", board, name)
		}
	}
}

// matcher is a label with the values that a rule asks for.
var matcher = regexp.MustCompile(`(route|class|limit|outcome|by|state|reason)=~?\\?"([^"\\]+)\\?"`)

func TestAlertsAndDashboardAskForValuesThatLabelsHave(t *testing.T) {
	t.Parallel()
	var text []byte
	for _, file := range []string{alerts, board} {
		one := env.Read(t, file)
		text = append(text, one...)
	}
	var exposed []byte
	for _, m := range []*metrics.Metrics{attached(), overPostgres(nil)} {
		_, one, err := m.Expose()
		env.OK(t, err)
		exposed = append(exposed, one...)
	}
	asked := matcher.FindAllStringSubmatch(string(text), -1)
	for _, m := range asked {
		for value := range strings.SplitSeq(m[2], "|") {
			if !strings.Contains(string(exposed), m[1]+`="`+value+`"`) {
				t.Errorf("no metric has %s=%q", m[1], value)
			}
		}
	}
	if len(asked) < 4 {
		t.Errorf("only %d labels were found", len(asked))
	}
}

// promtool reads each query of the dashboard, as the rule of an alert.
func TestPromtoolTakesTheDashboardsQueries(t *testing.T) {
	t.Parallel()
	tool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not installed here (Debian: prometheus)")
	}
	text := env.Read(t, board)
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	env.OK(t, json.Unmarshal(text, &dashboard))
	rules, queries := "groups:\n  - name: dashboard\n    rules:\n", 0
	for _, p := range dashboard.Panels {
		for _, q := range p.Targets {
			queries++
			expr := strings.NewReplacer("$__rate_interval", "5m").Replace(q.Expr)
			rules += fmt.Sprintf("      - alert: Query%d # %s\n        expr: %q\n", queries, p.Title, expr)
		}
	}
	name := filepath.Join(t.TempDir(), "rules.yml")
	env.OK(t, os.WriteFile(name, []byte(rules), 0o600))
	if out, err := exec.CommandContext(t.Context(), tool, "check", "rules", name).CombinedOutput(); err != nil || queries < 20 {
		t.Errorf("%d queries: %v\n%s", queries, err, out)
	}
}

// The alerts tolerate 15 sweep periods without a sweep.
func TestAlertsFollowTheSweepPeriod(t *testing.T) {
	t.Parallel()
	text := env.Read(t, alerts)
	limit := fmt.Sprintf("%.0f", (15 * store.SweepPeriod).Seconds())
	found := regexp.MustCompile(`pushbox_sweep_[a-z_]+ > ([0-9]+)`).FindAllStringSubmatch(string(text), -1)
	for _, m := range found {
		if m[1] != limit {
			t.Errorf("%q: the limit should be %s seconds", m[0], limit)
		}
	}
	env.Equal(t, "alerts read the time of sweeps, not 2", len(found), 2)
}

func TestPromtoolTakesMetricsAlertsAndTheManualsConfiguration(t *testing.T) {
	t.Parallel()
	tool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not installed here (Debian: prometheus)")
	}
	_, text, err := attached().Expose()
	env.OK(t, err)
	check := exec.CommandContext(t.Context(), tool, "check", "metrics")
	check.Stdin = bytes.NewReader(text)
	if out, err := check.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("metrics: %v\n%s", err, out)
	}
	for _, args := range [][]string{{"check", "rules", alerts}, {"test", "rules", "testdata/alerts_test.yml"}} {
		if out, err := exec.CommandContext(t.Context(), tool, args...).CombinedOutput(); err != nil {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
	}
	text = env.Must(os.ReadFile(manual))(t)
	_, block, _ := strings.Cut(string(text), "```yaml\n")
	block, _, _ = strings.Cut(block, "```")
	uncommented := strings.NewReplacer("# auth", "auth", "#   cred", "  cred").Replace(block)
	for _, content := range []string{block, uncommented} {
		name := filepath.Join(t.TempDir(), "prometheus.yml")
		env.OK(t, os.WriteFile(name, []byte(content), 0o600))
		if out, err := exec.CommandContext(t.Context(), tool, "check", "config", "--syntax-only", name).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", content, err, out)
		}
	}
	if block == uncommented || !strings.Contains(uncommented, "\n    authorization:\n      credentials_file:") {
		t.Errorf("the token is not there: %s", uncommented)
	}
}
