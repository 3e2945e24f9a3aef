//go:build !unix

package client

import (
	"os/exec"
	"testing"
)

// Kubectl needs sockets that carry files.
type Kubectl struct{}

// StartKubectl fails the test.
func StartKubectl(t testing.TB, program string, env []string) *Kubectl {
	t.Helper()
	t.Fatal("this test needs sockets that carry files")
	return nil
}

// Attach does nothing.
func (k *Kubectl) Attach(shell *exec.Cmd) {}
