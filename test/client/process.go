package client

import (
	"bufio"
	"io"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"syscall"
	"testing"
)

// A Process is a child process, which is killed when the test ends.
type Process struct {
	Cmd *exec.Cmd
	Log *Log // standard output and standard error
	// ReadyLine is the first line of standard output. URL and Kubeconfig are parsed from a server's
	// ready line. AwaitReady sets all three.
	ReadyLine, URL, Kubeconfig string

	t     testing.TB
	line  chan string
	ended chan struct{} // closed after the process has been reaped
}

// Start starts a program. If cmd.Stderr is a *Log, it also becomes the Log of the Process.
func Start(t testing.TB, cmd *exec.Cmd) *Process {
	t.Helper()
	p := &Process{Cmd: cmd, t: t, line: make(chan string, 1), ended: make(chan struct{})}
	if log, ok := cmd.Stderr.(*Log); ok {
		p.Log = log
	} else {
		p.Log = &Log{}
		cmd.Stderr = p.Log
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		lines := bufio.NewReader(out)
		line, _ := lines.ReadString('\n')
		_, _ = io.WriteString(p.Log, line)
		p.line <- line
		_, _ = io.Copy(p.Log, lines)
		_ = cmd.Wait() // ProcessState has the result
		close(p.ended)
	}()
	t.Cleanup(p.Kill)
	return p
}

// StartDaemon starts a troupe command that runs a server, and blocks until the server is ready.
func StartDaemon(t testing.TB, cmd *exec.Cmd) *Process {
	t.Helper()
	p := Start(t, cmd)
	if !p.AwaitReady() {
		t.Fatalf("%v ended before it was ready: %v\n%s", cmd.Args, cmd.ProcessState, p.Log)
	}
	return p
}

var readyLine = regexp.MustCompile(`^troupe ready: (\S+) .*KUBECONFIG=(\S+)`)

// AwaitReady blocks until the process prints its ready line. It returns false if the process ends
// first.
func (p *Process) AwaitReady() bool {
	p.t.Helper()
	p.ReadyLine = Receive(p.t, p.line, "the ready line")
	found := readyLine.FindStringSubmatch(p.ReadyLine)
	if found == nil {
		p.Wait()
		return false
	}
	p.URL, p.Kubeconfig = found[1], found[2]
	return true
}

// Port returns the port of a ready server.
func (p *Process) Port() string {
	p.t.Helper()
	u, err := url.Parse(p.URL)
	if err != nil {
		p.t.Fatal(err)
	}
	return u.Port()
}

func (p *Process) Running() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// Signal sends a signal to the process.
func (p *Process) Signal(s os.Signal) {
	p.t.Helper()
	if err := p.Cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// Kill kills the process and waits for it to exit.
func (p *Process) Kill() {
	_ = p.Cmd.Process.Kill() // it may have ended
	<-p.ended
}

// Wait blocks until the process exits, and returns its exit code.
func (p *Process) Wait() int {
	p.t.Helper()
	Receive(p.t, p.ended, "the end of a process")
	return p.Cmd.ProcessState.ExitCode()
}

// Stop sends SIGTERM. It fails the test unless the process exits with code 0.
func (p *Process) Stop() {
	p.t.Helper()
	p.Signal(syscall.SIGTERM)
	if status := p.Wait(); status != 0 {
		p.t.Fatalf("exit status %d after SIGTERM\n%s", status, p.Log)
	}
}
