package cluster

import (
	"context"
	"log/slog"
	"testing"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A scaledStore holds one Deployment, whose scale was written in version 7.
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

// TestWrittenScale: after the scale of an object was written the cache holds the object, and not the Scale that was answered.
func TestWrittenScale(t *testing.T) {
	kinds, err := catalog.New(meta.Kubernetes)
	if err != nil {
		t.Fatal(err)
	}
	key := meta.Key{GroupResource: kinds.ByGVK(meta.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}).Storage, Namespace: "n", Name: "web"}
	c := New(scaledStore{key: key}, kinds, nil, slog.New(slog.DiscardHandler))
	deployments := c.Items("apps", "v1", "Deployment")
	answer, err := c.Patch(t.Context(), deployments.Kind, &Head{Key: key, UID: "u"}, 0, "scale", tree.Tree{"spec": tree.Tree{"replicas": 3}})
	if err != nil || answer.Version != 7 {
		t.Fatal(answer, err)
	}
	item := deployments.Get(key)
	if item == nil || item.Version != 7 || !item.Selects(meta.Labels{{Key: "a", Value: "b"}}) {
		t.Errorf("the cache holds %v", item)
	}
}
