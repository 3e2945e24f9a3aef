//go:build !unix

package client

import (
	"errors"
	"os"
	"testing"
)

// Workers need sockets that pass files.
type Workers struct{}

type invocation struct {
	Args, Env []string
	Dir       string
}

// StartWorkers fails the test.
func StartWorkers(t testing.TB, program string, env []string) *Workers {
	t.Helper()
	t.Fatal("this test needs sockets that carry files")
	return nil
}

func (k *Workers) run(c invocation, files [3]*os.File) (code int, err error) {
	return 0, errors.ErrUnsupported
}
