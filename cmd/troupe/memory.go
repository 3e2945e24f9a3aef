package main

import (
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
)

// gcPercent is GOGC of a daemon that is told nothing else. Most of what a write allocates
// dies at once, and what stays alive is cheap to keep and dear to scan.
const gcPercent = 200

// limitShare is how much of the memory that the process may have at most its heap is kept
// below: the rest is for stacks, the kernel's buffers and the moment it takes to collect.
const limitShare = 0.9

// limitFiles are where the kernel says how much memory the control group of the process may
// have, in its newer and its older form.
var limitFiles = []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}

// tuneMemory sets what the environment leaves open: GOGC, and GOMEMLIMIT where the process runs
// in a control group with a limit, so that it collects more often instead of being killed.
func tuneMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	for _, path := range limitFiles {
		if limit, ok := memoryLimit(path); ok {
			debug.SetMemoryLimit(limit)
			return
		}
	}
}

// memoryLimit is the limit of the heap for the limit in a file; false if that has none.
func memoryLimit(path string) (int64, bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	bytes, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil || bytes <= 0 || bytes > math.MaxInt64/2 { // "max", or as good as that
		return 0, false
	}
	return int64(float64(bytes) * limitShare), true
}
