//go:build !linux

package command

// releaseProgram does nothing: on these systems program pages do not count as process memory.
func releaseProgram() {}
