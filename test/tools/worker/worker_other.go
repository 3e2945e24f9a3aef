//go:build !unix

package worker

// Serve panics, because workers need sockets that pass files.
func Serve(name string, run func() (code int)) { panic("a worker needs sockets that carry files") }

// Exit panics, because no worker runs.
func Exit(code int) { panic("no worker runs") }
