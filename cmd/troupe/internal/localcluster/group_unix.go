//go:build unix

package localcluster

import "syscall"

// ownGroup keeps a Ctrl-C of the terminal from a program.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
