package apiserver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/convert"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// StorageVersionMigrator rewrites all objects of a resource for each StorageVersionMigration, so
// that they are stored in the current storage version.
//
// The migrator needs no record of its own to resume after a restart. The status of the migration
// holds the version up to which objects must be rewritten, and a rewritten object has a newer
// version.
type StorageVersionMigrator struct {
	*reconcile.Controller[string]
	migrations reconcile.Client
}

// NewStorageVersionMigrator returns a new StorageVersionMigrator. It does nothing if
// StorageVersionMigrations are not served.
func NewStorageVersionMigrator(env *reconcile.Env) *StorageVersionMigrator {
	c := &StorageVersionMigrator{migrations: env.ClientOf(env.Kinds.Kind(env.Group("storagemigration"), "v1beta1", "storageversionmigrations"))}
	c.Controller = reconcile.New(env, "", c.sync, "cannot continue a storage version migration", "migration")
	c.Watch(c.migrations, reconcile.Updates(func(o *meta.Object) { c.Add(o.Key.Name) }))
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

// sync performs one step of a migration. Its status write triggers the next step.
func (c *StorageVersionMigrator) sync(ctx context.Context, name string) error {
	o, object, err := c.migrations.ReadNamed(ctx, "", name)
	if err != nil || o == nil {
		return err
	}
	m := &migration{object: o, status: object.Object("status"), of: object.Object("spec", "resource")}
	if tree.IsConditionTrue(m.status, migrationSucceeded) || tree.IsConditionTrue(m.status, migrationFailed) {
		return nil
	}
	k, err := c.migratable(m.of.String("group"), m.of.String("resource"))
	if err != nil {
		created, _ := time.Parse(time.RFC3339, object.Object("metadata").String("creationTimestamp"))
		if errors.Is(err, errUnknownResource) && time.Since(created) < maxUnknown {
			return err
		}
		return c.fail(ctx, m, err.Error())
	}
	if m.status.String("resourceVersion") == "" || !tree.IsConditionTrue(m.status, migrationRunning) {
		return c.write(ctx, m, migrationRunning, "StorageVersionMigrationInProgress", "")
	}
	upTo, err := strconv.ParseUint(m.status.String("resourceVersion"), 10, 64)
	if err != nil {
		return c.fail(ctx, m, err.Error())
	}
	switch err := c.rewriteAll(ctx, k, upTo); {
	case err == nil:
		return c.write(ctx, m, migrationSucceeded, "StorageVersionMigrationSucceeded", "")
	case isRetriable(err):
		return err
	default:
		return c.fail(ctx, m, "migration encountered unhandled error: "+err.Error())
	}
}

type migration struct {
	object *meta.Object
	status tree.Tree
	of     tree.Tree // the resource
}

var errUnknownResource = errors.New("resource does not exist in discovery")

func (c *StorageVersionMigrator) migratable(group, resource string) (*schema.Kind, error) {
	for _, k := range c.Kinds.Kinds() {
		if k.Group != group || k.Resource != resource {
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

// rewriteAll rewrites the objects that were last written at version upTo or earlier. It also
// rewrites newer objects in a former storage version, because requests that started before the kind
// changed may have written them.
func (c *StorageVersionMigrator) rewriteAll(ctx context.Context, k *schema.Kind, upTo uint64) error {
	list, err := c.ClientOf(k).List(ctx, request.List{})
	if err != nil {
		return err
	}
	var left []*meta.Object
	for _, o := range list {
		if o.Version <= upTo || !convert.IsWrittenAs(k, o) {
			left = append(left, o)
		}
	}
	// Use chunks, so that an error ends the loop early and memory of replaced objects is freed.
	for part := range slices.Chunk(left, 10*reconcile.MaxWorkers) {
		if err := reconcile.ForEachParallel(part, func(o *meta.Object) error { return c.rewrite(ctx, k, o) }); err != nil {
			return firstFault(err)
		}
		clear(part)
	}
	return nil
}

// rewrite rewrites an object with an empty apply. An object that has been changed, deleted or
// replaced needs no migration.
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

func (c *StorageVersionMigrator) fail(ctx context.Context, m *migration, message string) error {
	return c.write(ctx, m, migrationFailed, "StorageVersionMigrationFailed", message)
}

// maxMigrationMessage is the maximum length of a condition's message in bytes.
const maxMigrationMessage = 32 << 10

// write sets one of the conditions to True, unless the migration has changed since it was read. The
// first write also sets the version up to which objects must be rewritten.
func (c *StorageVersionMigrator) write(ctx context.Context, m *migration, kind, reason, message string) error {
	change := tree.Tree{}
	if m.status.String("resourceVersion") == "" {
		list, err := c.Store.List(ctx, request.List{Kind: c.migrations.Kind, Limit: 1})
		if err != nil {
			return err
		}
		change["resourceVersion"] = strconv.FormatUint(list.Version, 10)
	}
	if is := tree.FindCondition(m.status, migrationRunning); is != nil && kind != migrationRunning {
		is["status"], is["lastTransitionTime"] = "False", reconcile.Timestamp()
	}
	change["conditions"] = append(reconcile.RemoveCondition(m.status.List("conditions"), kind), tree.Tree{
		"type": kind, "status": "True", "reason": reason, "lastTransitionTime": reconcile.Timestamp(),
		"message": strings.ToValidUTF8(message[:min(len(message), maxMigrationMessage)], ""),
	})
	return c.migrations.PatchStatus(ctx, m.object, change)
}
