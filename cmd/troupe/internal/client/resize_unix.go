//go:build unix

package client

import (
	"os"
	"os/signal"
	"syscall"
)

// notifyResize sends a signal after each resize of the terminal.
func notifyResize(to chan<- os.Signal) { signal.Notify(to, syscall.SIGWINCH) }
