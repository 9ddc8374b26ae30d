package main

import (
	"fmt"
	"slices"
	"strings"
)

// A mark is a ratio that pushbox is to reach with the raw client.
type mark struct {
	operation   string
	ratio       ratio
	least       float64
	connections []int // for which the mark is set
}

// A ratio is one of those in a result; nil if the run does not have it.
type ratio struct {
	to string // what a result is compared with
	of func(result) *float64
}

var (
	toBare    = ratio{"bare", func(v result) *float64 { return &v.Ratio }}
	toBareCPU = ratio{"bare, by CPU", func(v result) *float64 { return v.CPURatio }}
	toBeside  = ratio{"the operation beside it", func(v result) *float64 { return v.Beside }}
	toOlder   = ratio{"the older server", func(v result) *float64 { return v.Older }}
)

// noise is the part of a rate by which two runs of one program may differ.
const noise = 0.03

// marks are in the order of the report.
var marks = []mark{
	{lastView, toBeside, 0.9, []int{16, 64, 256}},
	{lastView, toBare, 0.27, []int{64}},
	{lastView, toBare, 0.33, []int{256}},
	{deletePush, toBeside, 0.9, []int{16, 64, 256}},
	{lastFileView, toBeside, 0.9, []int{16, 64, 256}},
	{wrongWord, toBeside, 0.9, []int{16, 64, 256}},
	{createPush, toBare, 0.36, []int{64}},
	{createPush, toBareCPU, 0.42, []int{64}},
	{createPush, toOlder, 1 - noise, []int{16, 64, 256}},
	{plainView, toOlder, 1 - noise, []int{16, 64, 256}},
}

// A verdict says whether a result reaches a mark.
type verdict struct {
	Connections int     `json:"connections"`
	Subject     string  `json:"subject"`
	Operation   string  `json:"operation"`
	To          string  `json:"to"`
	Mark        float64 `json:"mark"`
	Found       float64 `json:"found"`
	Pass        bool    `json:"pass"`
}

// judge compares the results of a subject with the marks.
func judge(results []result, subject string) (all []verdict) {
	for _, m := range marks {
		for _, v := range results {
			found := m.ratio.of(v)
			if v.Subject == subject && v.Operation == m.operation && slices.Contains(m.connections, v.Connections) && found != nil {
				all = append(all, verdict{v.Connections, subject, m.operation, m.ratio.to, m.least, *found, *found >= m.least})
			}
		}
	}
	return all
}

// writeMarks writes the verdicts as a table; nothing if there are none.
func (r *report) writeMarks(b *strings.Builder) {
	if len(r.Marks) == 0 {
		return
	}
	b.WriteString("\n### Marks\n\n| connections | server | operation | compared with | mark | found | |\n|---|---|---|---|---|---|---|\n")
	for _, v := range r.Marks {
		outcome := "miss"
		if v.Pass {
			outcome = "pass"
		}
		fmt.Fprintf(b, "| %d | %s | %s | %s | %.2f | %.2f | %s |\n", v.Connections, v.Subject, v.Operation, v.To, v.Mark, v.Found, outcome)
	}
}
