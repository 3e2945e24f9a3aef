package policyobjects

import (
	"log/slog"
	"testing"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
)

// TestDecoded checks that readers share the decoded form of one JSON in memory, and only of that.
func TestDecoded(t *testing.T) {
	c := newCluster(t, meta.Platform)
	role := c.kinds.Kind("rbac.authorization.platform.io", "v1", "clusterroles")
	stored := func(text string) *meta.Object {
		return &meta.Object{Version: 1, JSON: codec.EncodeJSON(role, named(text)).WithVersion(1)}
	}
	first, other := stored("a"), stored("b")
	copied := &meta.Object{Version: 1, JSON: first.JSON}
	decoded := NewDecoded()
	one := NewReader(nil, c.kinds, slog.New(slog.DiscardHandler), decoded)
	two := NewReader(nil, c.kinds, slog.New(slog.DiscardHandler), decoded)
	object := one.decodeShared(role, first)
	if two.decodeShared(role, copied) != object {
		t.Error("the decoded object is not shared")
	}
	if name := two.decodeShared(role, other).Tree.Name(); name != "b" {
		t.Errorf("another object is decoded as %s", name)
	}
	if c.reader.decodeShared(role, first) == object {
		t.Error("a reader without a cache returns a cached object")
	}
}
