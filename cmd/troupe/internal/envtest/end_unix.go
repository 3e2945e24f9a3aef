//go:build unix

package envtest

import (
	"os"
	"syscall"
)

// endSelf sends SIGTERM to this process, so that it drains before it exits.
func endSelf() { _ = syscall.Kill(os.Getpid(), syscall.SIGTERM) } // the process exists
