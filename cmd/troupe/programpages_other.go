//go:build !linux

package main

// releaseProgram does nothing where the pages of a program are not counted as memory of its process.
func releaseProgram() {}
