//go:build !unix

package client

import (
	"errors"
	"os"
)

// Workers need sockets that pass files.
type Workers struct{}

type invocation struct {
	Args, Env []string
	Dir       string
}

// SharedWorkers returns workers that run no commands.
func SharedWorkers(program string, env ...string) *Workers { return &Workers{} }

func (k *Workers) run(c invocation, files [3]*os.File) (code int, err error) {
	return 0, errors.ErrUnsupported
}
