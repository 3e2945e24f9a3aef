package localcluster

import "syscall"

// ownGroup keeps a Ctrl-C of the console from a program.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}
