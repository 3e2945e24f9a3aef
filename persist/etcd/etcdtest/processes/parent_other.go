//go:build !linux

package processes

import "os/exec"

// EndWithParent does nothing, because only Linux can end a process with its parent.
func EndWithParent(*exec.Cmd) {}
