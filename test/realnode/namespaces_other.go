//go:build !linux

package realnode

import (
	"errors"
	"os/exec"
)

var errLinux = errors.New("nodes need Linux")

func again(string, string) (*exec.Cmd, error) { return nil, errLinux }

func initSandbox() error { return errLinux }

func initMachine() error { return errLinux }
