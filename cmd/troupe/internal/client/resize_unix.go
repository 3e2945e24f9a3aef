//go:build unix

package client

import (
	"os"
	"os/signal"
	"syscall"
)

func notifyResize(to chan<- os.Signal) { signal.Notify(to, syscall.SIGWINCH) }
