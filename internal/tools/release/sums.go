package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
)

const sumsName = "SHA256SUMS" // in the form that sha256sum --check reads

// sums writes the SHA-256 of every file of the release.
func (j job) sums(context.Context, []build) error {
	names, err := namesIn(j.dist)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	for _, name := range names {
		b, err := os.ReadFile(filepath.Join(j.dist, name))
		if err != nil {
			return err
		}
		fmt.Fprintf(&out, "%s  %s\n", digest(b), name)
	}
	return writeFile(filepath.Join(j.dist, sumsName), content(out.Bytes()))
}

// digest is the SHA-256 of b, in hexadecimal.
func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
