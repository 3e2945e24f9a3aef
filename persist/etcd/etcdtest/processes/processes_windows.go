package processes

import (
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/windows"
)

// Windows does not support Stop and Continue. Sending them returns an error.
const (
	Stop     = syscall.Signal(-1)
	Continue = syscall.Signal(-1)
)

// CPUTime returns the CPU time used by this process.
func CPUTime() (time.Duration, error) {
	var created, ended, kernel, user windows.Filetime
	err := windows.GetProcessTimes(windows.CurrentProcess(), &created, &ended, &kernel, &user)
	const unit = 100 * time.Nanosecond
	ticks := func(f windows.Filetime) time.Duration {
		return time.Duration(f.HighDateTime)<<32 + time.Duration(f.LowDateTime)
	}
	return (ticks(kernel) + ticks(user)) * unit, err
}

// WaitForLock takes an exclusive lock on a file. Closing the file releases it.
func WaitForLock(f *os.File) error {
	return windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK, 0, 1, 0, &windows.Overlapped{OffsetHigh: 1 << 30})
}

// InOwnGroup makes c start in its own process group, which does not receive Ctrl-C from the
// console.
func InOwnGroup(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// KillGroup kills a process started with InOwnGroup. On Windows its descendants survive.
func KillGroup(c *exec.Cmd) error { return c.Process.Kill() }
