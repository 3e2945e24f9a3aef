package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/persist"
	"github.com/troupe-api/troupe/persist/etcd"
	"github.com/troupe-api/troupe/persist/vfs"
	"github.com/troupe-api/troupe/policy/certs"
)

// A stateLog keeps the state: a journal in the data directory, which it locks, or etcd.
type stateLog struct {
	base
	fatal fatalErrors

	encryption *atRest
	journal    *persist.Journal // nil if the state is in etcd
	etcd       *etcd.Log        // nil if the state is in the data directory
}

func (l *stateLog) Start() (err error) {
	if !l.config.Ephemeral {
		if err := os.MkdirAll(l.config.DataDir, 0o700); err != nil {
			return err
		}
	}
	if l.encryption, err = newAtRest(l.config.Encryption, l.naming, l.log); err != nil {
		return err
	}
	if l.config.Etcd.used() {
		return l.openEtcd()
	}
	return l.openJournal()
}

// openJournal opens the journal and makes sure that the directory is of this naming profile.
func (l *stateLog) openJournal() (err error) {
	l.journal, err = persist.Open(l.config.DataDir, persist.Options{
		FS:             l.fileSystem(),
		Transformer:    l.encryption.transformer,
		SegmentBytes:   int64(l.config.Journal.SegmentBytes),
		ArchiveBytes:   int64(l.config.Journal.ArchiveBytes),
		Sync:           persist.SyncPolicy(l.config.Journal.Sync),
		AcceptDataLoss: l.config.AcceptDataLoss,
		Logger:         l.log,
	})
	if err != nil {
		return withAdvice(err)
	}
	return checkNaming(l.journal, l.config.DataDir, l.naming)
}

// fileSystem is where the journal is: on the disk, or in a memory that forgets.
func (l *stateLog) fileSystem() vfs.FS {
	if l.config.Ephemeral {
		return vfs.NewVolatile()
	}
	return vfs.OS{}
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

// current returns the log that is in use.
func (l *stateLog) current() persist.Log {
	if l.etcd != nil {
		return l.etcd
	}
	return l.journal
}

func (l *stateLog) healthy() error {
	if l.etcd != nil {
		return l.etcd.Healthy()
	}
	return l.journal.Healthy()
}

// rewrites is Options.Rewrites of the store. What is in etcd is written anew by writes alone: no snapshot does that.
func (l *stateLog) rewrites() func() uint64 {
	if l.etcd != nil {
		return nil
	}
	return l.encryption.transformer.Rewrites
}

// backup writes a consistent state while writes go on; restoring it is a command of its own.
func (l *stateLog) backup(ctx context.Context, w io.Writer) error {
	if l.etcd != nil {
		_, err := backupEtcd(ctx, l.etcd, l.encryption.transformer, l.config.DataDir, w)
		return err
	}
	_, err := l.journal.Backup(w)
	return err
}

// closeWithin does not wait for a disk that does not answer longer than ctx allows. The last second is for
// a context that had ended before closing began: the journal is closed properly even then, if the disk
// works.
func closeWithin(ctx context.Context, what string, shut func() error) error {
	closed := make(chan error, 1)
	// The channel has room for the result, so the goroutine ends even if nobody waits any more.
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

// namingLabel is the label of the data directory that records its naming profile.
const namingLabel = "naming"

// withAdvice says with an error of the journal what can be done about it.
func withAdvice(err error) error {
	var advice string
	file, isFile := errors.AsType[*certs.FileError](err)
	switch {
	case isFile:
		advice = file.Advice
	case errors.Is(err, persist.ErrDataLoss):
		advice = "put the file back, or restore a backup into another directory; to go on with what is left, start once with --accept-data-loss"
	case errors.Is(err, persist.ErrLocked):
		advice = "stop the process that uses it, or choose another directory with --data-dir"
	case isCorrupt(err):
		advice = "restore the last backup into another directory, with troupe restore"
	default:
		return err
	}
	return fmt.Errorf("%w\n%s", err, advice)
}

// isCorrupt tells whether an error says that files of the journal have been damaged. The error has a type and no sentinel
// because it names the place.
func isCorrupt(err error) bool {
	_, ok := errors.AsType[*persist.CorruptError](err)
	return ok
}

// checkNaming records the naming profile in a new data directory and refuses one that was made under
// another profile. Stored objects hold names of the profile in labels, finalizers and groups; under another
// one they would be strangers.
func checkNaming(j *persist.Journal, dir string, naming *meta.Naming) error {
	recorded, ok := j.Label(namingLabel)
	switch {
	// A new directory takes the profile of its first start.
	case !ok:
		return j.SetLabel(namingLabel, naming.Profile)
	case recorded != naming.Profile:
		return fmt.Errorf("%s was made under the naming profile %s and cannot be opened under %s: start with --naming %s, or with another --data-dir",
			dir, recorded, naming.Profile, recorded)
	}
	return nil
}
