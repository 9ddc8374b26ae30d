package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
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

// sign signs the checksums, and so every file of the release, with the program minisign. The
// signature is in a file beside them. minisign asks for the password of the key file on in.
func sign(ctx context.Context, src source, o options, in io.Reader, notes io.Writer) (name string, err error) {
	name = sumsName + ".minisig"
	said := new(bytes.Buffer)
	cmd := exec.CommandContext(ctx, "minisign", "-S", "-s", o.sign, "-m", filepath.Join(o.dist, sumsName),
		"-x", filepath.Join(o.dist, name), "-t", fmt.Sprintf("pushbox %s, commit %s", src.version, src.commit))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, io.MultiWriter(said, notes), io.MultiWriter(said, notes)
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("minisign: %w: %s", err, bytes.TrimSpace(said.Bytes()))
	}
	return name, nil
}
