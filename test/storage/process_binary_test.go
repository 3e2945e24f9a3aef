package storage

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

type daemonProcess struct {
	*client.Process
	t   *testing.T
	dir string
}

func serveProcess(t *testing.T, dir string, flags ...string) *daemonProcess {
	t.Helper()
	return serveProgram(t, client.TroupeBinary(t), dir, flags...)
}

func serveProgram(t *testing.T, program, dir string, flags ...string) *daemonProcess {
	t.Helper()
	args := append([]string{"serve", "--data-dir", dir, "--secure-port", "0", "--controllers", client.WithoutRoots}, flags...)
	return &daemonProcess{client.StartDaemon(t, exec.Command(program, args...)), t, dir}
}

// command runs a troupe command and returns its exit status and standard error.
func command(t *testing.T, args ...string) (int, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), client.Watchdog)
	defer cancel()
	cmd := exec.CommandContext(ctx, client.TroupeBinary(t), args...)
	var errors strings.Builder
	cmd.Stderr = &errors
	err := cmd.Run()
	if ctx.Err() != nil {
		t.Fatalf("%v does not end: %v\n%s", args, err, errors.String())
	}
	return cmd.ProcessState.ExitCode(), errors.String()
}

func mustCommand(t *testing.T, args ...string) string {
	t.Helper()
	code, text := command(t, args...)
	if code != 0 {
		t.Fatalf("%v: exit status %d\n%s", args, code, text)
	}
	return text
}

func eventually(t *testing.T, name string, done func() bool) {
	t.Helper()
	client.Eventually(t, func() error {
		if !done() {
			return errors.New(name)
		}
		return nil
	})
}
