package controllers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/catalog"
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
	store  Store
	kinds  *catalog.Catalog
	kind   *schema.Kind // nil while migrations are not served
	logger *slog.Logger
	queue  *reconcile.Workqueue[string] // names of migrations
}

// NewStorageVersionMigrator returns the controller. It does nothing where StorageVersionMigrations are not served.
func NewStorageVersionMigrator(store Store, kinds *catalog.Catalog, logger *slog.Logger) *StorageVersionMigrator {
	group := kinds.Naming().Group("storagemigration")
	return &StorageVersionMigrator{
		store: store, kinds: kinds, kind: kinds.Kind(group, "v1beta1", "storageversionmigrations"), logger: logger,
		queue: reconcile.NewWorkqueue[string](),
	}
}

// Run runs the controller until the context ends.
func (c *StorageVersionMigrator) Run(ctx context.Context) {
	if c.kind == nil {
		return
	}
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() {
		reconcile.RunInformer(ctx, c.store, c.kind, reconcile.UpdateHandlerFunc(func(o *meta.Object) { c.queue.Add(o.Key.Name) }))
	})
	c.queue.Run(ctx, c.sync, func(name string, err error) {
		c.logger.Warn("a storage version migration waits", "migration", name, "error", err)
	})
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
	o, object, err := reconcile.Read(ctx, c.store, c.kind, meta.Key{GroupResource: c.kind.Storage, Name: name})
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
	for _, k := range c.kinds.Kinds() {
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
	list, err := c.store.List(ctx, request.List{Kind: k.Unconverted()})
	if err != nil {
		return err
	}
	var left []*meta.Object
	for _, o := range list.Items {
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
	_, err := c.store.Mutate(ctx, request.Mutation{
		Kind: k, Key: o.Key, FieldManager: "storage-version-migrator-controller",
		Change: request.Apply{Config: tree.Tree{"apiVersion": k.APIVersion(), "kind": k.Kind, "metadata": tree.Tree{
			"name": o.Key.Name, "uid": o.Meta.UID, "resourceVersion": strconv.FormatUint(o.Version, 10),
		}}},
	})
	if reconcile.IsConflict(err) || reconcile.IsNotFound(err) {
		return nil
	}
	return err
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
		list, err := c.store.List(ctx, request.List{Kind: c.kind, Limit: 1})
		if err != nil {
			return err
		}
		change["resourceVersion"] = strconv.FormatUint(list.Version, 10)
	}
	conditions := []any{}
	for _, is := range m.status.Objects("conditions") {
		if is.String("type") == migrationRunning && kind != migrationRunning {
			is["status"], is["lastTransitionTime"] = "False", timestamp()
		}
		if is.String("type") != kind {
			conditions = append(conditions, is)
		}
	}
	change["conditions"] = append(conditions, tree.Tree{
		"type": kind, "status": "True", "reason": reason, "lastTransitionTime": timestamp(),
		"message": strings.ToValidUTF8(message[:min(len(message), maxMigrationMessage)], ""),
	})
	return reconcile.PatchIfUnchanged(ctx, c.store, c.kind, m.object, "status", tree.Tree{"status": change})
}
