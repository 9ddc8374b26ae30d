//go:build !linux

package pgtest

import "syscall"

func dieWithParent(*syscall.SysProcAttr) {}

func inMemory() string { return "" }
