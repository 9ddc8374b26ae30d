package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
)

// metricsToken is the token for the metrics of the servers that the tool starts.
var metricsToken = rand.Text()

// commits are the numbers of commits of a server until now, by what they did beside their operations, and by the
// longest time that they may have taken, in seconds.
type commits map[string]map[float64]float64

var commitBucket = regexp.MustCompile(`(?m)^pushbox_store_commit_duration_seconds_bucket\{work="(\w+)",le="([^"]+)"\} (\d+)$`)

// commits asks a server that the tool has started for its metrics, with --commits.
func (s *subject) commits(ctx context.Context, b *bench) (commits, error) {
	if !b.commits || s.path == "" {
		return nil, nil
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.urls[0]+"/metrics", http.NoBody)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+metricsToken)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	var body bytes.Buffer
	status, text, err := read(res, &body)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("the metrics were answered %d", status)
	}
	return commitsIn(text), err
}

// commitsIn reads the buckets of the histogram, each of which counts the commits of all shorter ones, too.
func commitsIn(text []byte) commits {
	all := make(commits)
	for _, found := range commitBucket.FindAllSubmatch(text, -1) {
		work := string(found[1])
		most, _ := strconv.ParseFloat(string(found[2]), 64) // +Inf is a number
		count, _ := strconv.ParseFloat(string(found[3]), 64)
		if all[work] == nil {
			all[work] = make(map[float64]float64)
		}
		all[work][most] = count
	}
	return all
}

// longest returns for each work the least time that no commit since before exceeded. A work without a commit is missing.
func (c commits) longest(before commits) map[string]float64 {
	times := make(map[string]float64)
	for work, buckets := range c {
		last := 0.0
		for _, most := range slices.Sorted(maps.Keys(buckets)) {
			if count := buckets[most] - before[work][most]; count > last {
				last, times[work] = count, most
			}
		}
	}
	return times
}
