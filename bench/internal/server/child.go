package server

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// children are the hidden subcommands, each of which is one job of this binary in a process of its own.
var children = map[string]func(in io.Reader, out io.Writer) error{NameFloor: ServeFloor, nameFlood: runFlood}

// RunChild does the job of a child process, if the arguments name one.
func RunChild(args []string, in io.Reader, out io.Writer) (isChild bool, err error) {
	if len(args) != 1 || children[args[0]] == nil {
		return false, nil
	}
	return true, children[args[0]](in, out)
}

// A child is this binary in a process of its own, so that its CPU time is not mixed with that of the load. It ends when its standard input
// does, so it outlives this process in no case.
type child struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// startChild runs this binary again, for a job.
func startChild(job string) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := &child{cmd: exec.Command(self, job)}
	c.cmd.Stderr = os.Stderr
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.out = bufio.NewReader(out)
	return c, c.cmd.Start()
}

// line is the next line that the child prints.
func (c *child) line() (string, error) {
	text, err := c.out.ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("%s: %w", c.cmd.Args[1], err)
	}
	return text, nil
}

// stop ends the child and waits for it. It returns what it printed at last.
func (c *child) stop() (string, error) {
	closed := c.in.Close()
	text, err := io.ReadAll(c.out)
	return string(text), errors.Join(closed, err, c.cmd.Wait())
}
