package client

import (
	"os"
	"os/exec"
	"testing"
)

// NeedTool skips a test if an external program is missing, or fails it if the variable CI is set.
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
