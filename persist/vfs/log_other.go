//go:build !linux

package vfs

// newLogFile opens a file as a log. Its writes are durable after Sync, which on macOS uses F_FULLFSYNC,
// as that of all files of package os.
func newLogFile(f osFile) File { return f }
