package main

import (
	"math"
	"slices"
	"testing"
	"time"
)

func TestMedians(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		numbers []float64
		want    float64
	}{
		{nil, 0},
		{[]float64{4}, 4},
		{[]float64{9, 1}, 5},
		{[]float64{9, 1, 2}, 2},
		{[]float64{8, 1, 100, 2}, 5},
		{[]float64{5, 5, 1, 5, 1000}, 5},
	} {
		before := slices.Clone(test.numbers)
		if got := median(test.numbers); got != test.want {
			t.Errorf("%v: got %v", test.numbers, got)
		}
		if !slices.Equal(before, test.numbers) {
			t.Errorf("%v became %v", before, test.numbers)
		}
	}
}

func TestPercentiles(t *testing.T) {
	t.Parallel()
	hundred := make([]int, 100)
	for i := range hundred {
		hundred[i] = i + 1
	}
	for _, test := range []struct {
		sorted  []int
		p, want int
	}{
		{nil, 50, 0},
		{[]int{7}, 0, 7},
		{[]int{7}, 99, 7},
		{[]int{1, 2}, 50, 1},
		{[]int{1, 2}, 51, 2},
		{[]int{1, 2, 3}, 50, 2},
		{hundred, 50, 50},
		{hundred, 99, 99},
		{hundred, 100, 100},
		{hundred[:99], 99, 99},
		{hundred[:10], 99, 10},
	} {
		if got := percentile(test.sorted, test.p); got != test.want {
			t.Errorf("%d of %v: got %d", test.p, test.sorted, got)
		}
	}
}

func TestALapSortsItsTimes(t *testing.T) {
	t.Parallel()
	l := newLap([]time.Duration{9, 1, 5}, 2*time.Second)
	if l.requests != 3 || l.p50 != 5 || l.p99 != 9 || l.rate() != 1.5 {
		t.Errorf("got %+v", l)
	}
}

func TestResultsAreMediansOfRoundsAndSumsOverThem(t *testing.T) {
	t.Parallel()
	used := func(cpu, written float64) usage {
		return usage{cpu, written, 2 * written, 1 << 20}
	}
	made := func(n int, p50 time.Duration, server usage) lap {
		return lap{requests: n, took: time.Second, p50: p50 * time.Millisecond, p99: 9 * time.Millisecond, server: server, generator: used(1, 0)}
	}
	bare := []lap{made(100, 1, used(0, 0)), made(50, 1, used(1, 0)), made(200, 1, used(0, 0))}
	laps := []lap{made(50, 3, used(1, 100)), made(40, 2, used(1, 100)), made(10, 7, used(0, 300))}
	v := newResult(64, operation{name: "view", subject: &subject{}}, laps, bare)
	if v.Requests != 100 || v.Rate != 40 || v.Ratio != 0.5 || v.P50 != 3 || v.P99 != 9 {
		t.Errorf("got %+v", v)
	}
	if *v.CPU != 20_000 || *v.GeneratorCPU != 30_000 || *v.Written != 5 || *v.Handed != 10 || *v.Resident != 1<<20 {
		t.Errorf("used: %v %v %v %v %v", *v.CPU, *v.GeneratorCPU, *v.Written, *v.Handed, *v.Resident)
	}
	if want := (4.0 / 350) / (5.0 / 100); math.Abs(*v.CPURatio-want) > 1e-9 {
		t.Errorf("the ratio by CPU is %v, not %v", *v.CPURatio, want)
	}
	laps[1].server.cpu = math.NaN()
	if v := newResult(64, operation{subject: &subject{}}, laps, bare); v.CPU != nil || v.CPURatio != nil || v.Written == nil {
		t.Error("an unknown round is left out")
	}
}

func TestNumbersAreGrouped(t *testing.T) {
	t.Parallel()
	for n, want := range map[float64]string{0: "0", 999: "999", 1000: "1,000", 54321.6: "54,322", 1234567: "1,234,567", -100: "-100", -1234: "-1,234"} {
		if got := grouped(n); got != want {
			t.Errorf("%v: got %s", n, got)
		}
	}
	half := 1536.0
	if cell(nil, 1, 0) != "?" || cell(&half, 1, 0) != "1,536" || cell(&half, 1024, 1) != "1.5" {
		t.Error("cells have another form")
	}
}
