package controllers

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/persist/vfs"
)

const migrationGroup = "storagemigration.platform.io"

// createMigration asks for the objects of a resource to be written again.
func (w *testStore) createMigration(name, group, resource string) {
	w.t.Helper()
	w.createOther(migrationGroup, "v1beta1", "StorageVersionMigration", name, tree.Tree{
		"spec": tree.Tree{"resource": tree.Tree{"group": group, "resource": resource}},
	})
}

// saysOfMigration is says of a StorageVersionMigration.
func (w *testStore) saysOfMigration(name string, texts ...string) bool {
	return w.says(migrationGroup, "v1beta1", "StorageVersionMigration", name, texts...)
}

// runMigrator runs the controller on store, which is w or wraps it, until stop.
func (w *testStore) runMigrator(store Store) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var wait sync.WaitGroup
	wait.Go(func() { NewStorageVersionMigrator(NewEnv(store, w.kinds, discardLogger)).Run(ctx) })
	return func() { cancel(); wait.Wait() }
}

// TestMigrationOfUnknownResource: a migration waits a minute for the definition of its resource, and then fails.
func TestMigrationOfUnknownResource(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := openTestStore(t, vfs.NewMem())
		defer w.close()
		defer w.runMigrator(w)()
		w.createMigration("m", "example.com", "widgets")
		time.Sleep(50 * time.Second)
		if !w.saysOfMigration("m", `"status":{}`) {
			t.Error("it has begun, or failed, too early")
		}
		time.Sleep(3 * time.Minute)
		if !w.saysOfMigration("m", `"type":"Failed","status":"True"`, `"message":"resource does not exist in discovery"`) {
			t.Error("it has not failed")
		}
	})
}

// TestMigrationOfNoObjects: what clients cannot list and write cannot be migrated.
func TestMigrationOfNoObjects(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := openTestStore(t, vfs.NewMem())
		defer w.close()
		defer w.runMigrator(w)()
		w.createMigration("m", "authentication.platform.io", "tokenreviews")
		synctest.Wait()
		if !w.saysOfMigration("m", `"type":"Failed","status":"True"`,
			`"message":"resource \"authentication.platform.io/v1, Resource=tokenreviews\" does not support discovery operations: [update patch list]"`) {
			t.Error("it has not failed")
		}
	})
}

// A refusingStore refuses to write some objects.
type refusingStore struct {
	*testStore
	refuse func(name string) error // asked for each write but those of migrations
}

func (r *refusingStore) Mutate(ctx context.Context, m request.Mutation) (request.Result, error) {
	if m.Subresource != "status" {
		if err := r.refuse(m.Key.Name); err != nil {
			return request.Result{}, err
		}
	}
	return r.testStore.Mutate(ctx, m)
}

// TestRefusedMigration: what may pass is tried again, conflicts and objects that have gone are none of a migration's
// business, and any other error ends it, however long it is.
func TestRefusedMigration(t *testing.T) {
	t.Parallel()
	long := meta.NewBadRequest(strings.Repeat("ä", 20000))
	for name, c := range map[string]struct {
		errs []error // one after the other, of the object b
		want []string
	}{
		"busy":     {[]error{meta.NewTooManyRequests("later", 1), meta.NewInternal("broken")}, []string{`"type":"Succeeded","status":"True"`, `"type":"Running","status":"False"`}},
		"conflict": {[]error{meta.NewConflict(meta.GroupResource{}, "b", "changed")}, []string{`"type":"Succeeded"`}},
		"gone":     {[]error{meta.NewNotFound(meta.GroupResource{}, "b")}, []string{`"type":"Succeeded"`}},
		"refused":  {[]error{long}, []string{`"type":"Failed","status":"True"`, `"type":"Running","status":"False"`, `migration encountered unhandled error: `, `ää`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := openTestStore(t, vfs.NewMem())
				defer w.close()
				for _, name := range []string{"a", "b", "c"} {
					w.create("configmaps/default/" + name)
				}
				var mu sync.Mutex
				defer w.runMigrator(&refusingStore{w, func(name string) (err error) {
					mu.Lock()
					defer mu.Unlock()
					if name == "b" && len(c.errs) > 0 {
						err, c.errs = c.errs[0], c.errs[1:]
					}
					return err
				}})()
				w.createMigration("m", "", "configmaps")
				time.Sleep(time.Minute)
				if !w.saysOfMigration("m", c.want...) || len(c.errs) > 0 {
					k, key := w.other(migrationGroup, "v1beta1", "StorageVersionMigration", "m")
					o, _ := w.Get(context.Background(), request.Get{Kind: k, Key: key})
					t.Errorf("%d errors left: %.500s", len(c.errs), o.JSON)
				}
			})
		})
	}
}
