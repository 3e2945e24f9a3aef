//go:build !unix

package client

import (
	"errors"
	"os"
)

// Workers cannot run commands on this platform, because it cannot pass open files over sockets.
type Workers struct{}

type invocation struct {
	Args, Env []string
	Dir       string
}

// SharedWorkers returns Workers whose commands fail with errors.ErrUnsupported.
func SharedWorkers(program string, env ...string) *Workers { return &Workers{} }

func (k *Workers) run(c invocation, files [3]*os.File) (code int, err error) {
	return 0, errors.ErrUnsupported
}
