package processes

import (
	"os/exec"
	"syscall"
)

// EndWithParent makes the kernel kill c when this process ends. Call it before c is started.
func EndWithParent(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
