//go:build !linux

package command

import "math"

// fileSystemOf checks nothing on systems other than Linux.
func fileSystemOf(string) (fileSystem, error) { return fileSystem{free: math.Inf(1)}, nil }
