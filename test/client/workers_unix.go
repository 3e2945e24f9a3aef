//go:build unix

package client

import (
	"net"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"testing"
)

// Workers runs the commands of shells in long-lived worker processes. Starting kubectl or troupe takes
// more CPU time than most of their commands.
type Workers struct {
	t        testing.TB
	program  string
	env      []string
	requests *net.UnixConn
	shells   *os.File
	reaped   sync.WaitGroup

	mu   sync.Mutex
	idle []*worker
}

type worker struct {
	process  *exec.Cmd
	commands *net.UnixConn
	ended    chan struct{}
}

// StartWorkers returns workers of a program that package worker serves. They start with the environment
// env, and end with the test.
func StartWorkers(t testing.TB, program string, env []string) *Workers {
	t.Helper()
	requests, shells, err := socketPair(syscall.SOCK_DGRAM)
	if err != nil {
		t.Fatal(err)
	}
	k := &Workers{t: t, program: program, env: append(slices.Clone(env), "TROUPE_WORKER=1", "GOGC=400"), requests: requests, shells: shells}
	served := make(chan struct{})
	go func() {
		defer close(served)
		k.serve()
	}()
	t.Cleanup(func() { // after the context of the test, which ends the workers
		requests.Close()
		shells.Close()
		<-served
		k.reaped.Wait()
	})
	return k
}

// Attach lets a shell that is not started yet, and finds the program of BuildStub in place of the one
// of the workers, use the workers.
func (k *Workers) Attach(shell *exec.Cmd) { shell.ExtraFiles = []*os.File{k.shells} }

func (k *Workers) serve() {
	var running sync.WaitGroup
	defer running.Wait()
	buffer, control := make([]byte, 1<<20), make([]byte, 1024)
	for {
		n, nc, _, _, err := k.requests.ReadMsgUnix(buffer, control)
		if err != nil {
			return // closed
		}
		files, err := receivedFiles(control[:nc])
		if err != nil || len(files) != 4 {
			k.t.Errorf("stub sent %d files, want standard input, output, error and a socket for the answer: %v", len(files), err)
			closeFiles(files)
			continue
		}
		command := slices.Clone(buffer[:n])
		running.Go(func() {
			defer closeFiles(files[3:])
			code, err := k.run(command, files[:3])
			if err != nil {
				k.t.Errorf("worker: %v", err)
				return
			}
			if _, err := syscall.Write(files[3], []byte{byte(code)}); err != nil {
				k.t.Errorf("stub went away: %v", err)
			}
		})
	}
}

// run returns the exit code of a command, with files as its standard files. It closes them, so that
// readers of the output see its end.
func (k *Workers) run(command []byte, files []int) (code int, err error) {
	w, err := k.worker()
	if err != nil {
		closeFiles(files)
		return 0, err
	}
	_, _, err = w.commands.WriteMsgUnix(command, syscall.UnixRights(files...), nil)
	closeFiles(files)
	if err != nil {
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

// worker returns a worker that runs no command, a new one if there is none: the two sides of a
// pipe run at the same time.
func (k *Workers) worker() (*worker, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if n := len(k.idle); n > 0 {
		w := k.idle[n-1]
		k.idle = k.idle[:n-1]
		return w, nil
	}
	commands, theirs, err := socketPair(syscall.SOCK_STREAM)
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	w := &worker{process: exec.CommandContext(k.t.Context(), k.program), commands: commands, ended: make(chan struct{})}
	w.process.Env, w.process.ExtraFiles = k.env, []*os.File{theirs}
	if err := w.process.Start(); err != nil {
		commands.Close()
		return nil, err
	}
	k.reaped.Go(func() {
		defer close(w.ended)
		_ = w.process.Wait() // the exit code is that of a command, or the test is over
	})
	return w, nil
}

// socketPair returns a connected pair of sockets: one for this process, and one to hand on.
func socketPair(kind int) (*net.UnixConn, *os.File, error) {
	syscall.ForkLock.RLock()
	pair, err := syscall.Socketpair(syscall.AF_UNIX, kind, 0)
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

// receivedFiles returns the files that came with a message.
func receivedFiles(control []byte) ([]int, error) {
	messages, err := syscall.ParseSocketControlMessage(control)
	if err != nil || len(messages) == 0 {
		return nil, err
	}
	return syscall.ParseUnixRights(&messages[0])
}

func closeFiles(files []int) {
	for _, f := range files {
		_ = syscall.Close(f) // received, and open
	}
}
