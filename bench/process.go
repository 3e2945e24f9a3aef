package main

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Limits for a started process. Loading a million objects from a slow disk stays below readyLimit.
const (
	readyLimit = 5 * time.Minute  // from exec until it is ready
	drainLimit = 30 * time.Second // from SIGTERM until it is killed
	tailSize   = 2 << 10          // bytes of output quoted in an error
)

type program struct {
	*exec.Cmd
	output *output
	began  time.Time     // just before exec
	ended  chan struct{} // closed after it has ended and its output was read
}

func startProgram(binary string, args ...string) (*program, error) {
	p := &program{Cmd: exec.Command(binary, args...), output: &output{ready: make(chan struct{})}, ended: make(chan struct{})}
	p.Stdout, p.Stderr = p.output, p.output
	p.began = time.Now()
	if err := p.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = p.Wait()
		close(p.ended)
	}()
	return p, nil
}

// await polls probe until it returns true. Errors include the tail of the process's output.
func (p *program) await(probe func() bool) error {
	for deadline := time.After(readyLimit); !probe(); {
		reason := ""
		select {
		case <-p.output.ready:
		case <-time.After(50 * time.Millisecond):
		case <-p.ended:
			reason = "it has ended"
		case <-deadline:
			p.kill()
			reason = fmt.Sprintf("not after %v", readyLimit)
		}
		if reason != "" {
			return fmt.Errorf("%s is not ready: %s\n%s", p.Path, reason, p.output.tail)
		}
	}
	return nil
}

// stop sends SIGTERM, and SIGKILL if the process has not ended after drainLimit.
func (p *program) stop() error {
	if err := p.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-p.ended:
		return nil
	case <-time.After(drainLimit):
		p.kill()
		return fmt.Errorf("%s had not ended %v after SIGTERM and was killed", p.Path, drainLimit)
	}
}

func (p *program) kill() {
	_ = p.Process.Kill()
	<-p.ended
}

// output buffers the end of a process's output, and the ready line of a daemon. tail may be read
// only after the process has ended.
type output struct {
	mu    sync.Mutex
	tail  []byte
	line  string
	ready chan struct{} // closed when line is set
}

var readyLine = regexp.MustCompile(`(?m)^.*KUBECONFIG=.*\n`)

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.tail = append(o.tail, p...)
	if line := readyLine.Find(o.tail); line != nil && o.line == "" {
		o.line = string(line)
		close(o.ready)
	}
	if extra := len(o.tail) - tailSize; extra > 0 {
		o.tail = append(o.tail[:0], o.tail[extra:]...)
	}
	return len(p), nil
}

// freePort returns a currently free port. Another process may take the port before it is used.
func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port), l.Close()
}

// tick is the resolution of CPU times in /proc/<pid>/stat. USER_HZ is 100 on every port of Go.
const tick = 10 * time.Millisecond

// usage is the total CPU time and resident memory of a set of processes. CPU time has the
// resolution of tick, so it is meaningful only over many operations.
type usage struct {
	CPU      time.Duration
	Resident int64
}

// readUsage returns the total usage of the given processes. It fails if one of them has ended.
func readUsage(processes []int) (sum usage, err error) {
	for _, id := range processes {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", id))
		if err != nil {
			return usage{}, err
		}
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", id))
		if err != nil {
			return usage{}, err
		}
		cpu, err := parseStat(stat)
		if err != nil {
			return usage{}, fmt.Errorf("process %d: %w", id, err)
		}
		resident, err := parseStatus(status)
		if err != nil {
			return usage{}, fmt.Errorf("process %d: %w", id, err)
		}
		sum.CPU += cpu
		sum.Resident += resident
	}
	return sum, nil
}

// parseStat returns utime + stime. It counts fields from the last parenthesis, because the
// command name in parentheses may itself contain spaces and parentheses.
func parseStat(stat []byte) (time.Duration, error) {
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	const utime, stime = 11, 12 // fields 14 and 15 of the line, without the first two
	if len(fields) <= stime {
		return 0, fmt.Errorf("stat is too short: %q", stat)
	}
	user, userErr := strconv.ParseInt(fields[utime], 10, 64)
	system, systemErr := strconv.ParseInt(fields[stime], 10, 64)
	return time.Duration(user+system) * tick, errors.Join(userErr, systemErr)
}

func parseStatus(status []byte) (int64, error) {
	for line := range strings.Lines(string(status)) {
		if value, found := strings.CutPrefix(line, "VmRSS:"); found {
			kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			return kib << 10, err
		}
	}
	return 0, errors.New("no VmRSS: has the process ended?")
}
