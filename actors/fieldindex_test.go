package actors_test

import (
	"context"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/selector"
	"github.com/troupe-api/troupe/kinds/tree"
)

type podLists struct {
	*testStore
	kind   *schema.Kind
	nodeOf map[string]string // "namespace/name" to the node
}

func (p *podLists) change(r *rand.Rand) {
	p.t.Helper()
	namespace, name := []string{"default", "platform-system"}[r.Intn(2)], fmt.Sprint("p", r.Intn(20))
	m := request.Mutation{Kind: p.kind, Key: meta.Key{Namespace: namespace, Name: name}}
	at := namespace + "/" + name
	node, exists := p.nodeOf[at]
	switch {
	case exists && node == "": // bind the Pod, which changes the indexed field
		p.nodeOf[at] = "b"
		m.Subresource = "binding"
		m.Change = request.Create{Object: tree.Tree{"metadata": tree.Tree{"name": name}, "target": tree.Tree{"kind": "Node", "name": "b"}}}
	case exists:
		m.Change = request.Delete{GracePeriodSeconds: new(int64)}
		delete(p.nodeOf, at)
	default:
		p.nodeOf[at] = []string{"", "a", "b"}[r.Intn(3)]
		m.Change = request.Create{Object: tree.Tree{
			"metadata": tree.Tree{"name": name, "namespace": namespace},
			"spec":     tree.Tree{"nodeName": p.nodeOf[at], "containers": []any{tree.Tree{"name": "c", "image": "i"}}},
		}}
	}
	must.Get(p.Mutate(context.Background(), m))(p.t)
}

func (p *podLists) listed(node, namespace string, limit int) (found []string) {
	p.t.Helper()
	fields := must.Get(selector.ParseFields(p.kind, "spec.nodeName="+node))(p.t)
	l := request.List{Kind: p.kind, Namespace: namespace, Fields: fields, Limit: limit}
	for {
		chunk := must.Get(p.List(context.Background(), l))(p.t)
		for _, o := range chunk.Items {
			found = append(found, o.Key.Namespace+"/"+o.Key.Name)
		}
		if chunk.Continue == "" {
			return found
		}
		l.Continue = chunk.Continue
	}
}

func (p *podLists) compare() {
	p.t.Helper()
	for _, namespace := range []string{"", "default", "platform-system"} {
		for _, node := range []string{"", "a", "b", "nowhere"} {
			var want []string
			for at, on := range p.nodeOf {
				if on == node && strings.HasPrefix(at, namespace) {
					want = append(want, at)
				}
			}
			slices.Sort(want)
			for _, limit := range []int{0, 3} {
				if got := p.listed(node, namespace, limit); !slices.Equal(got, want) {
					p.t.Fatalf("on node %q in namespace %q with limit %d: %v, want %v", node, namespace, limit, got, want)
				}
			}
		}
	}
}

func TestFieldIndexMatchesScan(t *testing.T) {
	dir := t.TempDir()
	p := &podLists{testStore: open(t, dir, nil), nodeOf: map[string]string{}}
	p.kind = p.testStore.kind("pods")
	if !slices.ContainsFunc(p.kind.SelectFields, func(f schema.SelectField) bool { return f.Indexed }) {
		t.Fatal("Pods have no indexed field")
	}
	r := rand.New(rand.NewSource(1))
	for i := range 200 {
		p.change(r)
		if i%20 == 0 {
			p.compare()
		}
	}
	p.close()
	p.testStore = open(t, dir, nil)
	p.kind = p.testStore.kind("pods")
	defer p.close()
	p.compare()
	p.change(r)
	p.compare()
}

// TestFieldIndexConcurrentReads checks that the published copy of an index does not change while
// the collection modifies its working copy. Only the race detector finds violations.
func TestFieldIndexConcurrentReads(t *testing.T) {
	p := &podLists{testStore: open(t, t.TempDir(), nil), nodeOf: map[string]string{}}
	p.kind = p.testStore.kind("pods")
	defer p.close()
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					if !slices.IsSorted(p.listed("a", "", 0)) {
						t.Error("the list is torn")
						return
					}
				}
			}
		})
	}
	r := rand.New(rand.NewSource(2))
	for range 300 {
		p.change(r)
	}
	close(done)
	readers.Wait()
	p.compare()
}
