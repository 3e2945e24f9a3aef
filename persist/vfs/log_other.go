//go:build !linux

package vfs

// logOf opens a file as a log.
func logOf(f osFile) File { return f }
