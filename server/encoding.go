package server

import (
	"strconv"
	"strings"
)

// takesGzip reports whether a client with these headers Accept-Encoding takes an answer that
// is compressed with gzip (RFC 9110, 12.5.3). A weight of 0 refuses, and what is said of gzip
// counts more than what is said of all codings.
func takesGzip(accept []string) bool {
	all := false
	for _, line := range accept {
		for coding := range strings.SplitSeq(line, ",") {
			name, parameters, _ := strings.Cut(coding, ";")
			switch strings.ToLower(strings.TrimSpace(name)) {
			case "gzip", "x-gzip":
				return weighs(parameters)
			case "*":
				all = weighs(parameters)
			}
		}
	}
	return all
}

// weighs reports whether the weight in the parameters of a coding is more than 0, as it is
// where there is none.
func weighs(parameters string) bool {
	q, given := strings.CutPrefix(strings.ToLower(strings.TrimSpace(parameters)), "q=")
	if !given {
		return parameters == ""
	}
	weight, err := strconv.ParseFloat(q, 64)
	return err == nil && weight > 0 && weight <= 1
}
