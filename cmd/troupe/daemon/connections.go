package daemon

import "syscall"

// The bounds of connections where none is set, and how many descriptors are kept for files, and
// for connections to others such as webhooks.
const (
	leastConnections = 64
	mostConnections  = 200_000
	mostReserved     = 1024
)

// connections is how many may be open.
func (s Serving) connections() int {
	files := descriptors()
	most := max(files-min(files/8, mostReserved), leastConnections)
	if s.MaxConnections > 0 {
		return min(s.MaxConnections, most)
	}
	return min(most, mostConnections)
}

// descriptors is how many the process may have open. Go raises the limit to what is allowed.
func descriptors() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 1024
	}
	return int(min(limit.Cur, 1<<30))
}
