//go:build !linux

package vfs

// logOf makes a file a log.
func logOf(f osFile) File { return f }
