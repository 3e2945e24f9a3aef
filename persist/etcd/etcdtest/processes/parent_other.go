//go:build !linux

package processes

import "os/exec"

// EndWithParent does nothing, because only Linux can kill a process when its parent ends.
func EndWithParent(*exec.Cmd) {}
