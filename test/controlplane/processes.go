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

// Processes are what a control plane consists of, in the order of their starts.
type Processes struct {
	mu  sync.Mutex
	all []*Process
}

// A Process is one of them.
type Process struct {
	*exec.Cmd
	*client.Log
	ended chan struct{}
}

// String is what the process has written.
func (p *Process) String() string { return p.Log.String() }

// Start starts a program, and keeps what it writes.
func (p *Processes) Start(path string, args ...string) (*Process, error) {
	c := &Process{exec.Command(path, args...), &client.Log{}, make(chan struct{})}
	c.Stdout, c.Stderr = c.Log, c.Log
	processes.InOwnGroup(c.Cmd) // an interrupt is for this command, which ends the others in order
	if err := c.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = c.Wait() // its log tells
		close(c.ended)
	}()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = append(p.all, c)
	return c, nil
}

// stopTimeout is how long a process may take to end.
const stopTimeout = time.Minute

// Stop ends all of them, the last one first.
func (p *Processes) Stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := len(p.all) - 1; i >= 0; i-- {
		c := p.all[i]
		_ = c.Process.Signal(syscall.SIGTERM) // it may have ended
		select {
		case <-c.ended:
		case <-time.After(stopTimeout):
			_ = c.Process.Kill() // as above
			<-c.ended
		}
	}
	p.all = nil
}

// shownLog is how much is shown of what a process has written, in bytes.
const shownLog = 4 << 10

// logs is what they have written at last.
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
