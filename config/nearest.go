package config

import "strings"

// didYouMean returns a question that names the known name nearest to the one
// that was given, or nothing if none is near.
func didYouMean(given string, known []string) string {
	const longest = 64 // no known name is longer; the work stays bounded
	if len(given) > longest {
		return ""
	}
	best, least := "", 1+max(1, len(strings.TrimPrefix(given, envPrefix))/4)
	for _, k := range known {
		if d := distance(strings.ToLower(given), strings.ToLower(k)); d < least {
			best, least = k, d
		}
	}
	if best == "" {
		return ""
	}
	return "; did you mean " + best + "?"
}

// distance is how many bytes must be inserted, dropped or replaced to make b of
// a (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
