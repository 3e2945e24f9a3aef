package api_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

var catalogs sync.Map

// KindByGVK returns the kind with the given group, version and name in a naming profile. Compiling
// a catalog is slow, so all tests share one catalog per profile.
func KindByGVK(t testing.TB, n *meta.Naming, group, version, kind string) *schema.Kind {
	t.Helper()
	return kindWithFeatures(t, n, "", group, version, kind)
}

type catalogKey struct {
	naming   *meta.Naming
	features string
}

// kindWithFeatures is KindByGVK with a comma-separated list of enabled features: "" enables all,
// and "none" disables all.
func kindWithFeatures(t testing.TB, n *meta.Naming, features, group, version, kind string) *schema.Kind {
	t.Helper()
	key := catalogKey{n, features}
	c, ok := catalogs.Load(key)
	if !ok {
		made, err := catalog.NewWithConfig(n, nil, func(gate string) bool {
			return features == "" || slices.Contains(strings.Split(features, ","), gate)
		})
		if err != nil {
			t.Fatal(err)
		}
		c, _ = catalogs.LoadOrStore(key, made)
	}
	k := c.(*catalog.Catalog).ByGVK(meta.GroupVersionKind{Group: group, Version: version, Kind: kind})
	if k == nil {
		t.Fatalf("no kind %s in %s/%s", kind, group, version)
	}
	return k
}

// NewCatalog compiles a separate catalog, with all features, for tests that change it.
func NewCatalog(t testing.TB, n *meta.Naming) *catalog.Catalog {
	t.Helper()
	c, err := catalog.NewWithConfig(n, nil, func(string) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func Parse(t testing.TB, text string) tree.Tree {
	t.Helper()
	v, _, err := codec.DecodeAny([]byte(text))
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v.(tree.Tree)
}

// Lines formats errors as "path: message".
func Lines(causes []meta.Cause) []string {
	out := make([]string, len(causes))
	for i, c := range causes {
		out[i] = c.Field + ": " + c.Message
	}
	return out
}

// Named sets an object's name, namespace and UID if they are missing.
func Named(k *schema.Kind, obj tree.Tree) tree.Tree {
	m := obj.EnsureObject("metadata")
	defaults := tree.Tree{"name": "x", "uid": "u-1"}
	if k.Namespaced {
		defaults["namespace"] = "ns"
	}
	for name, value := range defaults {
		if m[name] == nil {
			m[name] = value
		}
	}
	return obj
}
