package client

import (
	"os"
	"os/exec"
	"testing"
)

// NeedTool skips a test if an external program is missing. If the variable CI is set, it fails the
// test instead.
func NeedTool(t testing.TB, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err == nil {
		return
	}
	if os.Getenv("CI") != "" {
		t.Fatalf("%s is missing", program)
	}
	t.Skipf("%s is missing", program)
}
