//go:build unix

package server

import (
	"fmt"
	"syscall"
)

// RaiseDescriptors makes the hard limit of open files the one in force, here and in the processes
// that are started from here, and returns it.
func RaiseDescriptors() (int, error) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0, fmt.Errorf("limit of open files: %w", err)
	}
	limit.Cur = limit.Max
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0, fmt.Errorf("limit of open files: %w", err)
	}
	return int(limit.Cur), nil
}
