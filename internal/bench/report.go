package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// A report is what a run has found, as --json prints it.
type report struct {
	Machine  machine  `json:"machine"`
	Servers  []built  `json:"servers"` // those that the run started
	Client   string   `json:"client"`
	Stored   int      `json:"stored"`
	Payload  int      `json:"payload_bytes"`
	Rounds   int      `json:"rounds"`
	Round    string   `json:"round"`
	Results  []result `json:"results"`
	sections []int    // connections, in order
}

// A result is of one operation of one subject. Unless it says otherwise a figure
// is the median over the rounds; what the system does not tell is null.
type result struct {
	Connections  int       `json:"connections"`
	Subject      string    `json:"subject"`
	Operation    string    `json:"operation"`
	Requests     int       `json:"requests"`  // in all rounds
	Rate         float64   `json:"rate"`      // a second
	Rates        []float64 `json:"rates"`     // of each round
	Ratio        float64   `json:"ratio"`     // to what the bare handler made in the same round
	CPURatio     *float64  `json:"cpu_ratio"` // what a request takes of server and load generator with the bare handler, to what it takes here
	P50          float64   `json:"p50_ms"`
	P99          float64   `json:"p99_ms"`
	CPU          *float64  `json:"cpu_us"`           // of the server per request, over all rounds
	GeneratorCPU *float64  `json:"generator_cpu_us"` // the same of the load generator
	Written      *float64  `json:"written_bytes"`    // per request, over all rounds
	Handed       *float64  `json:"handed_bytes"`     // to write calls, per request, over all rounds
	Resident     *float64  `json:"resident_bytes"`   // after the last round
}

func newReport(b *bench) *report {
	r := &report{Machine: thisMachine(b.dir), Client: "net", Stored: b.o.stored, Payload: b.o.payload, Rounds: b.o.rounds, Round: b.o.round.String()}
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

// add takes the laps of the operations, of which the first is the bare one.
func (r *report) add(conns int, ops []operation, laps [][]lap) {
	r.sections = append(r.sections, conns)
	for i, op := range ops {
		r.Results = append(r.Results, newResult(conns, op, laps[i], laps[0]))
	}
}

func newResult(conns int, op operation, laps, bare []lap) result {
	v := result{Connections: conns, Subject: op.subject.name, Operation: op.name}
	ratios := make([]float64, len(laps))
	for i, l := range laps {
		v.Rates, ratios[i] = append(v.Rates, l.rate()), l.rate()/bare[i].rate()
	}
	v.Rate, v.Ratio = median(v.Rates), median(ratios)
	v.P50 = medianOf(laps, func(l lap) float64 { return milliseconds(l.p50) })
	v.P99 = medianOf(laps, func(l lap) float64 { return milliseconds(l.p99) })
	n, server, generator := total(laps)
	bareN, bareServer, bareGenerator := total(bare)
	v.Requests, v.CPURatio = n, figure(bareServer.cpu.plus(bareGenerator.cpu).per(bareN).over(server.cpu.plus(generator.cpu).per(n)), 1)
	v.CPU, v.GeneratorCPU = figure(server.cpu.per(n), 1e6), figure(generator.cpu.per(n), 1e6)
	v.Written, v.Handed = figure(server.written.per(n), 1), figure(server.handed.per(n), 1)
	v.Resident = figure(laps[len(laps)-1].server.resident, 1)
	return v
}

// total adds up what laps were and used.
func total(laps []lap) (requests int, server, generator usage) {
	server, generator = noUsage(), noUsage()
	for _, l := range laps {
		requests += l.requests
		server, generator = server.plus(l.server), generator.plus(l.generator)
	}
	return requests, server, generator
}

// figure is the amount times a factor; nil if it is not known.
func figure(a amount, factor float64) *float64 {
	if !a.known {
		return nil
	}
	n := a.n * factor
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
		b.WriteString("| server | operation | per second | ratio | ratio by CPU | p50 ms | p99 ms | CPU µs | client's CPU µs | written B | memory MiB |\n|---|---|---|---|---|---|---|---|---|---|---|\n")
		for _, v := range r.Results {
			if v.Connections == conns {
				fmt.Fprintf(&b, "| %s | %s | %s | %.2f | %s | %.2f | %.2f | %s | %s | %s | %s |\n", v.Subject, v.Operation, grouped(v.Rate), v.Ratio,
					cell(v.CPURatio, 1, 2), v.P50, v.P99, cell(v.CPU, 1, 1), cell(v.GeneratorCPU, 1, 1), cell(v.Written, 1, 0), cell(v.Resident, 1<<20, 1))
			}
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// writeHeader says what was measured, with what and where.
func (r *report) writeHeader(b *strings.Builder) {
	m := r.Machine
	fmt.Fprintf(b, "%s, %d cores, %s %s, %s, data on %s, load before %s\n", m.CPU, m.Cores, m.System, m.Kernel, m.Go, m.Disk, m.Load)
	for _, s := range r.Servers {
		fmt.Fprintf(b, "%s: %s\n", s.Name, s)
	}
	fmt.Fprintf(b, "client %s, %s stored, payload of %d bytes, %d rounds of %s, medians\n", r.Client, grouped(float64(r.Stored)), r.Payload, r.Rounds, r.Round)
}

// cell is a figure in a unit, for a table.
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

// grouped is a whole number with commas between thousands.
func grouped(n float64) string {
	s := strconv.FormatFloat(n, 'f', 0, 64)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
