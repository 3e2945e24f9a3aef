package envtest

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
)

const apiServerHelp = `This is troupe, standing in for kube-apiserver in tests. It takes the flags of kube-apiserver 1.37,
keeps everything in memory, and ends soon after the process that has started it.

By default it does what a bare kube-apiserver does by itself; beyond that, namespaces that are
deleted become empty, and garbage is collected. --controllers switches each controller on or off.

Flags in the variable TROUPE_APISERVER_FLAGS, with spaces between them, come after the others, and so
reach it where a suite has no place for them:

  TROUPE_APISERVER_FLAGS="--controllers=apiserver -v=2" go test ./...`

const versionFlag = "version"

// flagsVariable is the environment variable for additional kube-apiserver flags.
const flagsVariable = "TROUPE_APISERVER_FLAGS"

// A Runs function runs the daemon until a signal stops it.
type Runs func(config daemon.Config, out, logs io.Writer) error

// APIServer returns a command that stands in for kube-apiserver.
func APIServer(run Runs) *cobra.Command {
	flags := defaults()
	groups := flags.Flags()
	c := &cobra.Command{Use: "kube-apiserver", Short: "Serve the API", Long: apiServerHelp, Args: cobra.NoArgs, SilenceUsage: true, SilenceErrors: true}
	c.CompletionOptions.DisableDefaultCmd = true
	c.Flags().SortFlags = false
	for _, g := range groups {
		c.Flags().AddFlagSet(g.Flags)
	}
	own := ignored()
	var version reportedVersion
	own.VarPF(&version, versionFlag, "", "Print the version and exit, or report another one (vX.Y.Z-SUFFIX) at /version.").NoOptDefVal = "true"
	follow := own.Bool("exit-with-parent", true, "End soon after the process that has started this one.")
	collect := own.Bool("enable-garbage-collector", true, "Collect garbage, if the controller for it runs.")
	c.Flags().AddFlagSet(own)
	c.SetHelpFunc(func(c *cobra.Command, _ []string) {
		fmt.Fprintf(c.OutOrStdout(), "%s\n\nUsage:\n  kube-apiserver [flags]\n", apiServerHelp)
		served := slices.DeleteFunc(slices.Clone(groups), isEtcd)
		daemon.PrintFlags(c.OutOrStdout(), append(served, daemon.FlagGroup{Title: "Other", Flags: own}))
	})
	c.RunE = func(c *cobra.Command, _ []string) error {
		if version == "true" || version == "raw" {
			fmt.Fprintln(c.OutOrStdout(), "Kubernetes", daemon.GitVersion())
			return nil
		}
		config := defaults()
		config.GitVersion = string(version)
		if err := config.Override(c.Flags()); err != nil {
			return err
		}
		config.Etcd = defaults().Etcd // the stand-in for etcd stores nothing
		log := config.Logging.New(c.ErrOrStderr())
		logIgnored(c.Flags(), log)
		for _, g := range groups {
			g.Flags.VisitAll(func(f *pflag.Flag) {
				if isEtcd(g) && f.Changed {
					log.Debug("flag ignored", "flag", "--"+f.Name, "value", f.Value.String(), "reason", "State is in memory.")
				}
			})
		}
		if !*collect {
			config.Controllers = config.Controllers.With("-garbage-collector-controller")
		}
		if err := dropUnknownVersions(&config, log); err != nil {
			return err
		}
		certDir := config.TLS.CertDir
		serveFrom(&config)
		if *follow {
			followParent(log, certDir)
		}
		return run(config, c.ErrOrStderr(), c.ErrOrStderr())
	}
	return c
}

func isEtcd(g daemon.FlagGroup) bool { return g.Title == "etcd" }

// namespaceGrace is the delay before the daemon empties a deleted namespace. A test suite for a
// bare kube-apiserver finalizes deleted namespaces itself. It does so immediately, so the delay is
// short.
const namespaceGrace = daemon.Duration(200 * time.Millisecond)

func defaults() daemon.Config {
	c := daemon.Default()
	c.Ephemeral, c.Naming, c.Controllers = true, "kubernetes", daemon.TestControllers
	c.Namespaces.DeletionGracePeriod = namespaceGrace
	return c
}

// serveFrom implements --cert-dir as in kube-apiserver. Without --tls-cert-file, the server uses
// apiserver.crt and apiserver.key in that directory, and creates missing ones. The daemon's other
// certificates stay in memory.
func serveFrom(c *daemon.Config) {
	dir := c.TLS.CertDir
	c.TLS.CertDir = ""
	if dir == "" || c.TLS.CertFile != "" {
		return
	}
	c.TLS.CertFile, c.TLS.PrivateKeyFile = filepath.Join(dir, "apiserver.crt"), filepath.Join(dir, "apiserver.key")
	c.TLS.WriteFiles = isMissing(c.TLS.CertFile) || isMissing(c.TLS.PrivateKeyFile)
}

func isMissing(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// dropUnknownVersions removes unknown API versions from --runtime-config, because test suites may
// enable versions of other Kubernetes releases.
func dropUnknownVersions(c *daemon.Config, log *slog.Logger) error {
	naming, err := meta.ParseNaming(c.Naming)
	if err != nil {
		return err
	}
	unknown, err := catalog.RuntimeConfig(c.API.RuntimeConfig).Unknown(naming)
	for _, key := range unknown {
		log.Warn("no resource of this version is served", "flag", "--runtime-config", "version", key)
		delete(c.API.RuntimeConfig, key)
	}
	return err
}

// Programs lists the programs that the troupe binary stands in for.
var Programs = []string{"kube-apiserver", "etcd"}

// Program returns the command for a command line that begins with one of Programs, or nil for any
// other name.
func Program(args []string, run Runs) (c *cobra.Command) {
	name := strings.TrimSuffix(filepath.Base(args[0]), ".exe")
	args = slices.Clone(args[1:])
	switch {
	case !slices.Contains(Programs, name):
		return nil
	case name == "etcd":
		c = Etcd()
	default:
		c = APIServer(run)
		args = append(args, strings.Fields(os.Getenv(flagsVariable))...)
	}
	c.SetArgs(args)
	return c
}
