package command

import (
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/persist"
)

// migrationFlags adds the flags for the state in etcd and its encryption.
func migrationFlags(c *cobra.Command) *daemon.Migration {
	m := &daemon.Migration{Config: daemon.Default(), Log: slog.New(slog.NewTextHandler(c.ErrOrStderr(), &slog.HandlerOptions{Level: slog.LevelWarn}))}
	c.Flags().AddFlagSet(m.FlagsNamed("etcd-servers", "etcd-cafile", "etcd-certfile", "etcd-keyfile", "etcd-prefix", "encryption-provider-config"))
	return m
}

// inEtcd is the value of --from and --to that selects etcd.
const inEtcd = "etcd"

// migrate returns the command that moves a state between a data directory and etcd. It reads the
// stores directly, so that the copy is exact.
func migrate() *cobra.Command {
	c := &cobra.Command{
		Use:   "migrate --from DIR|etcd --to etcd|DIR",
		Short: "Copy the state between a data directory and etcd",
		Long: `Copy the whole state from a data directory to etcd, or back, and verify the copy. The source
is not changed.

The server of the data directory must be stopped. Stop the servers on etcd too before you
copy from there, since later writes are not copied. The target must be empty: a prefix
without keys, or a missing or empty directory. No server opens an interrupted copy; run the
command again.

Objects keep everything, including UIDs, except their resource versions, which become higher
than before: older watches and lists expire (410), and clients list again. CAs and service
account keys are copied, so that certificates and tokens stay valid.

With --check, nothing is copied: both sides are compared, and differences are printed. The
servers on etcd may be running. The exit status is 1 if there are differences.`,
		Example: `  troupe migrate --from troupe-data --to etcd --etcd-servers http://127.0.0.1:2379
  troupe serve --data-dir node1 --etcd-servers http://127.0.0.1:2379
  troupe migrate --from etcd --to troupe-data-2 --etcd-servers http://127.0.0.1:2379`,
		Args: cobra.NoArgs,
	}
	from := c.Flags().String("from", "", "Source: a data directory, or etcd.")
	to := c.Flags().String("to", "", "Target: etcd, or a data directory.")
	only := c.Flags().Bool("check", false, "Only compare both sides.")
	m := migrationFlags(c)
	c.Flags().AddFlagSet(m.FlagsNamed("cert-dir"))
	c.RunE = func(c *cobra.Command, _ []string) error {
		if (*from == inEtcd) == (*to == inEtcd) || *from == "" || *to == "" {
			return errors.New("one of --from and --to must be etcd, and the other a data directory")
		}
		if len(m.Etcd.Servers) == 0 {
			return errors.New("--etcd-servers must name the servers, such as http://127.0.0.1:2379")
		}
		m.DataDir = *from
		copyState := m.ToEtcd
		if *from == inEtcd {
			m.DataDir = *to
			copyState = m.ToDataDir
		}
		if !*only {
			n, err := copyState(c.Context())
			if err != nil {
				return migrationAdvice(err)
			}
			fmt.Fprintf(c.ErrOrStderr(), "%d objects copied from %s to %s\n", n, *from, *to)
		}
		objects, differences, err := m.Check(c.Context(), c.OutOrStdout())
		switch {
		case err != nil:
			return migrationAdvice(err)
		case differences == 1:
			return errors.New("there is a difference")
		case differences > 1:
			return fmt.Errorf("there are %d differences", differences)
		}
		fmt.Fprintf(c.ErrOrStderr(), "both sides have the same %d objects\n", objects)
		return nil
	}
	return c
}

func migrationAdvice(err error) error {
	switch {
	case errors.Is(err, persist.ErrLocked):
		return fmt.Errorf("%w; to compare a running server, restore its backup (troupe backup --kubeconfig) into another directory", err)
	case errors.Is(err, os.ErrPermission):
		return fmt.Errorf("%w\nrun this command as the user of the server", err)
	}
	return err
}
