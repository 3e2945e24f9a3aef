package controllers

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/apiserver"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
)

func (w *testStore) createMigration(group, resource string) {
	w.t.Helper()
	w.perform(`create 1 StorageVersionMigration {"metadata":{"name":"m"},"spec":{"resource":{"group":"` + group + `","resource":"` + resource + `"}}}`)
}

func (w *testStore) migrationSays(texts ...string) bool {
	return w.count("StorageVersionMigration", texts...) == 1
}

// runMigrator runs the controller on store, which is w or wraps it, until stop is called.
func (w *testStore) runMigrator(store Store) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var wait sync.WaitGroup
	wait.Go(func() { apiserver.NewStorageVersionMigrator(NewEnv(store, w.kinds, discardLogger)).Run(ctx) })
	return func() { cancel(); wait.Wait() }
}

func TestMigrationOfUnknownResource(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newTestStore(t)
		defer w.runMigrator(w)()
		w.createMigration("example.com", "widgets")
		time.Sleep(50 * time.Second)
		if !w.migrationSays(`"message":"The migration is running"`, `"status":"True","type":"Running"`) || w.migrationSays(`"type":"Failed"`) {
			t.Error("it has not begun, or failed too early")
		}
		time.Sleep(3 * time.Minute)
		if !w.migrationSays(`"status":"True","type":"Failed"`, `"message":"resource does not exist in discovery"`, `"reason":"MigrationCompleted","status":"False","type":"Running"`) {
			t.Error("it has not failed")
		}
	})
}

// TestMigrationOfNoObjects checks that resources that do not support list and writes cannot be
// migrated.
func TestMigrationOfNoObjects(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newTestStore(t)
		defer w.runMigrator(w)()
		w.createMigration("authentication.platform.io", "tokenreviews")
		synctest.Wait()
		if !w.migrationSays(`"status":"True","type":"Failed"`,
			`"message":"resource \"authentication.platform.io/v1, Resource=tokenreviews\" does not support discovery operations: [update patch list]"`) {
			t.Error("it has not failed")
		}
	})
}

// A refusingStore rejects writes for which refuse returns an error.
type refusingStore struct {
	*testStore
	refuse func(name string) error // called for each write except those of migrations
}

func (r *refusingStore) Mutate(ctx context.Context, m request.Mutation) (request.Result, error) {
	if m.Subresource != "status" {
		if err := r.refuse(m.Key.Name); err != nil {
			return request.Result{}, err
		}
	}
	return r.testStore.Mutate(ctx, m)
}

// TestRefusedMigration checks that transient errors are retried, and that conflicts and deleted
// objects are skipped. Any other error fails the migration, regardless of its message's length.
func TestRefusedMigration(t *testing.T) {
	t.Parallel()
	long := meta.NewBadRequest(strings.Repeat("ä", 20000))
	for name, c := range map[string]struct {
		errs []error // in order, for object b
		want []string
	}{
		"busy":     {[]error{meta.NewTooManyRequests("later", 1), meta.NewInternal("broken")}, []string{`"status":"True","type":"Succeeded"`, `"status":"False","type":"Running"`}},
		"conflict": {[]error{meta.NewConflict(meta.GroupResource{}, "b", "changed")}, []string{`"type":"Succeeded"`}},
		"gone":     {[]error{meta.NewNotFound(meta.GroupResource{}, "b")}, []string{`"type":"Succeeded"`}},
		"refused":  {[]error{long}, []string{`"status":"True","type":"Failed"`, `"status":"False","type":"Running"`, `1/3 not yet migrated. migration encountered unhandled error: `, `ää`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newTestStore(t)
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
				w.createMigration("", "configmaps")
				time.Sleep(time.Minute)
				if !w.migrationSays(c.want...) || len(c.errs) > 0 {
					k := w.kindNamed("StorageVersionMigration")
					o, _ := w.Get(context.Background(), request.Get{Kind: k, Key: keyOf(k, "m")})
					t.Errorf("%d errors left: %.500s", len(c.errs), o.JSON)
				}
			})
		})
	}
}

func TestOrderOfMigrations(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newTestStore(t)
		w.create("configmaps/default/a")
		var busy atomic.Bool
		busy.Store(true)
		defer w.runMigrator(&refusingStore{w, func(name string) error {
			if busy.Load() && name == "a" {
				return meta.NewTooManyRequests("later", 1)
			}
			return nil
		}})()
		for _, m := range [][2]string{{"second", "configmaps"}, {"first", "configmaps"}, {"third", "secrets"}} {
			w.perform(`create 1 StorageVersionMigration {"metadata":{"name":"` + m[0] + `"},"spec":{"resource":{"group":"","resource":"` + m[1] + `"}}}`)
			time.Sleep(time.Second)
		}
		if !w.migrationSays(`"name":"second"`, `"message":"The migration is running, 1/1 objects not yet migrated; transient error: later"`) ||
			!w.migrationSays(`"name":"first"`, `"status":{}`) || !w.migrationSays(`"name":"third"`, `"type":"Succeeded"`) {
			t.Error("not only the oldest migration of the resource runs")
		}
		busy.Store(false)
		time.Sleep(5 * time.Minute)
		if n := w.count("StorageVersionMigration", `"message":"Migration completed","reason":"StorageVersionMigrationSucceeded","status":"True","type":"Succeeded"`,
			`"message":"Migration completed","reason":"MigrationCompleted","status":"False","type":"Running"`); n != 3 {
			t.Errorf("%d migrations have succeeded", n)
		}
	})
}
