package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
)

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
