package storage

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/troupe-api/troupe/test/client"
)

// A daemonProcess is a running `troupe serve`.
type daemonProcess struct {
	t     *testing.T
	cmd   *exec.Cmd
	dir   string
	url   string
	log   *client.Log
	ended chan struct{} // closed when it has been waited for
}

var readyURL = regexp.MustCompile(`https://[^ ]+`)

// serveProcess starts the daemon on dir and waits for its ready line.
func serveProcess(t *testing.T, dir string, flags ...string) *daemonProcess {
	t.Helper()
	return serveProgram(t, client.TroupeBinary(t), dir, flags...)
}

// serveProgram is serveProcess for another program than the suite's.
func serveProgram(t *testing.T, program, dir string, flags ...string) *daemonProcess {
	t.Helper()
	args := append([]string{"serve", "--data-dir", dir, "--secure-port", "0", "--controllers", client.WithoutRoots}, flags...)
	p := &daemonProcess{t: t, cmd: exec.Command(program, args...), dir: dir, log: &client.Log{}, ended: make(chan struct{})}
	p.cmd.Stderr = p.log
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line := make(chan string, 1)
	go func() {
		scan := bufio.NewScanner(out)
		if scan.Scan() {
			line <- scan.Text()
		}
		for scan.Scan() {
		}
		_ = p.cmd.Wait() // the state tells
		close(p.ended)
	}()
	t.Cleanup(p.kill)
	select {
	case text := <-line:
		p.url = readyURL.FindString(text)
	case <-p.ended:
		t.Fatalf("it ended before it was ready: %v\n%s", p.cmd.ProcessState, p.log)
	case <-time.After(client.Watchdog):
		t.Fatalf("not ready in time\n%s", p.log)
	}
	return p
}

func (p *daemonProcess) kubeconfig() string { return filepath.Join(p.dir, "admin.kubeconfig") }

func (p *daemonProcess) kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.ended
}

func (p *daemonProcess) signal(s os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// wait answers the exit status.
func (p *daemonProcess) wait() int {
	p.t.Helper()
	select {
	case <-p.ended:
	case <-time.After(client.Watchdog):
		p.t.Fatalf("it does not end\n%s", p.log)
	}
	return p.cmd.ProcessState.ExitCode()
}

// stop ends the process in order.
func (p *daemonProcess) stop() {
	p.t.Helper()
	p.signal(syscall.SIGTERM)
	if code := p.wait(); code != 0 {
		p.t.Fatalf("exit status %d after SIGTERM\n%s", code, p.log)
	}
}

// command runs a troupe command to its end and answers exit status and standard error.
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

// mustCommand is command for what has to succeed.
func mustCommand(t *testing.T, args ...string) string {
	t.Helper()
	code, text := command(t, args...)
	if code != 0 {
		t.Fatalf("%v: exit status %d\n%s", args, code, text)
	}
	return text
}

// eventually waits for a condition.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	client.Eventually(t, func() error {
		if !done() {
			return errors.New(what)
		}
		return nil
	})
}
