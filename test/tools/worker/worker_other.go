//go:build !unix

package worker

// Serve panics, because workers need Unix sockets that can pass open files.
func Serve(name string, run func() (code int)) { panic("a worker needs sockets that carry files") }

// Exit panics, because Serve never runs a command on this platform.
func Exit(code int) { panic("no worker runs") }
