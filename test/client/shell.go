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

// A Shell runs Bash command lines inside the test process. The commands in Programs run in Workers,
// because starting a process for each command is slow.
type Shell struct {
	Dir      string
	Env      []string
	Programs map[string]*Workers // by the name of the program
}

// Run runs a command line in a new session. It returns the combined output and the exit code, or an
// error if the line could not be run.
func (s *Shell) Run(ctx context.Context, line string) (output string, code int, err error) {
	session, err := s.Session()
	if err != nil {
		return "", 0, err
	}
	return session.Run(ctx, line)
}

// A ShellSession runs command lines that share variables and a working directory.
type ShellSession struct{ runner *interp.Runner }

// Session returns a new shell session.
func (s *Shell) Session() (*ShellSession, error) {
	runner, err := interp.New(interp.Dir(s.Dir), interp.Env(expand.ListEnviron(s.Env...)), interp.ExecHandlers(s.handle))
	return &ShellSession{runner}, err
}

// Run runs a command line in the session and returns the same results as Shell.Run.
func (s *ShellSession) Run(ctx context.Context, line string) (output string, code int, err error) {
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
		if err := interp.StdIO(stdin, out, out)(s.runner); err != nil {
			return err
		}
		return s.runner.Run(ctx, parsed)
	})
	var exit interp.ExitStatus
	if errors.As(err, &exit) {
		return text.String(), int(exit), nil
	}
	return text.String(), 0, err
}

func (s *Shell) handle(next interp.ExecHandlerFunc) interp.ExecHandlerFunc {
	return func(ctx context.Context, args []string) error {
		workers := s.Programs[args[0]]
		if workers == nil {
			return next(ctx, args)
		}
		hc := interp.HandlerCtx(ctx)
		c := invocation{Args: args[1:], Env: exported(hc.Env), Dir: hc.Dir}
		return collect(hc.Stdout, func(stdout *os.File) error {
			return collect(hc.Stderr, func(stderr *os.File) error {
				code, err := workers.run(c, [3]*os.File{hc.Stdin.(*os.File), stdout, stderr})
				if err != nil || code == 0 {
					return err
				}
				return interp.ExitStatus(code)
			})
		})
	}
}

// Run runs one command. It returns the combined output and the exit code, or an error if the
// command could not be run.
func (k *Workers) Run(dir string, env []string, stdin string, args ...string) (output string, code int, err error) {
	in, feed, err := os.Pipe()
	if err != nil {
		return "", 0, err
	}
	defer in.Close()
	go func() {
		_, _ = io.WriteString(feed, stdin) // the command may end without reading it
		_ = feed.Close()
	}()
	var text bytes.Buffer
	err = collect(&text, func(out *os.File) error {
		code, err = k.run(invocation{Args: args, Env: env, Dir: dir}, [3]*os.File{in, out, out})
		return err
	})
	return text.String(), code, err
}

// collect calls f with a file and copies everything written to the file to w. It blocks until the
// copy is complete.
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

func exported(env expand.Environ) (all []string) {
	for name, v := range env.Each {
		if v.Exported && v.Kind == expand.String {
			all = append(all, name+"="+v.Str)
		}
	}
	return all
}
