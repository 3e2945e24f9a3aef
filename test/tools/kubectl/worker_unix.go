//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"strings"

	"golang.org/x/sys/unix"
	"k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"
)

// A request is a command as the stub in kubectl's place was called. The files of the message are
// standard input, output and error.
type request struct {
	Args, Env []string
	Dir       string
}

// work runs the commands that come through file 3, each with the environment, the working
// directory and the standard files of its request, and answers with one byte, the exit code.
func work() {
	f := os.NewFile(3, "commands")
	c, err := net.FileConn(f)
	must(err)
	f.Close()
	requests := c.(*net.UnixConn)
	stdin, stdout, stderr := os.Stdin, os.Stdout, os.Stderr
	util.BehaviorOnFatal(fatal)
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
		code := run(r)
		for _, f := range []*os.File{os.Stdin, os.Stdout, os.Stderr} {
			_ = f.Close() // kubectl closes standard input after some commands
		}
		os.Stdin, os.Stdout, os.Stderr = stdin, stdout, stderr
		_, err = requests.Write([]byte{byte(code)})
		must(err)
	}
}

// An exit is the panic in the place of os.Exit.
type exit int

func fatal(message string, code int) {
	if message != "" {
		fmt.Fprintln(os.Stderr, strings.TrimSuffix(message, "\n"))
	}
	panic(exit(code))
}

// run returns the exit code of a command. Where kubectl ends the process by itself, the worker
// ends, and whoever started it answers with the exit code of the process.
func run(r request) (code int) {
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
	os.Args = append([]string{"kubectl"}, r.Args...)
	if cmd.NewDefaultKubectlCommand().Execute() != nil {
		return 1
	}
	return 0
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
