package storage

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/troupe-api/troupe/test/client"
)

// An injection makes a system call fail, as with strace's inject option. when selects calls by
// their number within each thread: 3 is the third call, 2+ all calls from the second on, and 1+2
// every other call.
type injection struct {
	call, fault, when string
}

func (i injection) String() string { return i.call + " " + i.fault + " " + i.when }

// diskCalls are system calls that access the disk, except read and write, which the Go runtime and
// sockets also use.
var (
	diskCalls   = []string{"pwrite64", "pread64", "fdatasync", "fsync", "ftruncate", "renameat", "openat", "unlinkat", "fallocate"}
	crashFaults = []string{"EIO", "ENOSPC", "EDQUOT", "EROFS", "EMFILE", "EINTR"}
)

// injections run in every test, under load and at startup.
var injections = []injection{{"pwrite64", "EIO", "3"}, {"pwrite64", "ENOSPC", "2+"}, {"fdatasync", "EIO", "1"}, {"openat", "EMFILE", "1+"}, {"pwrite64", "EINTR", "1+2"}}

// injectionsEach returns injections, followed by every combination of disk call, fault and place in
// an order that depends on the seed. A place is a value of when.
func injectionsEach(seed uint64, places ...string) []injection {
	var rest []injection
	for _, call := range diskCalls {
		for _, fault := range crashFaults {
			for _, when := range places {
				if fault != "EINTR" || when != "1+" { // the runtime would retry forever
					rest = append(rest, injection{call, fault, when})
				}
			}
		}
	}
	rand.New(rand.NewPCG(seed, 0)).Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
	return slices.Concat(injections, rest)
}

// injectEach runs crashHistory.cycle once per injection and returns the number of cycles. end
// injects a fault into a process, waits for it to exit, and describes its end.
func injectEach(t *testing.T, h *crashHistory, all []injection, end func(p *crashProcess, i injection) (how string, err error)) (tried int) {
	p := start(t, h.binary, h.config, h.data)
	h.list(p)
	h.mark(p)
	for n := range client.Rounds(t, len(injections), 1) {
		if n == len(all) {
			break
		}
		p = h.cycle(p, func(p *crashProcess) error {
			how, err := end(p, all[n])
			t.Logf("%-24s %s", all[n], how)
			return err
		})
		if t.Failed() {
			t.Fatal(all[n])
		}
		tried++
	}
	return tried
}

// TestSystemCalls makes system calls of the daemon fail under load. The daemon must either exit
// with status 1 and a message, or accept writes again after the failures. In both cases, no
// acknowledged write may be missing. The test covers promises 19, 23 and 24 of docs/reliability.md.
func TestSystemCalls(t *testing.T) {
	client.NeedTool(t, "strace")
	client.OnDisk(t)
	if reason := untraceable(); reason != "" {
		t.Skipf("this machine traces nothing (%s): the same runs in memory in package persist (TestFaultsEverywhere)", reason)
	}
	dir := t.TempDir()
	h := newHistory(t, dir, filepath.Join(dir, "data"))
	for _, w := range h.workers {
		w.faulty = true
	}
	injected, ended := 0, 0
	tried := injectEach(t, h, injectionsEach(h.seed, "1", "3", "1+2", "1+"), func(p *crashProcess, i injection) (string, error) {
		met, went, err := injectUnderLoad(h, p, i)
		injected += met.calls
		if !went {
			ended++
		}
		return fmt.Sprintf("under load: %s, goes on: %v", met, went), err
	})
	if injected == 0 || ended == 0 {
		t.Errorf("%d faults were injected, %d ended the daemon", injected, ended)
	}
	client.Figures(t, "%d kinds of faults, %d system calls failed, the daemon ended %d times, %s", tried, injected, ended, h)
}

// TestSystemCallsAtStart makes system calls fail during startup. The daemon must become ready, or
// exit with status 1 and a message. The next start must find all data. The test covers promises 19
// and 26 of docs/reliability.md.
func TestSystemCallsAtStart(t *testing.T) {
	client.NeedTool(t, "strace")
	client.OnDisk(t)
	if reason := untraceable(); reason != "" {
		t.Skipf("this machine traces nothing (%s)", reason)
	}
	dir := t.TempDir()
	h := newHistory(t, dir, filepath.Join(dir, "data"))
	refused := 0
	tried := injectEach(t, h, injectionsEach(h.seed, "1", "2", "3", "5", "9"), func(p *crashProcess, i injection) (string, error) {
		h.await(20)
		if err := p.kill(); err != nil {
			return "", err
		}
		arguments := append([]string{"-D", "-f", "-qq", "--seccomp-bpf", "-o", "/dev/null", "-e", "trace=" + i.call, "-e", i.inject(), h.binary},
			serveArguments(h.t, h.config, h.data)...)
		next, ready := launch(t, exec.Command("strace", arguments...))
		how := fmt.Sprintf("at the start: serves: %v", ready)
		if !ready {
			refused++
			return how, next.checkEnd()
		}
		next.Kill()
		return how, nil
	})
	if refused == 0 {
		t.Error("no fault kept the daemon from starting")
	}
	client.Figures(t, "%d faults at the start, %d of which were refused, %s", tried, refused, h)
}

func (i injection) inject() string {
	return fmt.Sprintf("inject=%s:error=%s:when=%s", i.call, i.fault, i.when)
}

func untraceable() string {
	out, err := exec.Command("strace", "-f", "-qq", "-o", "/dev/null", "-e", "inject=chdir:error=EIO", "true").CombinedOutput()
	if err != nil {
		return fmt.Sprint(err, " ", string(out))
	}
	return ""
}

// A casualty summarizes the system calls that an injection made fail.
type casualty struct {
	calls int
	files []string // names of the files that the failed calls accessed
}

func (c casualty) String() string { return fmt.Sprintf("%d calls failed, on %q", c.calls, c.files) }

// injectUnderLoad makes system calls of a running process fail for a while, and then stops it. went
// reports whether the process accepted writes again after the failures.
func injectUnderLoad(h *crashHistory, p *crashProcess, i injection) (met casualty, went bool, err error) {
	tracer, failed, all, err := attach(p, i)
	if err != nil {
		return met, false, err
	}
	const enough, patience = 50, 500 // number of responses after a failed call, and while waiting for a rare call
	before := h.answered.Count()
	client.Poll(func() bool {
		answers := h.answered.Count() - before
		return !p.Running() || failed.Load() > 0 && answers >= enough || answers >= patience || h.isIdle()
	})
	_ = tracer.Process.Signal(os.Interrupt) // strace detaches, unless it has exited with the process
	_ = tracer.Wait()
	met = <-all
	if p.Running() {
		went, err = recovers(h.t, p)
	}
	if went {
		return met, true, p.kill()
	}
	if err == nil {
		p.Wait()
		err = p.checkEnd()
		p.Close()
	}
	return met, false, err
}

// attach starts to trace a process. failed counts the failed calls so far, and all receives a
// summary when the tracer has exited.
func attach(p *crashProcess, i injection) (tracer *exec.Cmd, failed *atomic.Int64, all <-chan casualty, err error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, nil, nil, err
	}
	defer write.Close()
	tracer = exec.Command("strace", "-f", "-y", "-qq", "-o", "/dev/fd/3", "-e", "trace="+i.call, "-e", i.inject(), "-p", fmt.Sprint(p.Cmd.Process.Pid))
	tracer.ExtraFiles = []*os.File{write}
	if err := tracer.Start(); err != nil {
		return nil, nil, nil, errors.Join(err, read.Close())
	}
	failed, done := &atomic.Int64{}, make(chan casualty, 1)
	go func() {
		defer read.Close()
		met := casualty{}
		for in := bufio.NewScanner(read); in.Scan(); {
			if !strings.Contains(in.Text(), "(INJECTED)") {
				continue
			}
			failed.Add(1)
			met.calls++
			if file := dataFile.FindStringSubmatch(in.Text()); file != nil && !slices.Contains(met.files, file[1]) {
				met.files = append(met.files, file[1])
			}
		}
		done <- met
	}()
	return tracer, failed, done, nil
}

// dataFile matches the name of a data file in the trace of a system call. The captured name of a
// segment or snapshot excludes the revision.
var dataFile = regexp.MustCompile(`[/"]data/(?:journal/|snapshots/)?(?:[0-9a-f]{16})?([.\w/]+)`)

// recovers waits until a write succeeds or the process exits, and reports whether the write
// succeeded.
func recovers(t *testing.T, p *crashProcess) (bool, error) {
	went := false
	client.Eventually(t, func() error {
		data := map[string]string{"recovers": time.Now().String()} // a patch without changes is not written
		answer, err := p.Patch(context.Background(), configMaps+"/"+crashMarker, map[string]any{"data": data})
		if went = err == nil && answer.Code == 200; went || !p.Running() {
			return nil
		}
		return fmt.Errorf("after the fault: %v, %v", answer, err)
	})
	return went, nil
}
