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
	return c.Flags().String("data-dir", daemon.Default().DataDir, "The data directory.")
}

// takeDirectory sets --data-dir from the first argument, if there is one.
func takeDirectory(c *cobra.Command, dir *string, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if c.Flags().Changed("data-dir") {
		return fmt.Errorf("the data directory is named twice: --data-dir %s and %s", *dir, args[0])
	}
	return c.Flags().Set("data-dir", args[0])
}

func oneFile(c *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("%s takes one FILE, and was given %d", c.Name(), len(args))
	}
	return nil
}

// backup returns the command that writes a daemon's state to a file. HTTP does not reliably report
// a truncated response, so a stream from a daemon is verified on the fly.
func backup() *cobra.Command {
	c := &cobra.Command{
		Use:   "backup [DIR] FILE",
		Short: "Write the state of a daemon into one file",
		Long: `Write the whole state of a daemon into FILE, or to standard output if FILE is "-".

With --kubeconfig it asks the running daemon that the file names, which goes on serving
meanwhile; the user of the file must be an administrator. With --etcd-servers it reads
from etcd directly. With DIR or --data-dir it reads a data directory, whose
daemon must not be running. Without any of them it asks the daemon of KUBECONFIG, or reads
troupe-data. A backup that arrives incomplete is an error and leaves no FILE.

The file carries checksums, and holds every object as the data directory does: in clear,
but for what --encryption-provider-config encrypts. Keep it like the data directory itself,
and apart from the keys. Certificates and admin.kubeconfig are not part of it.`,
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
			err = fmt.Errorf("%w\nask the daemon that uses it, with --kubeconfig", err)
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
		Short: "Make a data directory from a backup, or as it was at a point in time",
		Long: `Make a data directory from the backup in FILE, or from standard input if FILE is "-".
The directory must be missing or empty. Nothing is written before the whole backup has
proved intact. Watches and lists from before the restore are answered 410 afterwards.

With --journal it goes on, where the backup ends, with the journal and the archive
(journal-archive-bytes) of the data directory that the backup is of. Without FILE it begins
with the snapshot there. That directory is only read; its daemon may be running, and what
is damaged in it does no harm to points before the damage.

With --to the state is that of a resource version, as a list at that version shows it, or
of a time: the one before the first change that was stored later. Where the clock was set
back, name a resource version. troupe verify prints which versions were stored when.

  troupe restore --data-dir new-data --journal troupe-data --to 4711 state.backup
  troupe restore --data-dir new-data --journal troupe-data --to 2026-11-24T14:05:00Z state.backup`,
		Args: cobra.MaximumNArgs(1),
	}
	dir := dataDirFlag(c)
	var from persist.Source
	c.Flags().StringVar(&from.Journal, "journal", "", "Data directory whose journal goes on where the backup ends.")
	to := c.Flags().String("to", "", "Resource version, or time such as 2026-11-24T14:05:00Z, to restore (default the end).")
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
		fmt.Fprintf(c.ErrOrStderr(), "%s is restored as it was at resource version %d%s: troupe serve --data-dir %[1]s\n", *dir, done.Revision, written)
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
		Short: "Check every checksum of a data directory",
		Long: `Read every byte of a data directory, compare it with its checksums and print what was
found, a line each. The certificates and keys of the directory are checked, too. Nothing is
changed, and the daemon may be running. The exit status is 1 if anything is damaged.

It also lists the keys that the stored values need. A listed key must stay in the
encryption configuration. With --encryption-provider-config every value is decrypted, and
one that cannot be is damage too.`,
		Args: cobra.MaximumNArgs(1),
	}
	dir := dataDirFlag(c)
	config := c.Flags().String("encryption-provider-config", "", "File of the EncryptionConfiguration, to decrypt every value with.")
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
