package processes

import (
	"os/exec"
	"syscall"
)

// EndWithParent kills the process of c, which is not started yet, when this process ends.
func EndWithParent(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
