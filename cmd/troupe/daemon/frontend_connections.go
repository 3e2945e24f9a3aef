package daemon

import "cmp"

// Limits for client connections, and the descriptors reserved for files and outgoing connections.
// Without a reserve, client connections could use up all descriptors, and the server could not
// write its journal.
const (
	minConnections         = 64
	defaultMaxConnections  = 200_000
	maxReservedDescriptors = 1024
)

func (s Serving) connectionLimit() int {
	files := openFileLimit()
	most := max(files-min(files/8, maxReservedDescriptors), minConnections)
	if s.MaxConnections > 0 {
		return min(s.MaxConnections, most)
	}
	return min(most, defaultMaxConnections)
}

// The default and maximum number of concurrent streams per HTTP/2 connection.
const (
	defaultHTTP2Streams = 100
	maxHTTP2Streams     = 10_000
)

func (s Serving) http2Streams() int {
	if s.DisableHTTP2 {
		return 0
	}
	return cmp.Or(s.HTTP2MaxStreams, defaultHTTP2Streams)
}
