//go:build unix

package daemon

import "syscall"

// openFileLimit returns the limit on open files, which the Go runtime raises to the hard limit at
// startup.
func openFileLimit() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 1024
	}
	return int(min(limit.Cur, 1<<30))
}
