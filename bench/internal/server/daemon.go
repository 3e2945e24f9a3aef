package server

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// Limits on a daemon that the harness has started. The first is for a store of a million objects on a slow
// disk.
const (
	readyLimit = 5 * time.Minute  // from exec to its ready line
	drainLimit = 30 * time.Second // from SIGTERM to its end; then it is killed
	tailSize   = 2 << 10          // bytes of its log that an error message quotes
)

// Daemon is a server that the harness started and must end. Only its own goroutine waits for the process,
// so the process id stays valid until ended is closed.
type Daemon struct {
	Target *Target
	Began  time.Time // just before exec
	cmd    *exec.Cmd
	ended  chan struct{} // closed when the process is gone and its output read
	etcd   *Etcd         // that it keeps its state in; nil for none
}

// DaemonSpec says which daemon to start and on which data directory.
type DaemonSpec struct {
	Binary, Dir, Naming string
	Etcd                string // program of an etcd to start beside Dir and to keep the state in; "" for none
	Args                []string
	Env                 []string      // more variables, as NAME=value
	Audit               bool          // the metadata of every request, into a file beside the data
	Timeout             time.Duration // of requests to it
}

// Start runs `<binary> serve` on a free port and returns when it has said that it is ready. A free port
// lets several runs share a machine. On failure nothing is left running, and the error quotes the end of
// the log. An etcd listens before the daemon begins, so that its start is none of the daemon's.
func (spec DaemonSpec) Start() (_ *Daemon, err error) {
	args := append([]string{"serve", "--data-dir", spec.Dir, "--secure-port", "0", "--naming", spec.Naming}, spec.Args...)
	if spec.Audit {
		args = append(args, "--audit-log-path", spec.Dir+".audit")
	}
	d := &Daemon{ended: make(chan struct{})}
	if spec.Etcd != "" {
		if d.etcd, err = StartEtcd(spec.Etcd, spec.Dir+".etcd"); err != nil {
			return nil, err
		}
		args = append(args, "--etcd-servers", d.etcd.URL)
		defer func() {
			if err != nil {
				d.etcd.Stop()
			}
		}()
	}
	tail := &tailWriter{}
	d.cmd = exec.Command(spec.Binary, args...)
	d.cmd.Stderr, d.cmd.Env = tail, append(os.Environ(), spec.Env...)
	output, err := d.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	d.Began = time.Now()
	if err := d.cmd.Start(); err != nil {
		return nil, err
	}
	ready := make(chan string, 1)
	go d.read(output, ready)
	select {
	case line := <-ready:
		d.Target, err = readyTarget(line)
	case <-d.ended:
		err = fmt.Errorf("ended before it was ready: %v", d.cmd.ProcessState)
	case <-time.After(readyLimit):
		err = fmt.Errorf("not ready after %v", readyLimit)
	}
	if err != nil {
		d.kill()
		return nil, fmt.Errorf("%s: %w\n%s", spec.Binary, err, tail)
	}
	d.Target.Timeout, d.Target.Processes = spec.Timeout, []int{d.cmd.Process.Pid}
	if d.etcd != nil {
		d.etcd.CountWith(d.Target)
	}
	return d, nil
}

// read passes on the ready line, drains the rest, and reaps the process. The pipe must be read to its end,
// or a daemon that prints much would block.
func (d *Daemon) read(output io.Reader, ready chan<- string) {
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		if strings.Contains(lines.Text(), readyKey) {
			select {
			case ready <- lines.Text():
			default:
			}
		}
	}
	_, _ = io.Copy(io.Discard, output)
	_ = d.cmd.Wait()
	close(d.ended)
}

// readyKey stands before the path of the kubeconfig in the ready line.
const readyKey = "KUBECONFIG="

var (
	readyPath    = regexp.MustCompile(readyKey + `"?([^\s"]+)"?`)
	readyAddress = regexp.MustCompile(`https://[^\s",;/]+`)
)

// readyTarget reads the kubeconfig that the line names. An address in the line wins over the one
// in the file, which may be of an earlier start.
func readyTarget(line string) (*Target, error) {
	match := readyPath.FindStringSubmatch(line)
	if match == nil {
		return nil, fmt.Errorf("no path in the ready line %q", line)
	}
	target, err := LoadTarget(match[1])
	if err != nil {
		return nil, err
	}
	if server := readyAddress.FindString(line); server != "" {
		err = target.setServer(server)
	}
	return target, err
}

// Stop asks the daemon to drain and end, and waits for it. Its etcd ends after it.
func (d *Daemon) Stop() error {
	if d.etcd != nil {
		defer d.etcd.Stop()
	}
	if err := d.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-d.ended:
		return nil
	case <-time.After(drainLimit):
		d.kill()
		return fmt.Errorf("the daemon had not ended %v after SIGTERM and was killed", drainLimit)
	}
}

// Kill ends the daemon at once, as a crash would, and its etcd with it. It is how a cold start makes the crash that it
// recovers from.
func (d *Daemon) Kill() {
	d.kill()
	if d.etcd != nil {
		d.etcd.kill()
	}
}

func (d *Daemon) kill() {
	_ = d.cmd.Process.Kill()
	<-d.ended
}

// DataDir makes a directory for a daemon's data under dir, and returns how to remove it. The directory
// itself does not exist yet: the daemon makes it, with the rights that it wants.
func DataDir(dir string) (string, func(), error) {
	parent, err := os.MkdirTemp(dir, "bench-data-")
	if err != nil {
		return "", nil, err
	}
	return filepath.Join(parent, "data"), func() { _ = os.RemoveAll(parent) }, nil
}

// tailWriter keeps the end of what is written to it. It is read after the writing process ended.
type tailWriter struct {
	text []byte
}

// Write implements io.Writer.
func (t *tailWriter) Write(p []byte) (int, error) {
	t.text = append(t.text, p...)
	if extra := len(t.text) - tailSize; extra > 0 {
		t.text = append(t.text[:0], t.text[extra:]...)
	}
	return len(p), nil
}

// String is what has been kept.
func (t *tailWriter) String() string {
	return string(t.text)
}
