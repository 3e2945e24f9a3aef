//go:build !linux

package command

// releaseProgram does nothing, because executable pages do not count as process memory here.
func releaseProgram() {}
