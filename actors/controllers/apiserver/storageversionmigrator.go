package apiserver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/convert"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// StorageVersionMigrator rewrites all objects of a resource for each StorageVersionMigration, so
// that they are stored in the current storage version. It then removes the other versions from
// status.storedVersions of the CRD. Migrations of a resource run one at a time, in order of
// creation.
//
// The migrator needs no other state to resume after a restart. The migration's status contains the
// version up to which objects must be rewritten, and rewritten objects have newer versions.
type StorageVersionMigrator struct {
	*reconcile.Controller[meta.GroupResource]
	migrations, definitions reconcile.Client
}

// NewStorageVersionMigrator returns a new StorageVersionMigrator. It does nothing if
// StorageVersionMigrations are not served.
func NewStorageVersionMigrator(env *reconcile.Env) *StorageVersionMigrator {
	c := &StorageVersionMigrator{
		migrations:  env.ClientOf(env.Kinds.Kind(env.Group("storagemigration"), "v1", "storageversionmigrations")),
		definitions: env.Client("apiextensions.platform.io", "v1", "CustomResourceDefinition"),
	}
	c.Controller = reconcile.New(env, "", c.sync, "cannot continue a storage version migration", "resource")
	c.Watch(c.migrations, func(e reconcile.Event) {
		if m, err := c.decode(e.Object); err == nil { // a deleted migration may have no JSON
			c.Add(m.of)
		}
	})
	return c
}

// Condition types of a migration.
const (
	migrationRunning   = "Running"
	migrationSucceeded = "Succeeded"
	migrationFailed    = "Failed"
)

// maxUnknown is how long a new migration waits for its resource's CRD.
const maxUnknown = time.Minute

// noteDelay writes a transient error to the status. It skips the write if the reported progress is
// unchanged, because each status write triggers another attempt.
func (c *StorageVersionMigrator) noteDelay(ctx context.Context, m *migration, progress string, err error) error {
	if strings.HasPrefix(tree.FindCondition(m.status, migrationRunning).String("message"), progress) {
		return nil
	}
	return c.write(ctx, m, condition(migrationRunning, "True", migrationRunningReason, fmt.Sprintf("%s; transient error: %v", progress, err)))
}

type migration struct {
	object  *meta.Object
	status  tree.Tree
	of      meta.GroupResource
	created time.Time
	running bool
}

func (c *StorageVersionMigrator) decode(o *meta.Object) (*migration, error) {
	object, err := c.migrations.Decode(o)
	if err != nil {
		return nil, err
	}
	of, status := object.Object("spec", "resource"), object.EnsureObject("status")
	return &migration{
		object: o, status: status, of: meta.GroupResource{Group: of.String("group"), Resource: of.String("resource")},
		created: reconcile.Time(object.Object("metadata"), "creationTimestamp"), running: tree.IsConditionTrue(status, migrationRunning),
	}, nil
}

// next returns a resource's running migration. If none is running, it returns the oldest unfinished
// one, or nil.
func (c *StorageVersionMigrator) next(ctx context.Context, of meta.GroupResource) (*migration, error) {
	list, err := c.migrations.List(ctx, request.List{})
	if err != nil {
		return nil, err
	}
	var next *migration
	for _, o := range list { // sorted by name
		m, err := c.decode(o)
		switch {
		case err != nil:
			return nil, err
		case m.of != of || tree.IsConditionTrue(m.status, migrationSucceeded) || tree.IsConditionTrue(m.status, migrationFailed):
		case m.running:
			return m, nil
		case next == nil || m.created.Before(next.created):
			next = m
		}
	}
	return next, nil
}

// sync performs one step of a migration. The resulting status write triggers the next step.
func (c *StorageVersionMigrator) sync(ctx context.Context, of meta.GroupResource) error {
	m, err := c.next(ctx, of)
	if err != nil || m == nil {
		return err
	}
	if !m.running {
		return c.start(ctx, m)
	}
	k, err := c.migratable(of)
	if err != nil {
		if errors.Is(err, errUnknownResource) && time.Since(m.created) < maxUnknown {
			return err
		}
		return c.finish(ctx, m, migrationFailed, err.Error())
	}
	upTo, _ := strconv.ParseUint(m.status.String("resourceVersion"), 10, 64)
	switch left, total, err := c.rewriteAll(ctx, k, upTo); {
	case err == nil:
		return c.finish(ctx, m, migrationSucceeded, migrationCompleted)
	case isRetriable(err):
		return errors.Join(err, c.noteDelay(ctx, m, fmt.Sprintf("%s, %d/%d objects not yet migrated", migrationRunningMessage, left, total), err))
	default:
		return c.finish(ctx, m, migrationFailed, fmt.Sprintf("%d/%d not yet migrated. migration encountered unhandled error: %v", left, total, err))
	}
}

var errUnknownResource = errors.New("resource does not exist in discovery")

func (c *StorageVersionMigrator) migratable(of meta.GroupResource) (*schema.Kind, error) {
	for _, k := range c.Kinds.Kinds() {
		if k.Group != of.Group || k.Resource != of.Resource {
			continue
		}
		for _, verb := range []string{"update", "patch", "list"} {
			if !slices.Contains(k.Verbs, verb) {
				return nil, fmt.Errorf("resource %q does not support discovery operations: [update patch list]", k.Group+"/"+k.Version+", Resource="+k.Resource)
			}
		}
		return k.Stored, nil
	}
	return nil, errUnknownResource
}

// rewriteAll rewrites the objects last written at version upTo or earlier. It also rewrites newer
// objects in a former storage version, which may stem from requests that started before the kind
// changed. It returns the number of objects left to rewrite and the total number.
func (c *StorageVersionMigrator) rewriteAll(ctx context.Context, k *schema.Kind, upTo uint64) (left, total int, err error) {
	list, err := c.ClientOf(k).List(ctx, request.List{})
	if err != nil {
		return 0, 0, err
	}
	var stale []*meta.Object
	for _, o := range list {
		if o.Version <= upTo || !convert.IsWrittenAs(k, o) {
			stale = append(stale, o)
		}
	}
	var done atomic.Int64
	// Use chunks, so that an error ends the loop early and memory of replaced objects is freed.
	for part := range slices.Chunk(stale, 10*reconcile.MaxWorkers) {
		if err := reconcile.ForEachParallel(part, func(o *meta.Object) error {
			err := c.rewrite(ctx, k, o)
			if err == nil {
				done.Add(1)
			}
			return err
		}); err != nil {
			return len(stale) - int(done.Load()), len(list), firstFault(err)
		}
		clear(part)
	}
	return 0, len(list), nil
}

// rewrite rewrites an object with an empty apply. It skips an object that was changed, deleted or
// replaced, because it needs no migration.
func (c *StorageVersionMigrator) rewrite(ctx context.Context, k *schema.Kind, o *meta.Object) error {
	return reconcile.Except(c.ClientOf(k).As("storage-version-migrator-controller").Apply(ctx, o.Key, "", tree.Tree{
		"metadata": tree.Tree{"uid": o.Meta.UID, "resourceVersion": strconv.FormatUint(o.Version, 10)},
	}), reconcile.IsConflict, reconcile.IsNotFound)
}

func firstFault(err error) error {
	all, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return err
	}
	faults := all.Unwrap()
	if i := slices.IndexFunc(faults, func(err error) bool { return !isRetriable(err) }); i >= 0 {
		return faults[i]
	}
	return faults[0]
}

func isRetriable(err error) bool {
	var status *meta.Status
	return !errors.As(err, &status) || status.Code == 429 || status.Code >= 500
}

// start marks the CRD before it records the version up to which objects must be rewritten.
func (c *StorageVersionMigrator) start(ctx context.Context, m *migration) error {
	if err := c.markDefinition(ctx, m, "True", migrationRunningReason, "Migration "+m.object.Key.Name+" is running"); err != nil {
		return err
	}
	list, err := c.Store.List(ctx, request.List{Kind: c.migrations.Kind, Limit: 1})
	if err != nil {
		return err
	}
	m.status["resourceVersion"] = strconv.FormatUint(list.Version, 10)
	return c.write(ctx, m, condition(migrationRunning, "True", migrationRunningReason, migrationRunningMessage))
}

func (c *StorageVersionMigrator) finish(ctx context.Context, m *migration, outcome, message string) error {
	if err := c.markDefinition(ctx, m, "False", "Migration"+outcome, "The migration has "+strings.ToLower(outcome)); err != nil {
		return err
	}
	return c.write(ctx, m,
		condition(migrationRunning, "False", "MigrationCompleted", migrationCompleted),
		condition(outcome, "True", "StorageVersionMigration"+outcome, message))
}

// markDefinition sets the StorageMigrating condition of the resource's CRD, if any. After a
// successful migration, storedVersions contains only the storage version, unless the CRD has
// changed since the migration started.
func (c *StorageVersionMigrator) markDefinition(ctx context.Context, m *migration, status, reason, message string) error {
	const kind = "StorageMigrating"
	o, definition, err := c.definitions.ReadNamed(ctx, "", m.of.Resource+"."+m.of.Group)
	if err != nil || o == nil {
		return err
	}
	was, change := definition.Object("status"), tree.Tree{}
	started, _ := tree.FindCondition(was, kind).Int("observedGeneration")
	switch {
	case reason != "Migration"+migrationSucceeded:
	case started != o.Meta.Generation:
		message += " but the stored versions have not been updated due to a generation mismatch"
	default:
		message += " and the stored versions have been updated"
		versions := definition.Object("spec").Objects("versions")
		stored := slices.IndexFunc(versions, func(v tree.Tree) bool { return v.Bool("storage") })
		change["storedVersions"] = []any{versions[stored]["name"]}
	}
	now := condition(kind, status, reason, message)
	now["observedGeneration"] = o.Meta.Generation
	change["conditions"], _ = reconcile.WithCondition(was, now)
	return c.definitions.PatchStatus(ctx, o, change)
}

const (
	migrationRunningReason  = "MigrationRunning"
	migrationRunningMessage = "The migration is running"
	migrationCompleted      = "Migration completed"
	// maxMigrationMessage is the maximum length of a condition's message in bytes.
	maxMigrationMessage = 32 << 10
)

func condition(kind, status, reason, message string) tree.Tree {
	return tree.Tree{"type": kind, "status": status, "reason": reason, "message": strings.ToValidUTF8(message[:min(len(message), maxMigrationMessage)], "")}
}

func (c *StorageVersionMigrator) write(ctx context.Context, m *migration, all ...tree.Tree) error {
	for _, one := range all {
		m.status["conditions"], _ = reconcile.WithCondition(m.status, one)
	}
	return c.migrations.PatchStatus(ctx, m.object, m.status)
}
