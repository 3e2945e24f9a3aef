package policyobjects

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy"
)

var things = meta.GroupResource{Group: "example.com", Resource: "things"}

// definition returns the CRD of things.example.com. If size is not nil, it is the default of the
// property size.
func definition(size any) tree.Tree {
	field := tree.Tree{"type": "integer"}
	if size != nil {
		field["default"] = size
	}
	return tree.Tree{
		"metadata": tree.Tree{"name": "things.example.com"},
		"spec": tree.Tree{
			"group": "example.com", "scope": "Namespaced",
			"names": tree.Tree{"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"},
			"versions": []any{tree.Tree{
				"name": "v1", "served": true, "storage": true,
				"schema": tree.Tree{"openAPIV3Schema": tree.Tree{
					"type": "object", "properties": tree.Tree{"size": field},
				}},
			}},
		},
	}
}

func thing(name string) tree.Tree {
	return tree.Tree{"apiVersion": "example.com/v1", "kind": "Thing", "metadata": tree.Tree{"name": name, "namespace": "default"}}
}

func next(t *testing.T, changes <-chan string) string {
	t.Helper()
	select {
	case change := <-changes:
		return change
	case <-time.After(5 * time.Minute):
		t.Fatal("no change is observed")
		return ""
	}
}

func TestReaderFollowsDefinitions(t *testing.T) {
	c := newCluster(t, meta.Kubernetes)
	crd := c.kinds.Kind(meta.Kubernetes.Group("apiextensions"), "v1", "customresourcedefinitions")
	changes := make(chan string, 100)
	see := func(change policy.Change) {
		if change.Deleted {
			changes <- change.Key.Name + " has gone"
		} else {
			changes <- fmt.Sprint(change.Key.Name, " ", change.Tree["size"])
		}
	}
	c.must(c.reader.Inform(c.ctx, things, see)) // not defined yet
	if c.reader.Get(things, "default", "a") != nil {
		t.Error("there is an object of a kind that is not defined")
	}

	c.must(c.create(crd, "", definition(nil)))
	if c.kinds.Kind("example.com", "v1", "things") == nil {
		t.Fatal("the kind is not served though its definition was answered")
	}
	c.must(c.create(c.kinds.Kind("example.com", "v1", "things"), "default", thing("a")))
	if got := next(t, changes); got != "a <nil>" {
		t.Errorf("got %q of the first object", got)
	}
	if got := c.reader.Get(things, "default", "a"); got == nil || got.Key.Name != "a" {
		t.Errorf("Get found %v", got)
	}
	if head, ok := c.reader.GetMeta(things, "default", "a"); !ok || head.UID == "" {
		t.Errorf("GetMeta found %v, %v", head, ok)
	}
	if c.reader.CollectionVersion(things)() == 0 {
		t.Error("the collection has no version")
	}

	changed, err := json.Marshal(definition(7))
	c.must(err)
	_, err = c.store.Mutate(c.ctx, request.Mutation{
		Kind: crd, Key: meta.Key{Name: "things.example.com"}, Change: request.Patch{Type: request.MergePatch, Body: changed},
	})
	c.must(err)
	if got := next(t, changes); got != "a 7" {
		t.Errorf("got %q after the definition had changed", got)
	}

	c.must(c.delete(crd, "", "things.example.com"))
	if got := next(t, changes); got != "a has gone" {
		t.Errorf("got %q after the definition was deleted", got)
	}
	if c.reader.Get(things, "default", "a") != nil {
		t.Error("an object outlived its definition")
	}

	c.must(c.create(crd, "", definition(nil)))
	c.must(c.create(c.kinds.Kind("example.com", "v1", "things"), "default", thing("b")))
	if got := next(t, changes); got != "b <nil>" {
		t.Errorf("got %q after the kind was defined again", got)
	}
}

func TestReaderTranslatesGroups(t *testing.T) {
	for _, naming := range []*meta.Naming{meta.Platform, meta.Kubernetes} {
		c := newCluster(t, naming)
		role := c.kinds.Kind(naming.Translate("rbac.authorization.platform.io"), "v1", "clusterroles")
		c.must(c.create(role, "", named("a")))
		if c.reader.Get(meta.GroupResource{Group: "rbac.authorization.platform.io", Resource: "clusterroles"}, "", "a") == nil {
			t.Errorf("%s: the role is not found", naming.Profile)
		}
		if c.reader.Get(meta.GroupResource{Group: "rbac.authorization.platform.io", Resource: "nothings"}, "", "a") != nil {
			t.Errorf("%s: a resource that is not served has an object", naming.Profile)
		}
	}
}
