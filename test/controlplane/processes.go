package controlplane

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/troupe-api/troupe/persist/etcd/etcdtest/processes"
	"github.com/troupe-api/troupe/test/client"
)

// Processes are the processes of a control plane, in start order.
type Processes struct {
	mu  sync.Mutex
	all []*Process
}

// A Process is a child process with its log output.
type Process struct {
	*exec.Cmd
	*client.Log
	ended chan struct{}
}

func (p *Process) String() string { return p.Log.String() }

// Kill kills the process and waits for its end, so that its files and ports are free.
func (p *Process) Kill() error {
	err := p.Process.Kill()
	<-p.ended
	return err
}

// Start starts a program and collects its output.
func (p *Processes) Start(path string, args ...string) (*Process, error) {
	c := &Process{exec.Command(path, args...), &client.Log{}, make(chan struct{})}
	c.Stdout, c.Stderr = c.Log, c.Log
	processes.InOwnGroup(c.Cmd) // on an interrupt, this command ends the others in order
	if err := c.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = c.Wait() // the log shows failures
		close(c.ended)
	}()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = append(p.all, c)
	return c, nil
}

// stopTimeout is the grace period between SIGTERM and SIGKILL.
const stopTimeout = time.Minute

// Stop stops all processes in reverse start order. It kills those that do not exit within
// stopTimeout after SIGTERM.
func (p *Processes) Stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := len(p.all) - 1; i >= 0; i-- {
		c := p.all[i]
		_ = c.Process.Signal(syscall.SIGTERM) // it may have ended
		select {
		case <-c.ended:
		case <-time.After(stopTimeout):
			_ = c.Kill() // it may have ended
		}
	}
	p.all = nil
}

// shownLog limits the size of each process log in an error, in bytes.
const shownLog = 4 << 10

func (p *Processes) logs() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all strings.Builder
	for _, c := range p.all {
		text := c.String()
		fmt.Fprintf(&all, "--- %s\n%s\n", filepath.Base(c.Path), text[max(0, len(text)-shownLog):])
	}
	return all.String()
}
