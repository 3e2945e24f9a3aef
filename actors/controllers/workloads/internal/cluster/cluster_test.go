package cluster

import (
	"context"
	"log/slog"
	"testing"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A scaledStore holds one Deployment, whose scale was written at version 7.
type scaledStore struct {
	reconcile.Store
	key meta.Key
}

func (s scaledStore) Get(context.Context, request.Get) (*meta.Object, error) {
	return &meta.Object{Key: s.key, Version: 7, Meta: meta.ObjectMeta{UID: "u"}, JSON: []byte(`{"kind":"Deployment","apiVersion":"apps/v1","spec":{"selector":{"matchLabels":{"a":"b"}}}}`)}, nil
}

func (s scaledStore) Mutate(context.Context, request.Mutation) (request.Result, error) {
	return request.Result{Object: &meta.Object{Key: s.key, Version: 7, Meta: meta.ObjectMeta{UID: "u"}, JSON: []byte(`{"kind":"Scale","apiVersion":"autoscaling/v1","spec":{"replicas":3}}`)}}, nil
}

// TestWrittenScale checks that after a write of the scale subresource, the cache holds the
// Deployment and not the Scale.
func TestWrittenScale(t *testing.T) {
	kinds := must.Get(catalog.New(meta.Kubernetes))(t)
	key := meta.Key{GroupResource: kinds.ByGVK(meta.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}).Storage, Namespace: "n", Name: "web"}
	c := New(reconcile.NewEnv(scaledStore{key: key}, kinds, slog.New(slog.DiscardHandler)), nil)
	deployments := c.Items("apps", "v1", "Deployment")
	answer, err := deployments.PatchExisting(t.Context(), &meta.Object{Key: key, Meta: meta.ObjectMeta{UID: "u"}}, "scale", tree.Tree{"spec": tree.Tree{"replicas": 3}})
	if err != nil || answer.Version != 7 {
		t.Fatal(answer, err)
	}
	item := deployments.Get(key)
	if item == nil || item.Version != 7 || !item.Selects(meta.Labels{{Key: "a", Value: "b"}}) {
		t.Errorf("the cache holds %v", item)
	}
}

func TestScaled(t *testing.T) {
	for _, c := range []struct {
		v     any
		total int64
		up    bool
		want  int64
	}{{int64(3), 10, true, 3}, {"25%", 10, true, 3}, {"25%", 10, false, 2}, {"0%", 10, true, 0}, {"100%", 7, false, 7}, {"x", 10, true, 0}, {nil, 10, true, 0}} {
		if got := Scaled(c.v, c.total, c.up); got != c.want {
			t.Errorf("%v of %d: %d, want %d", c.v, c.total, got, c.want)
		}
	}
}
