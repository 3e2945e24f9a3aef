package command

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/persist"
	"github.com/troupe-api/troupe/persist/vfs"
)

func dataDirFlag(c *cobra.Command) *string {
	return c.Flags().String("data-dir", daemon.Default().DataDir, "Data directory.")
}

// takeDirectory sets --data-dir from the first argument, if there is one.
func takeDirectory(c *cobra.Command, dir *string, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if c.Flags().Changed("data-dir") {
		return fmt.Errorf("the data directory is given twice: --data-dir %s and %s", *dir, args[0])
	}
	return c.Flags().Set("data-dir", args[0])
}

func oneFile(c *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("%s needs exactly one FILE, got %d", c.Name(), len(args))
	}
	return nil
}

// backup returns the command that writes a daemon's state to a file. HTTP does not reliably report
// a truncated response, so a stream from a daemon is verified on the fly.
func backup() *cobra.Command {
	c := &cobra.Command{
		Use:   "backup [DIR] FILE",
		Short: "Back up the state of a server into a file",
		Long: `Write the whole state of a server to FILE, or to standard output if FILE is "-".

With --kubeconfig, the state comes from a running server, which continues to serve; the
user must be an administrator. With --etcd-servers, it is read from etcd. With DIR or
--data-dir, it is read from a data directory whose server is not running. The default is
the server of KUBECONFIG, or troupe-data. An incomplete backup is an error and leaves no FILE.

The file has checksums. Objects are stored as in the data directory: in plain text, except
for those encrypted by --encryption-provider-config. Protect it like the data directory, and
keep it apart from the keys. Certificates and admin.kubeconfig are not included.`,
		Args: cobra.MaximumNArgs(2),
	}
	dir := dataDirFlag(c)
	kubeconfig := kubeconfigFlag(c)
	m := migrationFlags(c)
	c.MarkFlagsMutuallyExclusive("data-dir", "kubeconfig", "etcd-servers")
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) == 2 {
			if err := errors.Join(takeDirectory(c, dir, args[:1]), c.ValidateFlagGroups()); err != nil {
				return err
			}
			args = args[1:]
		}
		if err := oneFile(c, args); err != nil {
			return err
		}
		source := *dir
		take := func(w io.Writer) (persist.Revision, error) { return persist.BackupDir(*dir, w) }
		if *kubeconfig != "" || hasKubeconfig() && !c.Flags().Changed("data-dir") && len(m.Etcd.Servers) == 0 {
			r, err := loadDaemonClient(*kubeconfig)
			if err != nil {
				return err
			}
			source, take = r.URL(), func(w io.Writer) (persist.Revision, error) { return r.backup(c.Context(), w) }
		}
		if len(m.Etcd.Servers) > 0 {
			source, take = "etcd", func(w io.Writer) (persist.Revision, error) { return m.BackupEtcd(c.Context(), w) }
		}
		var revision persist.Revision
		err := writeTo(args[0], c.OutOrStdout(), func(w io.Writer) (err error) {
			revision, err = take(w)
			return err
		})
		if errors.Is(err, persist.ErrLocked) {
			err = fmt.Errorf("%w\nback up the running server with --kubeconfig", err)
		}
		if err == nil {
			fmt.Fprintf(c.ErrOrStderr(), "backup of %s at resource version %d\n", source, revision)
		}
		return err
	}
	return c
}

// restore returns the command that creates a data directory from a backup. A directory in use is
// not empty, so it is rejected.
func restore() *cobra.Command {
	c := &cobra.Command{
		Use:   "restore [FILE]",
		Short: "Restore a data directory from a backup, or to a point in time",
		Long: `Create a data directory from the backup in FILE, or from standard input if FILE is "-".
The directory must not exist, or be empty. Nothing is written before the whole backup is
verified. Older watches and lists are expired (410) afterwards.

With --journal, the journal and the archive (journal-archive-bytes) of the backed-up data
directory are replayed after the backup. Without FILE, the replay begins with the snapshot
there. That directory is only read; its server may be running. Damage in it does not affect
earlier points in time.

With --to, the state is that of a resource version, or of a time: the state before the
first later change. If the clock was set back, use a resource version. troupe verify prints
the versions and times.

  troupe restore --data-dir new-data --journal troupe-data --to 4711 state.backup
  troupe restore --data-dir new-data --journal troupe-data --to 2026-11-24T14:05:00Z state.backup`,
		Args: cobra.MaximumNArgs(1),
	}
	dir := dataDirFlag(c)
	var from persist.Source
	c.Flags().StringVar(&from.Journal, "journal", "", "Data directory whose journal is replayed after the backup.")
	to := c.Flags().String("to", "", "Resource version, or time such as 2026-11-24T14:05:00Z, to restore (default the latest).")
	c.RunE = func(c *cobra.Command, args []string) (err error) {
		if len(args) == 0 && from.Journal == "" {
			return oneFile(c, args)
		}
		if from.To, err = parsePoint(*to); err != nil {
			return err
		}
		if len(args) > 0 && args[0] == "-" {
			from.Backup = c.InOrStdin()
		} else if len(args) > 0 {
			file, err := os.Open(args[0])
			if err != nil {
				return err
			}
			defer file.Close()
			from.Backup = file
		}
		done, err := persist.Restore(*dir, from)
		if err != nil {
			return err
		}
		written := ""
		if !done.Time.IsZero() {
			written = ", stored " + done.Time.UTC().Format(time.RFC3339Nano)
		}
		fmt.Fprintf(c.ErrOrStderr(), "restored %s at resource version %d%s: troupe serve --data-dir %[1]s\n", *dir, done.Revision, written)
		return nil
	}
	return c
}

// parsePoint parses the flag --to: a resource version or an RFC 3339 time.
func parsePoint(text string) (p persist.Point, err error) {
	if text == "" {
		return p, nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err == nil && n > 0 {
		return persist.Point{Revision: persist.Revision(n)}, nil
	}
	if p.Time, err = time.Parse(time.RFC3339, text); err != nil || n > 0 {
		return p, fmt.Errorf("--to: %q is neither a resource version nor a time such as 2026-11-24T14:05:00Z", text)
	}
	return p, nil
}

// verify returns the command that checks a data directory. Damage is reported in the output and by
// the exit status.
func verify() *cobra.Command {
	c := &cobra.Command{
		Use:   "verify [DIR]",
		Short: "Verify the checksums of a data directory",
		Long: `Read every byte of a data directory, verify its checksums, and print a line per finding.
The certificates and keys of the directory are verified too. Nothing is changed, and the
server may be running. The exit status is 1 if anything is damaged.

It also lists the keys that the stored values need. A listed key must stay in the
encryption configuration. With --encryption-provider-config, every value is decrypted; a
failure counts as damage.`,
		Args: cobra.MaximumNArgs(1),
	}
	dir := dataDirFlag(c)
	config := c.Flags().String("encryption-provider-config", "", "EncryptionConfiguration file to decrypt every value with.")
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := takeDirectory(c, dir, args); err != nil {
			return err
		}
		keys := keyCensus{}
		visit := keys.count
		if *config != "" {
			open, err := valueReader(*config)
			if err != nil {
				return err
			}
			visit = func(at persist.Place, stored []byte) error {
				return errors.Join(keys.count(at, stored), open(at, stored))
			}
		}
		ok, err := persist.Verify(*dir, c.OutOrStdout(), persist.Checks{Value: visit, Files: daemon.CheckCertificates})
		keys.write(c.OutOrStdout())
		if err == nil && !ok {
			err = errors.New("the data directory is damaged")
		}
		return err
	}
	return c
}

// writeTo writes a file that only its owner can read; "-" is out. The file appears under its name
// once it is complete and durable, so a failed backup neither looks valid nor replaces an older
// one.
func writeTo(path string, out io.Writer, write func(io.Writer) error) (err error) {
	if path == "-" {
		return write(out)
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(tmp.Name())
		}
	}()
	err = write(tmp)
	if err == nil {
		err = tmp.Sync()
	}
	if err = errors.Join(err, tmp.Close()); err != nil {
		return err
	}
	if err = os.Rename(tmp.Name(), path); err != nil {
		return err
	}
	return vfs.OS{}.SyncDir(filepath.Dir(path))
}
