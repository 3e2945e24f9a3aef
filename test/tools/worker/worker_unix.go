//go:build unix

package worker

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// A request describes one command. The message with the request also passes the command's standard
// streams as open files.
type request struct {
	Args, Env []string
	Dir       string
}

// Serve receives commands on the Unix socket inherited as file descriptor 3, and calls run for
// each. During the call, the process has the request's arguments, environment, working directory
// and standard streams, with name as the first argument. The response is one byte, the exit code.
func Serve(name string, run func() (code int)) {
	f := os.NewFile(3, "commands")
	c, err := net.FileConn(f)
	must(err)
	f.Close()
	requests := c.(*net.UnixConn)
	stdin, stdout, stderr := os.Stdin, os.Stdout, os.Stderr
	buffer, control := make([]byte, 1<<16), make([]byte, 1024)
	for {
		n, nc, _, _, err := requests.ReadMsgUnix(buffer, control)
		if n == 0 || err != nil {
			return // the test is over
		}
		var r request
		must(json.NewDecoder(io.MultiReader(bytes.NewReader(buffer[:n]), requests)).Decode(&r))
		messages, err := unix.ParseSocketControlMessage(control[:nc])
		must(err)
		files, err := unix.ParseUnixRights(&messages[0])
		must(err)
		os.Stdin = os.NewFile(uintptr(files[0]), os.Stdin.Name())
		os.Stdout = os.NewFile(uintptr(files[1]), os.Stdout.Name())
		os.Stderr = os.NewFile(uintptr(files[2]), os.Stderr.Name())
		code := r.run(name, run)
		for _, f := range []*os.File{os.Stdin, os.Stdout, os.Stderr} {
			_ = f.Close() // kubectl closes standard input after some commands
		}
		os.Stdin, os.Stdout, os.Stderr = stdin, stdout, stderr
		_, err = requests.Write([]byte{byte(code)})
		must(err)
	}
}

// Exit ends the current command. Commands must not call os.Exit, which would end the worker.
func Exit(code int) { panic(exit(code)) }

type exit int

// run runs a command and returns its exit code. If the command calls os.Exit, the worker exits, and
// the client uses its exit code.
func (r request) run(name string, run func() int) (code int) {
	defer func() {
		switch failure := recover().(type) {
		case nil:
		case exit:
			code = int(failure)
		default:
			panic(failure)
		}
	}()
	os.Clearenv()
	for _, setting := range r.Env {
		name, value, _ := strings.Cut(setting, "=")
		must(os.Setenv(name, value))
	}
	must(os.Chdir(r.Dir))
	os.Args = append([]string{name}, r.Args...)
	return run()
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
