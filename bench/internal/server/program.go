package server

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// A program is a process that was started here, and must end.
type program struct {
	*exec.Cmd
	log   string        // the file that its output goes to
	ended chan struct{} // closed when it is gone
}

// startProgram starts a program, whose output goes to a file of its name in dir.
func startProgram(dir, binary string, args ...string) (*program, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	output, err := os.Create(filepath.Join(dir, filepath.Base(binary)+".log"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = output.Close() }() // the program has its own
	p := &program{Cmd: exec.Command(binary, args...), log: output.Name(), ended: make(chan struct{})}
	p.Stdout, p.Stderr = output, output
	if err := p.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = p.Wait()
		close(p.ended)
	}()
	return p, nil
}

// stop ends it, by force where it takes too long.
func (p *program) stop() {
	_ = p.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.ended:
	case <-time.After(drainLimit):
		p.kill()
	}
}

// kill ends it at once.
func (p *program) kill() {
	_ = p.Process.Kill()
	<-p.ended
}

// notReady quotes the end of the program's log.
func (p *program) notReady(reason string) error {
	tail, _ := os.ReadFile(p.log)
	return fmt.Errorf("%s is not ready: %s\n%s", p.Path, reason, tail[max(0, len(tail)-tailSize):])
}

// freePorts are ports that nobody listens on. Another program may come first, and the start fails then.
func freePorts(n int) (ports []string, err error) {
	for range n {
		l, listenErr := net.Listen("tcp", "127.0.0.1:0")
		if listenErr != nil {
			return nil, listenErr
		}
		defer func() { err = errors.Join(err, l.Close()) }()
		ports = append(ports, strconv.Itoa(l.Addr().(*net.TCPAddr).Port))
	}
	return ports, nil
}
