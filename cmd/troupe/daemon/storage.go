package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/troupe-api/troupe/actors"
	"github.com/troupe-api/troupe/actors/controllers/policyobjects"
	"github.com/troupe-api/troupe/cmd/troupe/internal/features"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/persist"
	"github.com/troupe-api/troupe/persist/etcd"
	"github.com/troupe-api/troupe/persist/vfs"
	"github.com/troupe-api/troupe/policy/admission/quota"
	"github.com/troupe-api/troupe/policy/certs"
)

// openDataDir opens all that is kept: the journal, which locks the directory, the certificates and the
// store. The kinds are compiled while the journal opens, and the certificates are read, or made, while the
// store opens: each takes a good part of the time of a start. Everything that was begun is waited for even
// if another part has failed, so that nothing runs on after Start.
func (d *Daemon) openDataDir() error {
	if !d.config.Ephemeral {
		if err := os.MkdirAll(d.config.DataDir, 0o700); err != nil {
			return err
		}
	}
	var compiling, identifying errgroup.Group
	compiling.Go(d.compileKinds)
	err := d.openLog()
	if err == nil { // else the directory may be another process's
		identifying.Go(d.openIdentity)
	}
	err = errors.Join(err, compiling.Wait())
	if err == nil {
		err = d.openStore()
	}
	return errors.Join(err, withAdvice(identifying.Wait()))
}

// compileKinds compiles the declarations of all kinds, as --runtime-config has them.
func (d *Daemon) compileKinds() (err error) {
	d.kinds, err = catalog.NewWithConfig(d.naming, catalog.RuntimeConfig(d.config.API.RuntimeConfig), catalog.Features{
		ScaleToZero:            d.features.Enabled(features.HPAScaleToZero),
		ClusterTrustBundle:     d.features.Enabled(features.ClusterTrustBundle),
		StorageVersionMigrator: d.features.Enabled(features.StorageVersionMigrator),
		Fields:                 d.features.Enabled,
	})
	return err
}

// openLog opens what keeps the state.
func (d *Daemon) openLog() (err error) {
	if d.encryption, err = newAtRest(d.config.Encryption, d.naming, d.log); err != nil {
		return err
	}
	if d.config.Etcd.used() {
		return d.openEtcd()
	}
	return d.openJournal()
}

// stateLog is what keeps the state.
func (d *Daemon) stateLog() persist.Log {
	if d.etcd != nil {
		return d.etcd
	}
	return d.journal
}

// openJournal opens the journal and makes sure that the directory is of this naming profile.
func (d *Daemon) openJournal() (err error) {
	d.journal, err = persist.Open(d.config.DataDir, persist.Options{
		FS:             d.fileSystem(),
		Transformer:    d.encryption.transformer,
		SegmentBytes:   int64(d.config.Journal.SegmentBytes),
		ArchiveBytes:   int64(d.config.Journal.ArchiveBytes),
		Sync:           persist.SyncPolicy(d.config.Journal.Sync),
		AcceptDataLoss: d.config.AcceptDataLoss,
		Logger:         d.log,
	})
	if err != nil {
		return withAdvice(err)
	}
	return checkNaming(d.journal, d.config.DataDir, d.naming)
}

// fileSystem is where the journal is: on the disk, or in a memory that forgets.
func (d *Daemon) fileSystem() vfs.FS {
	if d.config.Ephemeral {
		return vfs.NewVolatile()
	}
	return vfs.OS{}
}

// openStore opens the store on the journal, and puts the default roles and priority classes into it. The
// tuning is fitted to the memory limit before the store reads its objects, most of which stay in memory.
func (d *Daemon) openStore() error {
	allocators, err := d.newAllocators()
	if err != nil {
		return err
	}
	// A copy, so that the settings still say what the operator has set.
	tuning := d.config.tuning()
	fitTuning(&tuning)
	if d.etcd != nil {
		tuning.BatchSize = min(tuning.BatchSize, etcd.MaxBatch)
	}
	d.quotas = quota.New(d.naming, d.log, d.etcd != nil)
	d.newConversionWebhooks()
	d.store, err = actors.Open(actors.Options{
		Log: d.stateLog(), ObjectTime: d.now, Catalog: d.kinds, Naming: d.naming, Logger: d.log, Tuning: tuning, Allocators: allocators,
		Observer: d.quotas, Converter: d.conversionWebhooks.For, Fatal: d.fatal,
		Stale: d.encryption.stale(), Rewrites: d.rewrites(),
	})
	if err != nil {
		return withAdvice(err)
	}
	d.objects = policyobjects.NewReader(d.store, d.kinds, d.log)
	if d.memoryMonitor = d.newMemoryMonitor(tuning.HistoryBytes); d.memoryMonitor != nil {
		d.maintenance.run(d.memoryMonitor.run)
	}
	d.reconcileDefaultRoles(d.kinds)
	d.ensurePriorityClasses()
	return nil
}

// rewrites is Options.Rewrites of the store. What is in etcd is written anew by writes alone: no snapshot does that.
func (d *Daemon) rewrites() func() uint64 {
	if d.etcd != nil {
		return nil
	}
	return d.encryption.transformer.Rewrites
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
