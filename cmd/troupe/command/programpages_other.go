//go:build !linux

package command

// releaseProgram does nothing where the pages of a program are not counted as memory of its process.
func releaseProgram() {}
