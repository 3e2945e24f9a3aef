package api_test

import (
	"sync"
	"testing"

	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

var catalogs sync.Map

// KindByGVK returns a kind by group, in the names of the profile, version and kind name. All tests
// share one catalog per profile, because compiling one is slow.
func KindByGVK(t testing.TB, n *meta.Naming, group, version, kind string) *schema.Kind {
	t.Helper()
	c, ok := catalogs.Load(n)
	if !ok {
		c, _ = catalogs.LoadOrStore(n, NewCatalog(t, n))
	}
	k := c.(*catalog.Catalog).ByGVK(meta.GroupVersionKind{Group: group, Version: version, Kind: kind})
	if k == nil {
		t.Fatalf("no kind %s in %s/%s", kind, group, version)
	}
	return k
}

// NewCatalog compiles a private catalog, for tests that change it.
func NewCatalog(t testing.TB, n *meta.Naming) *catalog.Catalog {
	t.Helper()
	c, err := catalog.New(n)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// CoreKind returns a kind of the core group under a profile.
func CoreKind(t *testing.T, n *meta.Naming, kind string) *schema.Kind {
	t.Helper()
	return KindByGVK(t, n, "", "v1", kind)
}

// KindInGroup returns a v1 kind under a profile. The group is in platform form.
func KindInGroup(t *testing.T, n *meta.Naming, group, kind string) *schema.Kind {
	t.Helper()
	return KindByGVK(t, n, n.Translate(group), "v1", kind)
}

// DeviceGroup is the group of devices.
const DeviceGroup = "resource.platform.io"

// StorageGroup is the group of storage classes.
const StorageGroup = "storage.platform.io"
