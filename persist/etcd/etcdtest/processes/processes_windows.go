package processes

import (
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/windows"
)

// Windows has no signals Stop and Continue: sending them is an error.
const (
	Stop     = syscall.Signal(-1)
	Continue = syscall.Signal(-1)
)

// CPUTime returns the CPU time that this process has used.
func CPUTime() (time.Duration, error) {
	var created, ended, kernel, user windows.Filetime
	err := windows.GetProcessTimes(windows.CurrentProcess(), &created, &ended, &kernel, &user)
	const unit = 100 * time.Nanosecond
	ticks := func(f windows.Filetime) time.Duration {
		return time.Duration(f.HighDateTime)<<32 + time.Duration(f.LowDateTime)
	}
	return (ticks(kernel) + ticks(user)) * unit, err
}

// WaitForLock takes an exclusive lock of a file, which ends when the file is closed.
func WaitForLock(f *os.File) error {
	return windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK, 0, 1, 0, &windows.Overlapped{OffsetHigh: 1 << 30})
}

// InOwnGroup puts a process, which is not started yet, into a new process group without Ctrl-C of
// the console.
func InOwnGroup(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// KillGroup kills the process of InOwnGroup. On Windows its descendants survive.
func KillGroup(c *exec.Cmd) error { return c.Process.Kill() }
