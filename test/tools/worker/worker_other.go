//go:build !unix

package worker

// Serve needs sockets that carry files.
func Serve(name string, run func() (code int)) { panic("a worker needs sockets that carry files") }

// Exit has no command to end.
func Exit(code int) { panic("no worker runs") }
