//go:build unix

package client

import (
	"os"
	"os/signal"
	"syscall"
)

// notifyResize sends a signal whenever the size of the terminal changes.
func notifyResize(to chan<- os.Signal) { signal.Notify(to, syscall.SIGWINCH) }
