package nodes

import (
	"context"
	"log/slog"
	"slices"
	"testing"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
)

type fakeStore struct {
	reconcile.Store
	objects map[meta.Key]*meta.Object
	deleted []string
}

func (s *fakeStore) put(t *testing.T, k *schema.Kind, namespace, name, json string) {
	t.Helper()
	key := meta.Key{GroupResource: k.Storage, Namespace: namespace, Name: name}
	o := must.Get(codec.NewObject(k, key, 1, []byte(json)))(t)
	s.objects[key] = o
}

func (s *fakeStore) Get(_ context.Context, r request.Get) (*meta.Object, error) {
	return s.objects[r.Key], nil
}

func (s *fakeStore) List(_ context.Context, r request.List) (l request.ListResult, _ error) {
	for key, o := range s.objects {
		if key.GroupResource == r.Kind.Storage {
			l.Items = append(l.Items, o)
		}
	}
	return l, nil
}

func (s *fakeStore) Mutate(_ context.Context, m request.Mutation) (request.Result, error) {
	if request.Is[request.Delete](&m) {
		s.deleted = append(s.deleted, m.Key.Name)
	}
	if patch, ok := m.Change.(request.Patch); ok {
		o := s.objects[m.Key]
		text, err := jsonpatch.MergePatch(o.JSON, patch.Body)
		if err == nil {
			o, err = codec.NewObject(m.Kind, m.Key, o.Version+1, text)
		}
		if err != nil {
			return request.Result{}, err
		}
		s.objects[m.Key] = o
	}
	return request.Result{Object: s.objects[m.Key]}, nil
}

// TestPodsOfMissingNodes checks that Pods of missing nodes are deleted, but not before at least one
// node has registered.
func TestPodsOfMissingNodes(t *testing.T) {
	t.Parallel()
	kinds := must.Get(catalog.New(meta.Kubernetes))(t)
	s := &fakeStore{objects: map[meta.Key]*meta.Object{}}
	pods, nodes := kinds.ByGVK(meta.GroupVersionKind{Version: "v1", Kind: "Pod"}), kinds.ByGVK(meta.GroupVersionKind{Version: "v1", Kind: "Node"})
	for name, node := range map[string]string{"lost": "gone", "kept": "there"} {
		s.put(t, pods, "default", name, `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"`+name+`","namespace":"default","uid":"`+name+
			`","resourceVersion":"1"},"spec":{"nodeName":"`+node+`"},"status":{"phase":"Running"}}`)
	}
	g := NewPodGC(reconcile.NewEnv(s, kinds, slog.New(slog.DiscardHandler)), PodGCOptions{})
	for _, step := range []struct {
		node string
		want []string
	}{{"", nil}, {"there", []string{"lost"}}} {
		if step.node != "" {
			s.put(t, nodes, "", step.node, `{"kind":"Node","apiVersion":"v1","metadata":{"name":"`+step.node+`","uid":"n","resourceVersion":"1"}}`)
		}
		must.Succeed(t, g.collect(t.Context()))
		if !slices.Equal(s.deleted, step.want) {
			t.Errorf("with the node %q, %v are deleted, want %v", step.node, s.deleted, step.want)
		}
	}
}
