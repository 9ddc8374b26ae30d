package main

import (
	"cmp"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// A report is the result of a run, as --json prints it. Rates, times and their ratios are medians over the rounds; CPU
// times and bytes are those of a request, over all rounds; the memory is that after the last round.
type report struct {
	Header  []string   `json:"header"`
	Columns []string   `json:"columns"`
	Rows    [][]string `json:"rows"`

	bench *bench
	to    []string // what results are compared with
	older string   // the last pushbox of several
}

// What a result is compared with, beside subjects.
const (
	besideWord = "beside" // the operation beside it, of the same subject
	olderWord  = "older"  // the last pushbox of several
)

// marks are the ratios that pushbox is to reach with the raw client.
var marks = map[string]float64{
	"last view to beside": 0.9, "delete to beside": 0.9, "last view of a file to beside": 0.9, "wrong passphrase to beside": 0.9,
	"last view to bare at 64": 0.27, "last view to bare at 256": 0.33, "create to bare at 64": 0.36, "create by CPU to bare at 64": 0.42,
	"create to older": 0.97, "view to older": 0.97, // two runs of one program may differ by this much
	"postgres: create to pgx": 0.7, "postgres: view to pgx": 0.5, "postgres: view of one push to pgx": 0.2,
	"postgres, two: create to postgres": 1, "postgres, two: view to postgres": 1,
	"postgres, many: create to postgres": 0.8, "postgres, many: view to postgres": 0.8,
	"postgres, many: list page to postgres": 0.8, "postgres, many: audit page to postgres": 0.8,
}

func newReport(b *bench) *report {
	r := &report{bench: b, Header: []string{machine(b.dir)}, Columns: []string{"connections", "server", "operation", "per second"}}
	r.to = map[string][]string{"": {bareWord, besideWord}, boltCommand: {boltWord}, postgresCommand: {pgxWord, boltWord, oneServer}}[b.command]
	for _, s := range b.subjects {
		if s.path != "" {
			r.Header, r.older = append(r.Header, s.name+": "+build(s.path)), s.name
		}
	}
	if b.command == "" && len(r.Header) > 1+1 {
		r.to = append(r.to, olderWord)
	}
	r.Header = append(r.Header, fmt.Sprintf("client %s, %d stored, payload of %d bytes, %d rounds of %s, then a rest of %s, medians",
		b.client, b.stored, b.payload, b.rounds, b.round, b.rest))
	title := map[bool]string{false: "to ", true: "times as long as "}[b.command == boltCommand]
	for _, to := range r.to {
		r.Columns = append(r.Columns, title+to, "by CPU")
	}
	r.Columns = append(r.Columns, "p50 ms", "p99 ms", "p99.9 ms", "longest ms", "CPU µs", "client's CPU µs", "written B", "handed B", "memory MiB")
	if b.commits {
		r.Columns = append(r.Columns, "longest commits ms")
	}
	return r
}

// add adds the results of the operations. With bolt, ratios are those of the times of a request, else those of rates.
func (r *report) add(conns int, ops []operation, laps [][]lap) {
	compared := lap.rate
	if r.bench.command == boltCommand {
		compared = func(l lap) float64 { return l.times[0] }
	}
	for i, op := range ops {
		mine := laps[i]
		row := []string{strconv.Itoa(conns), op.subject.name, op.name, cell(median(mine, nil, lap.rate), 0)}
		for _, to := range r.to {
			j := slices.IndexFunc(ops, func(other operation) bool { return r.compares(op, other, to) })
			if j < 0 {
				row = append(row, "", "")
				continue
			}
			byCPU := perRequest(laps[j], lap.cpu) / perRequest(mine, lap.cpu)
			row = append(row, r.marked(median(mine, laps[j], compared), conns, op, " to "+to), r.marked(byCPU, conns, op, " by CPU to "+to))
		}
		server := func(n int) float64 { return perRequest(mine, func(l lap) float64 { return l.server[n] }) }
		generator := perRequest(mine, func(l lap) float64 { return l.generator[cpu] })
		for i := range percentiles {
			row = append(row, cell(median(mine, nil, func(l lap) float64 { return l.times[i] }), 3))
		}
		row = append(row, cell(server(cpu)*1e6, 1), cell(generator*1e6, 1), cell(server(written), 0), cell(server(handed), 0),
			cell(mine[len(mine)-1].server[resident]/(1<<20), 1))
		if r.bench.commits {
			row = append(row, longestOf(mine))
		}
		r.Rows = append(r.Rows, row)
	}
}

// longestOf names for each work the time that no commit of the laps exceeded, as far as the buckets of the metrics tell.
func longestOf(laps []lap) string {
	longest := make(map[string]float64)
	for _, l := range laps {
		for work, took := range l.commits {
			longest[work] = max(longest[work], took)
		}
	}
	words := make([]string, 0, len(longest))
	for _, work := range slices.Sorted(maps.Keys(longest)) {
		words = append(words, fmt.Sprintf("%s ≤ %g", work, longest[work]*1e3))
	}
	return strings.Join(words, ", ")
}

// compares reports whether the report compares an operation with another one under that name.
func (r *report) compares(op, other operation, name string) bool {
	switch name {
	case bareWord:
		return other.name == bareWord
	case besideWord:
		return other.subject == op.subject && other.name == op.beside
	case olderWord:
		name = r.older
	}
	return other.name == op.name && other.subject.name == name && other.subject != op.subject
}

// median is the median of a figure of each lap, or of its ratios to that of the other laps in the same rounds.
func median(laps, others []lap, of func(lap) float64) float64 {
	values := make([]float64, len(laps))
	for i, l := range laps {
		if values[i] = of(l); others != nil {
			values[i] /= of(others[i])
		}
	}
	return percentile(values, 50)
}

// perRequest divides the sum of a figure by the number of requests.
func perRequest(laps []lap, of func(lap) float64) float64 {
	sum, requests := 0.0, 0
	for _, l := range laps {
		sum, requests = sum+of(l), requests+l.requests
	}
	return sum / float64(requests)
}

// marked formats a ratio, with the mark that a started pushbox is to reach.
func (r *report) marked(found float64, conns int, op operation, to string) string {
	mark := cmp.Or(marks[op.name+to], marks[op.name+to+" at "+strconv.Itoa(conns)], marks[op.subject.name+": "+op.name+to])
	switch {
	case mark == 0 || r.bench.client != "raw" || op.subject.path == "" || conns < mostSlow:
		return cell(found, 2)
	case found < mark:
		return fmt.Sprintf("%.2f < %.2f", found, mark)
	default:
		return fmt.Sprintf("%.2f ≥ %.2f", found, mark)
	}
}

// cell formats a figure, with commas between thousands if it is whole. One that the system does not tell is NaN.
func cell(figure float64, decimals int) string {
	if math.IsNaN(figure) || math.IsInf(figure, 0) {
		return "?"
	}
	s := strconv.FormatFloat(figure, 'f', decimals, 64)
	for i := len(s) - 3; decimals == 0 && i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// write writes JSON, or a table in Markdown.
func (r *report) write(out io.Writer) error {
	if r.bench.json {
		return json.NewEncoder(out).Encode(r)
	}
	text := strings.Join(r.Header, "\n") + "\n\n"
	for _, row := range slices.Concat([][]string{r.Columns, slices.Repeat([]string{"---"}, len(r.Columns))}, r.Rows) {
		text += "| " + strings.Join(row, " | ") + " |\n"
	}
	_, err := io.WriteString(out, text)
	return err
}

// machine describes where the figures were measured: the processor, the kernel, the file system of the data, and the
// load of the minute before the run.
func machine(dir string) string {
	const ask = `sed -n 's/^model name.*: //p;T;q' /proc/cpuinfo; uname -srm; findmnt -no FSTYPE -T "$0"; cut -d' ' -f1 /proc/loadavg`
	said, _ := exec.Command("sh", "-c", ask, dir).Output() // other systems do not tell all of it
	words := append(strings.Split(strings.TrimSpace(string(said)), "\n"), runtime.Version(), strconv.Itoa(runtime.NumCPU())+" cores")
	return strings.Join(words, ", ")
}

// build is the version of a program, which has its commit, and that of Go.
func build(path string) string {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return "unknown" // a script, perhaps
	}
	return info.Main.Version + ", " + info.GoVersion
}
