package daemon

import "syscall"

// The bounds of connections where none is set, and how many descriptors are kept for files, and for
// connections to others such as webhooks. A server that could open no file because of its connections could
// not write its journal.
const (
	minConnections         = 64
	defaultMaxConnections  = 200_000
	maxReservedDescriptors = 1024
)

// connectionLimit is how many may be open. The bound of the operating system wins over the setting.
func (s Serving) connectionLimit() int {
	files := openFileLimit()
	most := max(files-min(files/8, maxReservedDescriptors), minConnections)
	if s.MaxConnections > 0 {
		return min(s.MaxConnections, most)
	}
	return min(most, defaultMaxConnections)
}

// openFileLimit is how many the process may have open. Go raises the limit to what is allowed.
func openFileLimit() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 1024
	}
	return int(min(limit.Cur, 1<<30))
}
