//go:build !linux

package command

import "math"

// fileSystemOf knows nothing about the file systems of other systems than Linux.
func fileSystemOf(string) (fileSystem, error) { return fileSystem{free: math.Inf(1)}, nil }
