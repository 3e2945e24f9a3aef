package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/troupe-api/troupe/bench/internal/server"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is main with its surroundings as arguments. The exit code is 0 for a run without errors, 1 for one
// with failed operations or workloads, or a soak that something grew in, 2 for wrong flags. Tests call it.
// An interrupt ends the run in order, with the daemons stopped and their directories removed.
func run(args []string, in io.Reader, out, log io.Writer) int {
	if isChild, err := server.RunChild(args, in, out); isChild {
		return exitCode(log, err)
	}
	b := &Bench{Log: log, Command: args}
	switch err := b.Options.Parse(args, log); {
	case errors.Is(err, pflag.ErrHelp):
		return 0
	case err != nil:
		_, _ = fmt.Fprintln(log, err)
		return 2
	}
	if b.Options.Compare {
		return exitCode(log, compareSaved(b.Options.Reports[0], b.Options.Reports[1], out))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if code := exitCode(log, b.Run(ctx, out)); code != 0 {
		return code
	}
	if n := b.Report.Errors(); n > 0 {
		return exitCode(log, fmt.Errorf("%d operations failed", n))
	}
	if b.Report.Grown() {
		return exitCode(log, errors.New("the server holds more and more"))
	}
	return 0
}

// exitCode prints the error, if there is one, and returns the exit code. Errors go to the log, so that the
// table on standard output stays clean.
func exitCode(log io.Writer, err error) int {
	if err == nil {
		return 0
	}
	_, _ = fmt.Fprintln(log, err)
	return 1
}
