package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A report is the result of a run, as --json prints it.
type report struct {
	Machine  machine   `json:"machine"`
	Servers  []built   `json:"servers"` // those that the run started
	Client   string    `json:"client"`
	Stored   int       `json:"stored"`
	Payload  int       `json:"payload_bytes"`
	Rounds   int       `json:"rounds"`
	Round    string    `json:"round"`
	Rest     string    `json:"rest"`
	Results  []result  `json:"results"`
	Marks    []verdict `json:"marks"` // of the first pushbox that the run started; none for the net client
	sections []int     // connections, in order
}

// A result is that of one operation of one subject. Figures are medians over the rounds
// unless a comment says otherwise; a figure that the system does not tell is null.
type result struct {
	Connections  int                `json:"connections"`
	Subject      string             `json:"subject"`
	Operation    string             `json:"operation"`
	Requests     int                `json:"requests"`  // in all rounds
	Rate         float64            `json:"rate"`      // a second
	Rates        []float64          `json:"rates"`     // of each round
	Ratio        float64            `json:"ratio"`     // to the rate of the bare handler in the same round
	CPURatio     *float64           `json:"cpu_ratio"` // CPU time per request, of server and load generator: with the bare handler, divided by this one
	Beside       *float64           `json:"beside"`    // to the rate of the operation that a report compares it with, in the same round
	BesideCPU    *float64           `json:"beside_cpu"`
	Older        *float64           `json:"older"` // to the rate of the last pushbox of several, in the same round
	OlderCPU     *float64           `json:"older_cpu"`
	To           map[string]float64 `json:"to,omitempty"` // of the command postgres: to the rate of each other subject, in the same round
	P50          float64            `json:"p50_ms"`
	P99          float64            `json:"p99_ms"`
	CPU          *float64           `json:"cpu_us"`           // of the server per request, over all rounds
	GeneratorCPU *float64           `json:"generator_cpu_us"` // of the load generator per request, over all rounds
	Written      *float64           `json:"written_bytes"`    // per request, over all rounds
	Handed       *float64           `json:"handed_bytes"`     // to write calls, per request, over all rounds
	Resident     *float64           `json:"resident_bytes"`   // after the last round
}

func newReport(b *bench) *report {
	r := &report{Machine: thisMachine(b.dir), Client: "net", Stored: b.o.stored, Payload: b.o.payload, Rounds: b.o.rounds, Round: b.o.round.String(), Rest: b.o.rest.String()}
	if b.o.raw {
		r.Client = "raw"
	}
	for _, s := range b.subjects {
		if s.path != "" {
			r.Servers = append(r.Servers, buildOf(s.name, s.path))
		}
	}
	return r
}

// add adds the results of the operations. The first operation is the bare one.
func (r *report) add(conns int, ops []operation, laps [][]lap) {
	r.sections = append(r.sections, conns)
	var first, older string
	if len(r.Servers) > 0 {
		first = r.Servers[0].Name
	}
	if len(r.Servers) > 1 {
		older = r.Servers[len(r.Servers)-1].Name
	}
	find := func(subject, name string) []lap {
		i := slices.IndexFunc(ops, func(op operation) bool { return op.subject.name == subject && op.name == name })
		if i < 0 {
			return nil
		}
		return laps[i]
	}
	begin := len(r.Results)
	for i, op := range ops {
		v := newResult(conns, op, laps[i], laps[0])
		if other := find(op.subject.name, op.beside); other != nil {
			v.Beside, v.BesideCPU = figure(rateRatio(laps[i], other)), figure(cpuRatio(laps[i], other))
		}
		if other := find(older, op.name); other != nil && op.subject.name != older {
			v.Older, v.OlderCPU = figure(rateRatio(laps[i], other)), figure(cpuRatio(laps[i], other))
		}
		r.Results = append(r.Results, v)
	}
	if r.Client == "raw" {
		r.Marks = append(r.Marks, judge(r.Results[begin:], first)...)
	}
}

func newResult(conns int, op operation, laps, bare []lap) result {
	v := result{Connections: conns, Subject: op.subject.name, Operation: op.name, Ratio: rateRatio(laps, bare), CPURatio: figure(cpuRatio(laps, bare))}
	for _, l := range laps {
		v.Rates = append(v.Rates, l.rate())
	}
	v.Rate = median(v.Rates)
	v.P50 = medianOf(laps, func(l lap) float64 { return milliseconds(l.p50) })
	v.P99 = medianOf(laps, func(l lap) float64 { return milliseconds(l.p99) })
	n, server, generator := total(laps)
	v.Requests = int(n)
	v.CPU, v.GeneratorCPU = figure(server.cpu/n*1e6), figure(generator.cpu/n*1e6)
	v.Written, v.Handed = figure(server.written/n), figure(server.handed/n)
	v.Resident = figure(laps[len(laps)-1].server.resident)
	return v
}

// rateRatio is the median of the ratios of rates in the same round.
func rateRatio(laps, to []lap) float64 {
	ratios := make([]float64, len(laps))
	for i, l := range laps {
		ratios[i] = l.rate() / to[i].rate()
	}
	return median(ratios)
}

// cpuRatio is the CPU time of a request, of server and load generator, in the laps to
// compare with, divided by that in these.
func cpuRatio(laps, to []lap) float64 {
	n, server, generator := total(laps)
	m, toServer, toGenerator := total(to)
	return (toServer.cpu + toGenerator.cpu) / m / ((server.cpu + generator.cpu) / n)
}

// total adds up the requests of laps, and what they used.
func total(laps []lap) (requests float64, server, generator usage) {
	for _, l := range laps {
		requests += float64(l.requests)
		server, generator = server.plus(l.server), generator.plus(l.generator)
	}
	return requests, server, generator
}

// figure makes a figure of the report; nil if the number is unknown.
func figure(n float64) *float64 {
	if math.IsNaN(n) || math.IsInf(n, 0) {
		return nil
	}
	return &n
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func (r *report) writeJSON(out io.Writer) error {
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// writeTables writes Markdown.
func (r *report) writeTables(out io.Writer) error {
	var b strings.Builder
	r.writeHeader(&b)
	for _, conns := range r.sections {
		fmt.Fprintf(&b, "\n### Connections: %d\n\n", conns)
		b.WriteString("| server | operation | per second | ratio | by CPU | beside | by CPU | to older | by CPU | p50 ms | p99 ms | CPU µs | client's CPU µs | written B | memory MiB |\n")
		b.WriteString("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n")
		for _, v := range r.Results {
			if v.Connections == conns {
				fmt.Fprintf(&b, "| %s | %s | %s | %.2f | %s | %s | %s | %s | %s | %.2f | %.2f | %s | %s | %s | %s |\n", v.Subject, v.Operation, grouped(v.Rate), v.Ratio,
					cell(v.CPURatio, 1, 2), ratioCell(v.Beside), ratioCell(v.BesideCPU), ratioCell(v.Older), ratioCell(v.OlderCPU),
					v.P50, v.P99, cell(v.CPU, 1, 1), cell(v.GeneratorCPU, 1, 1), cell(v.Written, 1, 0), cell(v.Resident, 1<<20, 1))
			}
		}
	}
	r.writeMarks(&b)
	_, err := io.WriteString(out, b.String())
	return err
}

// writeHeader writes the machine, the servers and the options.
func (r *report) writeHeader(b *strings.Builder) {
	m := r.Machine
	fmt.Fprintf(b, "%s, %d cores, %s %s, %s, data on %s, load before %s\n", m.CPU, m.Cores, m.System, m.Kernel, m.Go, m.Disk, m.Load)
	for _, s := range r.Servers {
		fmt.Fprintf(b, "%s: %s\n", s.Name, s)
	}
	fmt.Fprintf(b, "client %s, %s stored, payload of %d bytes, %d rounds of %s, then a rest of %s, medians\n", r.Client, grouped(float64(r.Stored)), r.Payload, r.Rounds, r.Round, r.Rest)
}

// ratioCell formats a ratio that only some results have.
func ratioCell(v *float64) string {
	if v == nil {
		return ""
	}
	return cell(v, 1, 2)
}

// cell formats a figure in a unit for a table.
func cell(v *float64, unit float64, decimals int) string {
	switch {
	case v == nil:
		return "?"
	case decimals == 0:
		return grouped(*v / unit)
	default:
		return strconv.FormatFloat(*v/unit, 'f', decimals, 64)
	}
}

// grouped formats a whole number with commas between thousands.
func grouped(n float64) string {
	s := strconv.FormatFloat(n, 'f', 0, 64)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
