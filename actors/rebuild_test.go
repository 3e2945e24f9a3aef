package actors_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/persist"
)

// TestRebuildOfAnotherHistory checks that a rebuild replaces an object that has the same version
// but different content, as after a restore.
func TestRebuildOfAnotherHistory(t *testing.T) {
	s := openShared(t, newSharedKeys().open())
	defer s.close()
	created := must.Get(s.create("c", "lost"))(t)
	version := persist.Revision(created.Object.Version)
	w := rawConfigMap("c", "restored")
	item := persist.Item{Key: w.Key, Value: w.ValueAt(version), Revision: version}
	upTo := version + 1<<positionBits
	must.Succeed(t, s.log.rebuild(upTo, func(yield func(persist.Item) error) error { return yield(item) }))
	got, err := s.Get(context.Background(), request.Get{Kind: s.kind("configmaps"), Key: meta.Key{Namespace: "default", Name: "c"}, Version: uint64(upTo)})
	if err != nil || !slices.Equal(got.JSON, item.Value) || strings.Contains(string(got.JSON), "lost") {
		t.Errorf("%s, %v\nwant %s", got.JSON, err, item.Value)
	}
}
