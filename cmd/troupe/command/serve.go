package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/grpc/grpclog"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client"
)

const serveHelp = `Serve the API until SIGTERM or SIGINT, and then drain: /readyz fails, requests in flight
finish, watches end. A second signal ends the process immediately. SIGHUP reloads
certificates, the audit policy and the token file.

On first start, the server creates its data directory, a CA, a serving certificate and an
administrator's kubeconfig. It prints one line to standard output when it is ready; the log
goes to standard error.

Settings come from the file of --config, if given, and from flags, which take precedence. A
setting has the same name in both: --max-watches=50000 is "max-watches: 50000" in the file.

With --naming platform, the default, use troupe or any HTTP client:

  troupe serve
  curl --cacert troupe-data/pki/ca.crt --cert troupe-data/pki/admin.crt \
    --key troupe-data/pki/admin.key https://127.0.0.1:6443/api/v1/namespaces
  troupe status

kubectl, Helm and other existing clients need --naming kubernetes:

  troupe serve --naming kubernetes --data-dir cluster-data
  kubectl --kubeconfig cluster-data/admin.kubeconfig get namespaces

A data directory keeps the naming profile that it was created with.

For tests, in memory only, on a free port:

  troupe serve --ephemeral --secure-port 0 --naming kubernetes --write-kubeconfig kubeconfig

The ready line begins with "troupe ready: " and the address. The kubeconfig is complete before.`

// failureDrainTimeout is how long requests in flight may continue after a fatal error. It is short,
// because it delays the restart.
const failureDrainTimeout = 5 * time.Second

// serve returns the command that runs the daemon. It merges settings from defaults, file and flags.
// The flags are bound to a separate Config, and only flags that the user sets are merged. A flag's
// default therefore does not override the file.
func serve() *cobra.Command {
	var file string
	flags := daemon.Default()
	groups := flags.Flags()
	c := &cobra.Command{
		GroupID: "server",
		Use:     "serve",
		Short:   "Serve the API",
		Long:    serveHelp,
		Args:    cobra.NoArgs,
	}
	c.Flags().SortFlags = false
	c.Flags().StringVar(&file, "config", "", "YAML file of settings.")
	for _, g := range groups {
		c.Flags().AddFlagSet(g.Flags)
	}
	var help helpFlag
	c.Flags().VarPF(&help, "help", "h", "Print the main flags, or all with --help=all.").NoOptDefVal = "true"
	c.SetHelpFunc(func(c *cobra.Command, _ []string) {
		fmt.Fprintf(c.OutOrStdout(), "%s\n\nUsage:\n  troupe serve [flags]\n\n      --config string   YAML file of settings.\n", serveHelp)
		if help == "all" {
			daemon.PrintFlags(c.OutOrStdout(), groups)
		} else {
			daemon.PrintMainFlags(c.OutOrStdout(), groups)
		}
	})
	c.RunE = func(c *cobra.Command, _ []string) error {
		config := daemon.Default()
		var err error
		if file != "" {
			err = config.Load(file)
		}
		err = errors.Join(err, config.Override(c.Flags()))
		if err == nil {
			err = runDaemon(c, config)
		}
		return logFailure(config.Logging, c.ErrOrStderr(), err)
	}
	return c
}

// logFailure returns the error of a server, which becomes the last line of its log. If the log is
// in JSON, logFailure writes the line and returns an error without text.
func logFailure(format daemon.Logging, logs io.Writer, err error) error {
	if err == nil || format.Format != "json" {
		return err
	}
	format.New(logs).Error("the server has failed", "error", err)
	return &client.Error{}
}

// logLibraries sends to a logger what libraries log through the packages log, slog and grpclog.
func logLibraries(l *slog.Logger) {
	slog.SetDefault(l)
	grpclog.SetLoggerV2(grpclog.NewLoggerV2(io.Discard, io.Discard, slog.NewLogLogger(l.Handler(), slog.LevelError).Writer()))
}

// A helpFlag is --help or --help=all. cobra requires a help flag to be a boolean.
type helpFlag string

func (h *helpFlag) String() string { return strconv.FormatBool(*h != "") }

func (h *helpFlag) Type() string { return "bool" }

func (h *helpFlag) Set(s string) error {
	if s != "true" && s != "all" {
		return errors.New(`must be "all"`)
	}
	*h = helpFlag(s)
	return nil
}

func runDaemon(c *cobra.Command, config daemon.Config) error {
	return withKubeconfig(config, func(config daemon.Config) error { return run(config, c.OutOrStdout(), c.ErrOrStderr()) })
}

// withKubeconfig writes the kubeconfig of an ephemeral daemon to a temporary directory if no path
// is configured.
func withKubeconfig(config daemon.Config, run func(daemon.Config) error) error {
	if !config.Ephemeral || config.Kubeconfig != "" {
		return run(config)
	}
	dir, err := os.MkdirTemp("", "troupe-")
	if err != nil {
		return err
	}
	config.Kubeconfig = filepath.Join(dir, "kubeconfig")
	return errors.Join(run(config), os.RemoveAll(dir))
}

// run serves until a signal or a fatal error. It catches signals before it opens anything, so that
// none is lost during startup. Callers wait for the ready line on standard output.
//
// A second signal ends the process without draining, which loses no acknowledged write.
func run(config daemon.Config, out, logs io.Writer) error {
	signals, reloads := make(chan os.Signal, 2), make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	signal.Notify(reloads, syscall.SIGHUP)
	defer signal.Stop(signals)
	defer signal.Stop(reloads)
	logLibraries(config.Logging.New(logs))
	heap := newHugeHeap()
	d, err := daemon.New(config, logs)
	if err != nil {
		return err
	}
	started, settled := d.TuneMemory()
	if err := d.Start(); err != nil {
		return err
	}
	started()
	fmt.Fprintln(out, d.Ready())
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go new(memoryScavenger).run(ctx, heap, settled)
	ended := make(chan error, 1)
	go func() { ended <- d.Wait() }()
	for serving := true; serving; {
		select {
		case err := <-ended:
			drainCtx, cancel := context.WithTimeout(ctx, failureDrainTimeout)
			defer cancel()
			d.Drain(drainCtx)
			return err // the next start recovers
		case <-reloads:
			d.Reload()
		case <-signals:
			serving = false
		}
	}
	stopped := make(chan error, 1)
	go func() { stopped <- d.Stop(ctx) }()
	select {
	case err := <-stopped:
		return err
	case s := <-signals:
		return fmt.Errorf("terminated by a second signal: %v", s)
	}
}
