package command

import (
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/persist"
	"github.com/troupe-api/troupe/persist/etcd"
)

// A migration holds the flags for etcd and data encryption.
type migration struct{ daemon.Migration }

func (m *migration) prepare(c *cobra.Command) {
	m.Config, m.Log = daemon.Default(), slog.New(slog.NewTextHandler(c.ErrOrStderr(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	c.Flags().AddFlagSet(m.FlagsNamed("etcd-servers", "etcd-cafile", "etcd-certfile", "etcd-keyfile", "etcd-prefix", "encryption-provider-config"))
}

// inEtcd is the value of --from and --to that selects etcd.
const inEtcd = "etcd"

type migrateOptions struct {
	From, To string
	Check    bool
	migration
}

func (o *migrateOptions) prepare(c *cobra.Command) {
	o.migration.prepare(c)
	c.Flags().AddFlagSet(o.FlagsNamed("cert-dir"))
}

// run copies the objects between a data directory and etcd, and compares them. For an exact copy,
// it accesses both stores directly, without a daemon.
func (o *migrateOptions) run(c *cobra.Command, _ []string) error {
	if (o.From == inEtcd) == (o.To == inEtcd) || o.From == "" || o.To == "" {
		return errors.New("one of --from and --to must be etcd, and the other a data directory")
	}
	if len(o.Etcd.Servers) == 0 {
		return errors.New("--etcd-servers must name the servers, such as http://127.0.0.1:2379")
	}
	o.DataDir = o.From
	copyState := o.ToEtcd
	if o.From == inEtcd {
		o.DataDir = o.To
		copyState = o.ToDataDir
	}
	if !o.Check {
		n, err := copyState(c.Context())
		if err != nil {
			return migrationAdvice(err)
		}
		fmt.Fprintf(c.ErrOrStderr(), "%d objects copied from %s to %s\n", n, o.From, o.To)
	}
	objects, differences, err := o.Migration.Check(c.Context(), c.OutOrStdout())
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

func migrationAdvice(err error) error {
	switch {
	case errors.Is(err, persist.ErrLocked):
		return fmt.Errorf("%w; to compare a running server, restore its backup (troupe backup --kubeconfig) into another directory", err)
	case errors.Is(err, os.ErrPermission):
		return fmt.Errorf("%w\nrun this command as the user of the server", err)
	case errors.Is(err, persist.ErrNotEmpty), errors.Is(err, etcd.ErrNotEmpty):
		return fmt.Errorf("%w\nif an earlier run has filled it, compare both sides with --check", err)
	}
	return err
}
