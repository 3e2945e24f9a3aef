package main

import (
	"os"
	"runtime"
)

// spareProcessors stand in for those whose threads are in a system call. A write of the journal
// keeps its processor from other work until the runtime's monitor notices, which costs time and
// makes the monitor look every 20 µs; it does not look while others are free.
const spareProcessors = 2

// tuneProcessors sets GOMAXPROCS, if the environment leaves it open, to more than the process
// may use at once.
func tuneProcessors() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + spareProcessors)
	}
}
