//go:build unix

package processes

import (
	"os"
	"os/exec"
	"syscall"
	"time"
)

// Stop pauses a process until it receives Continue.
const (
	Stop     = syscall.SIGSTOP
	Continue = syscall.SIGCONT
)

// CPUTime returns the CPU time used by this process.
func CPUTime() (time.Duration, error) {
	var u syscall.Rusage
	err := syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), err
}

// WaitForLock takes an exclusive lock on a file. Closing the file releases it.
func WaitForLock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX) }

// InOwnGroup makes c start in its own process group, which does not receive Ctrl-C from the
// terminal.
func InOwnGroup(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// KillGroup kills a process started with InOwnGroup and all descendants in its group.
func KillGroup(c *exec.Cmd) error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
