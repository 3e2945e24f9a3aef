package catalog_test

import (
	"sync"
	"testing"

	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// catalogs holds a catalog for each profile. Tests share them, since they only read.
var catalogs sync.Map

// KindByGVK returns the kind of a group, as the profile spells it, a version and a kind name. Catalogs are
// shared by all tests of a process, since compiling one takes long and nothing changes it.
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

// NewCatalog compiles a catalog of its own. It is for tests that change the catalog.
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

// KindInGroup returns a v1 kind of a group, which is in platform form, under a profile.
func KindInGroup(t *testing.T, n *meta.Naming, group, kind string) *schema.Kind {
	t.Helper()
	return KindByGVK(t, n, n.Translate(group), "v1", kind)
}

// DeviceGroup is the group of devices.
const DeviceGroup = "resource.platform.io"

// StorageGroup is the group of storage classes.
const StorageGroup = "storage.platform.io"
