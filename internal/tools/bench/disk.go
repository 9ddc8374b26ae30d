package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// diskDir returns the first directory that exists and is on a disk: in memory a sync
// costs nothing.
func diskDir(candidates ...string) (string, error) {
	for _, dir := range candidates {
		if s, err := os.Stat(dir); err == nil && s.IsDir() && !inMemory(fileSystem(dir)) {
			return dir, nil
		}
	}
	return "", errors.New("no directory for temporary files is on a disk: give --dir")
}

func inMemory(kind string) bool { return kind == "tmpfs" || kind == "ramfs" }

// fileSystem returns the type of the file system of a directory.
func fileSystem(dir string) string {
	path, err := filepath.Abs(dir)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	mounts, err2 := os.ReadFile("/proc/self/mounts")
	if err != nil || err2 != nil {
		return unknown
	}
	return kindOf(path, string(mounts))
}

// kindOf returns the type of the mount that a path is on: the one with the longest
// path, and the later one of two with the same path.
func kindOf(path, mounts string) string {
	kind, longest := unknown, -1
	for l := range strings.Lines(mounts) {
		f := strings.Fields(l)
		if len(f) < 3 || len(f[1]) < longest {
			continue
		}
		if at := strings.TrimSuffix(f[1], "/"); path == at || strings.HasPrefix(path, at+"/") {
			kind, longest = f[2], len(f[1])
		}
	}
	return kind
}
