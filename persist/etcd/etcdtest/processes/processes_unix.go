//go:build unix

package processes

import (
	"os"
	"os/exec"
	"syscall"
	"time"
)

// Stop pauses a process until Continue.
const (
	Stop     = syscall.SIGSTOP
	Continue = syscall.SIGCONT
)

// CPUTime returns the CPU time that this process has used.
func CPUTime() (time.Duration, error) {
	var u syscall.Rusage
	err := syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), err
}

// WaitForLock takes an exclusive lock of a file, which ends when the file is closed.
func WaitForLock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX) }

// InOwnGroup puts a process, which is not started yet, into a new process group without Ctrl-C of
// the terminal.
func InOwnGroup(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// KillGroup kills the process of InOwnGroup with all its descendants in the group.
func KillGroup(c *exec.Cmd) error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
