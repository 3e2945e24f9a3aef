package command

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client"
	"github.com/troupe-api/troupe/cmd/troupe/internal/plan"
	"github.com/troupe-api/troupe/cmd/troupe/internal/recording"
	"github.com/troupe-api/troupe/policy/kubeconfig"
)

type recordOptions struct{ Kubeconfig, Context, Output, Secrets string }

// run records until the command exits or a signal arrives.
func (o *recordOptions) run(c *cobra.Command, args []string) error {
	own, command := splitCommand(c, args)
	switch {
	case len(own) > 0:
		return fmt.Errorf("unexpected argument %q: give the command after --", own[0])
	case o.Output == "":
		return errors.New("--output is required: the file of the recording")
	case !slices.Contains([]string{"redact", "copy"}, o.Secrets):
		return fmt.Errorf("--secrets %q: must be redact or copy", o.Secrets)
	}
	if len(command) > 0 {
		if _, err := exec.LookPath(command[0]); err != nil {
			return err
		}
	}
	config, err := kubeconfig.Rules{Path: o.Kubeconfig, Fallback: defaultKubeconfig, Context: o.Context}.Load()
	if err != nil {
		return err
	}
	ctx, stop := interruptible(c)
	defer stop()
	r := &recording.Recorder{
		Server: config, Path: o.Output, Secrets: o.Secrets,
		Command: recording.Command{Args: command, Stdout: c.OutOrStdout(), Stderr: c.ErrOrStderr()},
	}
	n, err := r.Run(ctx)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		err = &client.Error{Text: "error: " + err.Error(), Code: max(exit.ExitCode(), 1)}
	}
	if n > 0 {
		fmt.Fprintf(c.ErrOrStderr(), "%s: %d entries\n", o.Output, n)
	}
	return err
}

type replayOptions struct {
	Ignore []string
	Idle   time.Duration
	Output string
}

func (o *replayOptions) prepare(c *cobra.Command) {
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return unchecked(flagError(c, err)) })
}

// run replays the recording. It fails if there are differences.
func (o *replayOptions) run(c *cobra.Command, args []string) error {
	own, command := splitCommand(c, args)
	switch {
	case len(own) != 1 || len(command) == 0:
		return unchecked(errors.New("give one recording, and the command after --"))
	case !slices.Contains(plan.Formats, o.Output):
		return unchecked(fmt.Errorf("--output %q: must be one of %s", o.Output, strings.Join(plan.Formats, ", ")))
	case o.Idle <= 0:
		return unchecked(fmt.Errorf("--idle %v: must be positive", o.Idle))
	}
	r, err := recording.Read(own[0])
	if err != nil {
		return unchecked(err)
	}
	ctx, stop := interruptible(c)
	defer stop()
	config := daemon.Default()
	config.Ephemeral = true
	return withKubeconfig(config, func(config daemon.Config) error {
		p := &recording.Player{
			Recording: r, Config: config, Ignore: o.Ignore, Idle: o.Idle,
			Command: recording.Command{Args: command, Stdout: c.ErrOrStderr(), Stderr: c.ErrOrStderr()},
		}
		report, err := p.Run(ctx)
		if report != nil {
			err = errors.Join(err, report.Write(c.OutOrStdout(), o.Output, c.CommandPath(), daemon.Version))
		}
		if err != nil {
			return unchecked(err)
		}
		if report.Counts()["errors"] > 0 {
			return &client.Error{Code: 1}
		}
		return nil
	})
}

func splitCommand(c *cobra.Command, args []string) (own, command []string) {
	if n := c.ArgsLenAtDash(); n >= 0 {
		return args[:n], args[n:]
	}
	return args, nil
}

// interruptible returns a context that ends with the first signal. A second signal ends the
// process.
func interruptible(c *cobra.Command) (ctx context.Context, stop func()) {
	ctx, stop = signal.NotifyContext(c.Context(), syscall.SIGTERM, syscall.SIGINT)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}
