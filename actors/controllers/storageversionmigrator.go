package controllers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/condition"
	"github.com/troupe-api/troupe/kinds/convert"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// StorageVersionMigrator writes all objects of a resource again, for each StorageVersionMigration, so that every one of
// them is in the version in which the resource is stored now.
//
// Where it is stands in the status of the migration and in the objects themselves: what has been written again has a newer
// version than that in the status. So after a restart it goes on with what is left.
type StorageVersionMigrator struct {
	*reconcile.Controller[string]
	migrations reconcile.Client
}

// NewStorageVersionMigrator returns the controller. It does nothing where StorageVersionMigrations are not served.
func NewStorageVersionMigrator(env *Env) *StorageVersionMigrator {
	c := &StorageVersionMigrator{migrations: env.ClientOf(env.Kinds.Kind(env.Group("storagemigration"), "v1beta1", "storageversionmigrations"))}
	c.Controller = reconcile.New(env, "", c.sync, "a storage version migration waits", "migration")
	c.Watch(c.migrations, reconcile.Updates(func(o *meta.Object) { c.Add(o.Key.Name) }))
	return c
}

// The conditions of a migration.
const (
	migrationRunning   = "Running"
	migrationSucceeded = "Succeeded"
	migrationFailed    = "Failed"
)

// maxUnknown is how long after its creation a migration may wait for the definition of its resource.
const maxUnknown = time.Minute

// sync takes a migration one step further. The write of its status brings it back for the next one.
func (c *StorageVersionMigrator) sync(ctx context.Context, name string) error {
	o, object, err := c.migrations.ReadNamed(ctx, "", name)
	if err != nil || o == nil {
		return err
	}
	m := &migration{object: o, status: object.Object("status"), of: object.Object("spec", "resource")}
	if condition.IsTrue(m.status, migrationSucceeded) || condition.IsTrue(m.status, migrationFailed) {
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
	if m.status.String("resourceVersion") == "" || !condition.IsTrue(m.status, migrationRunning) {
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

// A migration is a StorageVersionMigration as it was read.
type migration struct {
	object *meta.Object
	status tree.Tree
	of     tree.Tree // the resource
}

var errUnknownResource = errors.New("resource does not exist in discovery")

// migratable is the kind in which the objects of a resource are stored, if some version of it is served that clients
// could rewrite them through.
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

// rewriteAll writes again what was stored up to a version, and what is stored in a former version of the kind since, by
// a request that was under way when the definition changed.
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
	// In parts, so that a fault ends it soon and what has been replaced is not kept in memory to the end.
	for part := range slices.Chunk(left, 10*reconcile.MaxWorkers) {
		if err := reconcile.ForEachParallel(part, func(o *meta.Object) error { return c.rewrite(ctx, k, o) }); err != nil {
			return firstFault(err)
		}
		clear(part)
	}
	return nil
}

// rewrite writes an object again as it is, by an apply of nothing. An object that has changed, that has gone or that is
// another one by now needs no migration.
func (c *StorageVersionMigrator) rewrite(ctx context.Context, k *schema.Kind, o *meta.Object) error {
	return reconcile.Except(c.ClientOf(k).As("storage-version-migrator-controller").Apply(ctx, o.Key, "", tree.Tree{
		"metadata": tree.Tree{"uid": o.Meta.UID, "resourceVersion": strconv.FormatUint(o.Version, 10)},
	}), reconcile.IsConflict, reconcile.IsNotFound)
}

// firstFault is one of several errors: the first that a repetition does not mend, or else any.
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

// isRetriable tells whether an error may pass by itself: that somebody who is asked does not answer, or that the server ends.
func isRetriable(err error) bool {
	var status *meta.Status
	return !errors.As(err, &status) || status.Code == 429 || status.Code >= 500
}

func (c *StorageVersionMigrator) fail(ctx context.Context, m *migration, message string) error {
	return c.write(ctx, m, migrationFailed, "StorageVersionMigrationFailed", message)
}

// maxMigrationMessage is how long the message of a condition may be, in bytes.
const maxMigrationMessage = 32 << 10

// write makes one of the conditions True, unless the migration has changed since it was read. With the first of them the
// status says up to which version objects are to be written again.
func (c *StorageVersionMigrator) write(ctx context.Context, m *migration, kind, reason, message string) error {
	change := tree.Tree{}
	if m.status.String("resourceVersion") == "" {
		list, err := c.Store.List(ctx, request.List{Kind: c.migrations.Kind, Limit: 1})
		if err != nil {
			return err
		}
		change["resourceVersion"] = strconv.FormatUint(list.Version, 10)
	}
	if is := condition.Find(m.status, migrationRunning); is != nil && kind != migrationRunning {
		is["status"], is["lastTransitionTime"] = "False", reconcile.Timestamp()
	}
	change["conditions"] = append(reconcile.RemoveCondition(m.status.List("conditions"), kind), tree.Tree{
		"type": kind, "status": "True", "reason": reason, "lastTransitionTime": reconcile.Timestamp(),
		"message": strings.ToValidUTF8(message[:min(len(message), maxMigrationMessage)], ""),
	})
	return c.migrations.PatchStatus(ctx, m.object, change)
}
