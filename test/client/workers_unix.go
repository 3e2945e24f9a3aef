//go:build unix

package client

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
)

// Workers run commands of a program in long-lived processes, because starting kubectl or troupe
// takes more CPU time than most of their commands.
type Workers struct {
	program string
	env     []string
	ctx     context.Context // ends with the suite
	reaped  sync.WaitGroup

	mu   sync.Mutex
	idle []*worker
}

var workers struct {
	sync.Mutex
	of map[string]*Workers // by program and env
}

type worker struct {
	process  *exec.Cmd
	commands *net.UnixConn
	ended    chan struct{}
}

// An invocation is a request to package worker. It is sent together with the standard streams.
type invocation struct {
	Args, Env []string
	Dir       string
}

// SharedWorkers returns the suite's Workers for a program that uses package worker. Processes start
// on demand. env contains variables that the program reads only at startup.
func SharedWorkers(program string, env ...string) *Workers {
	workers.Lock()
	defer workers.Unlock()
	key := program + "\x00" + strings.Join(env, "\x00")
	if workers.of[key] == nil {
		if workers.of == nil {
			workers.of = map[string]*Workers{}
		}
		k := &Workers{program: program, env: append(append(os.Environ(), env...), "TROUPE_WORKER=1", "GOGC=400")}
		var end context.CancelFunc
		k.ctx, end = context.WithCancel(context.Background())
		AtEnd(func() error {
			end()
			k.reaped.Wait()
			return nil
		})
		workers.of[key] = k
	}
	return workers.of[key]
}

func (k *Workers) run(c invocation, files [3]*os.File) (code int, err error) {
	w, err := k.worker()
	if err != nil {
		return 0, err
	}
	text, err := json.Marshal(c)
	if err != nil {
		return 0, err
	}
	rights := syscall.UnixRights(int(files[0].Fd()), int(files[1].Fd()), int(files[2].Fd()))
	if _, _, err := w.commands.WriteMsgUnix(text, rights, nil); err != nil {
		return 0, err
	}
	var answer [1]byte
	if n, _ := w.commands.Read(answer[:]); n == 0 { // the command ended the process
		<-w.ended
		w.commands.Close()
		return w.process.ProcessState.ExitCode(), nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.idle = append(k.idle, w)
	return int(answer[0]), nil
}

// worker returns an idle worker, or starts a new one. The programs on both sides of a pipe must run
// concurrently.
func (k *Workers) worker() (*worker, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if n := len(k.idle); n > 0 {
		w := k.idle[n-1]
		k.idle = k.idle[:n-1]
		return w, nil
	}
	commands, theirs, err := socketPair()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	w := &worker{process: exec.CommandContext(k.ctx, k.program), commands: commands, ended: make(chan struct{})}
	w.process.Env, w.process.ExtraFiles = k.env, []*os.File{theirs}
	if err := w.process.Start(); err != nil {
		commands.Close()
		return nil, err
	}
	k.reaped.Go(func() {
		defer close(w.ended)
		_ = w.process.Wait() // the exit code is a command's, or the suite is over
	})
	return w, nil
}

func socketPair() (*net.UnixConn, *os.File, error) {
	syscall.ForkLock.RLock()
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(pair[0])
		syscall.CloseOnExec(pair[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, err
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "socket"), os.NewFile(uintptr(pair[1]), "socket")
	defer ours.Close()
	conn, err := net.FileConn(ours)
	if err != nil {
		theirs.Close()
		return nil, nil, err
	}
	return conn.(*net.UnixConn), theirs, nil
}
