//go:build unix

package daemon

import "syscall"

// openFileLimit returns how many files the process may open. Go raises the limit to what is allowed.
func openFileLimit() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 1024
	}
	return int(min(limit.Cur, 1<<30))
}
