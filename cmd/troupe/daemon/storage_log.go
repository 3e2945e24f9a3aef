package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/persist"
	"github.com/troupe-api/troupe/persist/etcd"
	"github.com/troupe-api/troupe/persist/vfs"
	"github.com/troupe-api/troupe/policy/certs"
)

// A stateLog stores the daemon's data, either in etcd or in a journal, which locks its data
// directory.
type stateLog struct {
	base

	encryption *atRest
	journal    *persist.Journal // nil if the state is in etcd
	etcd       *etcd.Log        // nil if the state is in the data directory
	initial    initialState     // nil for an empty data directory
	second     *secondWriter    // of the journal; see RawWriter; may be nil
}

func (l *stateLog) Start() (err error) {
	if l.encryption, err = newAtRest(l.config.Encryption, l.naming, l.log); err != nil {
		return err
	}
	open := l.openJournal
	if l.config.Etcd.used() {
		open = l.openEtcd
	}
	if err = open(); err == nil && !l.config.Ephemeral {
		err = l.makeDirectory()
	}
	return err
}

// makeDirectory creates the data directory or restricts its permissions, because it contains
// Secrets and private keys. If the file system does not allow the change, it only logs a warning.
// Check the directory first, so that an unrelated directory stays unchanged.
func (l *stateLog) makeDirectory() error {
	dir := l.config.DataDir
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm()&0o077 == 0 || runtime.GOOS == "windows" { // has other permissions
		return err
	}
	if err := os.Chmod(dir, info.Mode().Perm()&0o700); err != nil {
		l.log.Warn("other users may read the data directory", "dir", dir, "error", err)
		return nil
	}
	l.log.Warn("restricted the permissions of the data directory, which other users could read", "dir", dir, "mode", info.Mode().Perm().String())
	return nil
}

func (l *stateLog) openJournal() (err error) {
	sync := persist.SyncPolicy(l.config.Journal.Sync)
	if l.config.Ephemeral {
		sync = persist.SyncNone
	}
	files := l.fileSystem()
	if l.initial != nil {
		if err := l.initial(l.config.DataDir, files); err != nil {
			return err
		}
	}
	var checkpoint *persist.Checkpoint
	if l.origin != nil {
		checkpoint = &l.origin.files
	}
	l.journal, err = persist.Open(l.config.DataDir, persist.Options{
		FS:             files,
		Transformer:    l.encryption.transformer,
		SegmentBytes:   int64(l.config.Journal.SegmentBytes),
		ArchiveBytes:   int64(l.config.Journal.ArchiveBytes),
		Sync:           sync,
		AcceptDataLoss: l.config.AcceptDataLoss,
		Logger:         l.log,
		Checkpoint:     checkpoint,
	})
	if err != nil {
		return withAdvice(err)
	}
	return checkNaming(l.journal, l.config.DataDir, l.naming)
}

func (l *stateLog) fileSystem() vfs.FS {
	if !l.config.Ephemeral {
		return vfs.OS{}
	}
	if l.memory.files == nil {
		l.memory.files = vfs.NewVolatile()
	}
	return l.memory.files
}

func (l *stateLog) Stop(ctx context.Context) error {
	switch {
	case l.journal != nil:
		return closeWithin(ctx, "the journal", l.journal.Close)
	case l.etcd != nil:
		return closeWithin(ctx, "the connection to etcd", l.etcd.Close)
	}
	return nil
}

func (l *stateLog) current() persist.Log {
	switch {
	case l.etcd != nil:
		return l.etcd
	case l.second != nil:
		l.second.Log = l.journal
		return l.second
	}
	return l.journal
}

func (l *stateLog) healthy() error {
	if l.etcd != nil {
		return l.etcd.Healthy()
	}
	return l.journal.Healthy()
}

// rewrites returns a counter that increases when stored values must be re-encrypted. The store then
// writes a snapshot. rewrites returns nil with etcd, where values are re-encrypted only when they
// are written.
func (l *stateLog) rewrites() func() uint64 {
	if l.etcd != nil {
		return nil
	}
	return l.encryption.transformer.Rewrites
}

func (l *stateLog) backup(ctx context.Context, w io.Writer) error {
	if l.etcd != nil {
		_, err := backupEtcd(ctx, l.etcd, l.encryption.transformer, l.config.DataDir, w)
		return err
	}
	_, err := l.journal.Backup(w)
	return err
}

// closeWithin calls shut, and returns an error if shut does not return within one second after ctx
// ends. One second is enough to close the journal on a working disk, even if ctx has already ended.
func closeWithin(ctx context.Context, what string, shut func() error) error {
	closed := make(chan error, 1)
	// The buffer lets the goroutine exit after a timeout.
	go func() { closed <- shut() }()
	select {
	case err := <-closed:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-closed:
		return err
	case <-time.After(time.Second):
		return fmt.Errorf("closing %s: %w", what, ctx.Err())
	}
}

// namingLabel records the naming profile of a data directory or etcd store.
const namingLabel = "naming"

// StoredNaming returns the recorded naming profile of a backup or a data directory, or "".
func StoredNaming(path string) (string, error) {
	labels, err := persist.StoredLabels(path)
	return labels[namingLabel], err
}

// withAdvice appends the remedy to an error, if one is known.
func withAdvice(err error) error {
	var advice string
	file, isFile := errors.AsType[*certs.FileError](err)
	switch {
	case isFile:
		advice = file.Advice
	case errors.Is(err, persist.ErrDataLoss):
		advice = "put the file back, or restore a backup into another directory; to continue without the lost data, start once with --accept-data-loss"
	case errors.Is(err, persist.ErrLocked):
		advice = "stop the process that uses it, or choose another directory with --data-dir"
	case isCorrupt(err):
		advice = "restore the last backup into another directory, with troupe restore"
	default:
		return err
	}
	return fmt.Errorf("%w\n%s", err, advice)
}

func isCorrupt(err error) bool {
	_, ok := errors.AsType[*persist.CorruptError](err)
	return ok
}

// checkNaming records the naming profile in a new data directory, and rejects a directory with
// another profile. The profile cannot change, because labels, finalizers and groups of stored
// objects contain its names.
func checkNaming(j *persist.Journal, dir string, naming *meta.Naming) error {
	recorded, ok := j.Label(namingLabel)
	switch {
	case !ok:
		return j.SetLabel(namingLabel, naming.Profile)
	case recorded != naming.Profile:
		return fmt.Errorf("%s has the naming profile %s, not %s: use --naming %s, or another --data-dir",
			dir, recorded, naming.Profile, recorded)
	}
	return nil
}
