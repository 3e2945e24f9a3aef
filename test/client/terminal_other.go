//go:build !linux

package client

import (
	"errors"
	"os"
	"os/exec"
	"testing"
)

var errNoTerminal = errors.New("terminals of tests need Linux")

// OpenTerminal fails the test, because this platform has no terminal support.
func OpenTerminal(t testing.TB) (terminal, keyboard *os.File) {
	t.Helper()
	t.Fatal(errNoTerminal)
	return nil, nil
}

// InTerminal does nothing on this platform.
func InTerminal(*exec.Cmd) {}

// ResizeTerminal always returns an error on this platform.
func ResizeTerminal(*os.File, int, int) error { return errNoTerminal }

// TerminalMode always returns an error on this platform.
func TerminalMode(*os.File) (mode any, raw bool, err error) { return nil, false, errNoTerminal }
