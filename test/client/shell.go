package client

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
)

// A Shell runs command lines as Bash does, but in the process of the test, and one program in
// Workers: a command line takes no process of its own.
type Shell struct {
	Dir     string
	Env     []string
	Program string // name of the program that Workers run
	Workers *Workers
}

// Run runs a command line. It returns the standard output and error together, and the exit code. An
// error means that the line could not be run.
func (s *Shell) Run(ctx context.Context, line string) (output string, code int, err error) {
	parsed, err := syntax.NewParser().Parse(strings.NewReader(line), "")
	if err != nil {
		return "", 0, err
	}
	stdin, err := os.Open(os.DevNull)
	if err != nil {
		return "", 0, err
	}
	defer stdin.Close()
	var text bytes.Buffer
	err = collect(&text, func(out *os.File) error {
		runner, err := interp.New(interp.Dir(s.Dir), interp.Env(expand.ListEnviron(s.Env...)),
			interp.StdIO(stdin, out, out), interp.ExecHandlers(s.handle))
		if err != nil {
			return err
		}
		return runner.Run(ctx, parsed)
	})
	var exit interp.ExitStatus
	if errors.As(err, &exit) {
		return text.String(), int(exit), nil
	}
	return text.String(), 0, err
}

// handle runs Program in a worker.
func (s *Shell) handle(next interp.ExecHandlerFunc) interp.ExecHandlerFunc {
	return func(ctx context.Context, args []string) error {
		if args[0] != s.Program {
			return next(ctx, args)
		}
		hc := interp.HandlerCtx(ctx)
		c := invocation{Args: args[1:], Env: exported(hc.Env), Dir: hc.Dir}
		return collect(hc.Stdout, func(stdout *os.File) error {
			return collect(hc.Stderr, func(stderr *os.File) error {
				code, err := s.Workers.run(c, [3]*os.File{hc.Stdin.(*os.File), stdout, stderr})
				if err != nil || code == 0 {
					return err
				}
				return interp.ExitStatus(code)
			})
		})
	}
}

// collect calls f with a file whose contents go to w. It returns when all are there.
func collect(w io.Writer, f func(*os.File) error) error {
	if file, ok := w.(*os.File); ok {
		return f(file)
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		return err
	}
	copied := make(chan error, 1)
	go func() {
		_, err := io.Copy(w, reader)
		copied <- err
	}()
	err = f(writer)
	return errors.Join(err, writer.Close(), <-copied, reader.Close())
}

// exported returns the variables that programs get.
func exported(env expand.Environ) (all []string) {
	for name, v := range env.Each {
		if v.Exported && v.Kind == expand.String {
			all = append(all, name+"="+v.Str)
		}
	}
	return all
}
