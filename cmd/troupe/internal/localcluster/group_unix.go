//go:build unix

package localcluster

import "syscall"

// ownGroup shields a child process from the terminal's Ctrl-C.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
