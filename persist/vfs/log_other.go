//go:build !linux

package vfs

// newLogFile returns f. Its writes become durable with Sync, which uses F_FULLFSYNC on macOS.
func newLogFile(f osFile) File { return f }
