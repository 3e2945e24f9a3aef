//go:build unix

// Command stub stands in the place of another program on the PATH of a shell. It hands the command, with its own
// standard files, to a worker, and exits as the command did.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"syscall"
)

func main() {
	code, err := forward()
	if err != nil {
		fmt.Fprintln(os.Stderr, "stub:", err)
		os.Exit(125)
	}
	os.Exit(code)
}

func forward() (code int, err error) {
	dir, err := os.Getwd()
	if err != nil {
		return 0, err
	}
	request, err := json.Marshal(struct {
		Args, Env []string
		Dir       string
	}{os.Args[1:], os.Environ(), dir})
	if err != nil {
		return 0, err
	}
	answer, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return 0, err
	}
	// File 3 is inherited from the shell.
	if err := syscall.Sendmsg(3, request, syscall.UnixRights(0, 1, 2, answer[0]), nil, 0); err != nil {
		return 0, err
	}
	if err := syscall.Close(answer[0]); err != nil {
		return 0, err
	}
	var exit [1]byte
	if n, err := syscall.Read(answer[1], exit[:]); err != nil || n == 0 {
		return 0, fmt.Errorf("no answer from the worker: %v", err)
	}
	return int(exit[0]), nil
}
