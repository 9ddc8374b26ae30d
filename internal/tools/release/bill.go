package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"
)

// A billed program is the input of tools/bill.
type billed struct {
	File, Serial, Version, Platform, Commit, Digest, Time string
	Info                                                  *debug.BuildInfo
	Script                                                scriptLibrary
}

// bills writes a bill of materials for each program.
func (j job) bills(ctx context.Context, builds []build) error {
	var all []any
	s, err := readScript(j.root)
	if err != nil {
		return err
	}
	for _, b := range builds {
		program, err := os.ReadFile(b.path)
		if err != nil {
			return err
		}
		all = append(all, billed{
			File:   filepath.Join(j.dist, fmt.Sprintf("pushbox-%s-%s.cdx.json", j.version, b.label())),
			Serial: serial(program), Version: j.version, Platform: b.target.String(), Commit: b.setting("vcs.revision"),
			Digest: digest(program), Time: j.time.Format(time.RFC3339), Info: b.info, Script: s,
		})
	}
	return j.tool(ctx, "bill", all...)
}

// serial names a bill by its program (a UUID of version 8, RFC 9562), so that it is
// the same whenever it is made.
func serial(program []byte) string {
	u := sha256.Sum256(append([]byte("bill of materials\n"), program...))
	u[6], u[8] = u[6]&0x0f|0x80, u[8]&0x3f|0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:16])
}
