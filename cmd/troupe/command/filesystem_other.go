//go:build !linux

package command

import "math"

// fileSystemOf checks nothing, because free space and types are read only on Linux.
func fileSystemOf(string) (fileSystem, error) { return fileSystem{free: math.Inf(1)}, nil }
