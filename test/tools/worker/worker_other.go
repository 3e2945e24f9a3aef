//go:build !unix

package worker

// Serve panics, because workers need Unix sockets, which can pass open files.
func Serve(name string, run func() (code int)) { panic("a worker needs sockets that carry files") }

// Exit panics, because on this platform Serve never runs a command.
func Exit(code int) { panic("no worker runs") }
