package command

import (
	"cmp"
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

func takeDirectory(c *cobra.Command, dir string, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if c.Flags().Changed("data-dir") {
		return fmt.Errorf("the data directory is given twice: --data-dir %s and %s", dir, args[0])
	}
	return c.Flags().Set("data-dir", args[0])
}

func oneFile(c *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("%s needs exactly one FILE, got %d", c.Name(), len(args))
	}
	return nil
}

type backupOptions struct {
	DataDir, Kubeconfig string
	migration
}

func (o *backupOptions) prepare(c *cobra.Command) {
	o.migration.prepare(c)
	c.MarkFlagsMutuallyExclusive("data-dir", "kubeconfig", "etcd-servers")
}

// run writes a backup of a data directory, a daemon or etcd to a file. A daemon's backup is
// verified while it is streamed, because HTTP does not reliably report a truncated response.
func (o *backupOptions) run(c *cobra.Command, args []string) error {
	if len(args) == 2 {
		if err := errors.Join(takeDirectory(c, o.DataDir, args[:1]), c.ValidateFlagGroups()); err != nil {
			return err
		}
		args = args[1:]
	}
	if err := oneFile(c, args); err != nil {
		return err
	}
	source := o.DataDir
	take := func(w io.Writer) (persist.Revision, error) { return persist.BackupDir(o.DataDir, w) }
	isGiven := c.Flags().Changed("data-dir") || len(o.Etcd.Servers) > 0
	if o.Kubeconfig != "" || !isGiven && (hasKubeconfig() || !exists(o.DataDir)) {
		r, err := loadDaemonClient(c, o.Kubeconfig)
		if err != nil {
			return err
		}
		source, take = r.Server(), func(w io.Writer) (persist.Revision, error) { return r.backup(c.Context(), w) }
	}
	if len(o.Etcd.Servers) > 0 {
		source, take = "etcd", func(w io.Writer) (persist.Revision, error) { return o.BackupEtcd(c.Context(), w) }
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

type restoreOptions struct{ DataDir, Journal, To string }

// run creates a data directory from a backup. The target must be empty, which excludes a directory
// in use.
func (o *restoreOptions) run(c *cobra.Command, args []string) (err error) {
	from := persist.Source{Journal: o.Journal}
	if len(args) == 0 && from.Journal == "" {
		return oneFile(c, args)
	}
	if from.To, err = parsePoint(o.To); err != nil {
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
	done, err := persist.Restore(o.DataDir, from)
	if err != nil {
		return err
	}
	written := ""
	if !done.Time.IsZero() {
		written = ", stored " + done.Time.UTC().Format(time.RFC3339Nano)
	}
	naming, err := daemon.StoredNaming(o.DataDir)
	if err == nil {
		fmt.Fprintf(c.ErrOrStderr(), "restored %s at resource version %d%s: troupe serve --naming %s --data-dir %[1]s\n", o.DataDir, done.Revision, written, cmp.Or(naming, daemon.Default().Naming))
	}
	return err
}

// parsePoint parses the value of --to, which is a resource version or an RFC 3339 time.
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

type verifyOptions struct{ DataDir, EncryptionProviderConfig string }

// run checks a data directory. It reports damage in the output and with the exit code.
func (o *verifyOptions) run(c *cobra.Command, args []string) error {
	if err := takeDirectory(c, o.DataDir, args); err != nil {
		return err
	}
	if info, err := os.Stat(o.DataDir); err == nil && !info.IsDir() {
		return fmt.Errorf("%s is a file, not a data directory: troupe restore checks a backup while it restores it", o.DataDir)
	}
	keys := keyCensus{}
	visit := keys.count
	if o.EncryptionProviderConfig != "" {
		open, err := valueReader(o.EncryptionProviderConfig)
		if err != nil {
			return err
		}
		visit = func(at persist.Place, stored []byte) error {
			return errors.Join(keys.count(at, stored), open(at, stored))
		}
	}
	ok, err := persist.Verify(o.DataDir, c.OutOrStdout(), persist.Checks{Value: visit, Files: daemon.CheckCertificates})
	keys.write(c.OutOrStdout())
	if err == nil && !ok {
		err = errors.New("the data directory is damaged")
	}
	return err
}

// writeTo writes a file that only its owner can read, or to out if path is "-". The file gets its
// name once it is complete and durable, so that a failed backup never replaces an older one.
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
