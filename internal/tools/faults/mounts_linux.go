package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
)

// unmountBelow unmounts the file systems below a directory, which a crashed test
// leaves behind. Inner ones go first.
func unmountBelow(dir string) error {
	const place = 4 // of the path in a line, proc_pid_mountinfo(5)
	b, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return err
	}
	var below []string
	for line := range strings.Lines(string(b)) {
		fields := strings.Fields(line)
		if len(fields) > place && strings.HasPrefix(fields[place], dir+"/") {
			below = append(below, strings.ReplaceAll(fields[place], `\040`, " "))
		}
	}
	for _, path := range slices.Backward(below) {
		if unmountErr := syscall.Unmount(path, syscall.MNT_DETACH); unmountErr != nil {
			err = errors.Join(err, fmt.Errorf("unmount %s: %w", path, unmountErr))
		}
	}
	return err
}
