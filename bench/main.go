package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/spf13/pflag"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is main with injected arguments and streams. It returns the exit code: 0 without errors, 2
// for invalid flags, and 1 if operations or workloads failed or a soak found growth. An interrupt
// stops the servers and removes their directories.
func run(args []string, in io.Reader, out, log io.Writer) int {
	if slices.Equal(args, []string{nameFloor}) {
		return exitCode(log, serveFloor(in, out))
	}
	b := &Bench{Log: log, Command: args}
	switch err := b.Options.parse(args, log); {
	case errors.Is(err, pflag.ErrHelp):
		return 0
	case err != nil:
		_, _ = fmt.Fprintln(log, err)
		return 2
	}
	if b.Options.Compare {
		old, oldErr := readReport(b.Options.Reports[0])
		new, newErr := readReport(b.Options.Reports[1])
		if err := errors.Join(oldErr, newErr); err != nil {
			return exitCode(log, err)
		}
		return exitCode(log, compare(old, new).writeTable(out))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := b.run(ctx, out)
	switch {
	case err != nil:
	case b.Report.errors() > 0:
		err = fmt.Errorf("%d operations failed", b.Report.errors())
	case b.Report.grown():
		err = errors.New("quantities of the server have grown")
	}
	return exitCode(log, err)
}

func exitCode(log io.Writer, err error) int {
	if err == nil {
		return 0
	}
	_, _ = fmt.Fprintln(log, err)
	return 1
}
