//go:build unix

package main

import (
	"fmt"
	"syscall"
)

// raiseDescriptors raises the limit on open files to the hard limit, for this process and its
// children, and returns the new limit.
func raiseDescriptors() (int, error) {
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
