//go:build !unix

package client

import (
	"os/exec"
	"testing"
)

// Workers needs sockets that carry files.
type Workers struct{}

// StartWorkers fails the test.
func StartWorkers(t testing.TB, program string, env []string) *Workers {
	t.Helper()
	t.Fatal("this test needs sockets that carry files")
	return nil
}

// Attach does nothing.
func (k *Workers) Attach(shell *exec.Cmd) {}
