//go:build !linux

package vfs

// newLogFile opens a file as a log. Its writes are durable after Sync, which uses F_FULLFSYNC on
// macOS.
func newLogFile(f osFile) File { return f }
