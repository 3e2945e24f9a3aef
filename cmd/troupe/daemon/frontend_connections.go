package daemon

import "cmp"

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

// The requests that may be under way on one connection with HTTP/2: where nothing is set, and at most.
const (
	defaultHTTP2Streams = 100
	maxHTTP2Streams     = 10_000
)

// http2Streams is how many requests may be under way on one connection with HTTP/2; 0: there is no HTTP/2.
func (s Serving) http2Streams() int {
	if s.DisableHTTP2 {
		return 0
	}
	return cmp.Or(s.HTTP2MaxStreams, defaultHTTP2Streams)
}
