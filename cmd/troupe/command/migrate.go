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
		Short: "Move a state between a data directory and etcd",
		Long: `Copy the whole state of a daemon from its data directory into etcd, or back, and check
that both hold the same afterwards. The source stays as it is.

The daemon that uses the data directory must be stopped. Stop the daemons on etcd, too,
before you go back: what they write after etcd was read is not copied. The other side must
be empty: a prefix without keys, a directory that is missing or empty. A copy that was
interrupted is not opened by any daemon; run it again.

Objects keep their UIDs and all else, but get new resource versions, higher than any from
before: watches and lists from there are answered 410, and clients list again. The CAs and
the key of service accounts go with them, so that certificates and tokens stay good.

With --check nothing is copied: both sides are compared, object by object, and what differs
is printed. The daemons on etcd may be serving meanwhile. The status is 1 if anything does.`,
		Example: `  troupe migrate --from troupe-data --to etcd --etcd-servers http://127.0.0.1:2379
  troupe serve --data-dir node1 --etcd-servers http://127.0.0.1:2379
  troupe migrate --from etcd --to troupe-data-2 --etcd-servers http://127.0.0.1:2379`,
		Args: cobra.NoArgs,
	}
	from := c.Flags().String("from", "", "Where the state is: a data directory, or etcd.")
	to := c.Flags().String("to", "", "Where it is to go: etcd, or a data directory.")
	only := c.Flags().Bool("check", false, "Compare both sides, and copy nothing.")
	m := migrationFlags(c)
	c.Flags().AddFlagSet(m.FlagsNamed("cert-dir"))
	c.RunE = func(c *cobra.Command, _ []string) error {
		if (*from == inEtcd) == (*to == inEtcd) || *from == "" || *to == "" {
			return errors.New("one of --from and --to is etcd, and the other one a data directory")
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
		fmt.Fprintf(c.ErrOrStderr(), "both hold the same %d objects\n", objects)
		return nil
	}
	return c
}

func migrationAdvice(err error) error {
	switch {
	case errors.Is(err, persist.ErrLocked):
		return fmt.Errorf("%w; to compare a running one, restore its backup (troupe backup --kubeconfig) into another directory", err)
	case errors.Is(err, os.ErrPermission):
		return fmt.Errorf("%w\nrun it as the user of the daemon", err)
	}
	return err
}
